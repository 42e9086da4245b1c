package team

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/quota"
	"gatherkit/internal/sessions"
	"gatherkit/internal/sweep"
)

// How long join links are valid.
const (
	inviteLife   = 7 * 24 * time.Hour
	recoveryLife = 24 * time.Hour
)

// JoinLink lets a user set a password, to accept an invitation or to recover access. The
// database has only the hash of the token.
type JoinLink struct {
	Token   string
	Expires feedback.Time
}

// Path is the path of the page of the dashboard that accepts the link. The token follows
// the #, so that browsers do not send it to the service or in Referer.
func (l JoinLink) Path() string { return "/join#" + l.Token }

// Invitee is the user of a join link.
type Invitee struct {
	feedback.Member
	Account feedback.Account
}

// Invite adds a user without a password, and creates a link with which they choose one.
// It returns ErrForbidden, ErrEmailTaken if another user of the account has the e-mail, or ErrTooManyUsers if the
// account's quota does not allow one more. The quota does not bind the operator.
func (t *Team) Invite(
	ctx context.Context, accountID feedback.ID, by feedback.Actor, user NewUser,
) (m feedback.Member, link JoinLink, err error) {
	err = t.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		actor, err := lockActor(ctx, tx, accountID, by)
		if err != nil {
			return err
		}
		if err := checkRole(actor, user.Role); err != nil {
			return err
		}
		if by.Kind != feedback.ByCommand {
			n, err := count(ctx, tx, accountID)
			if err != nil {
				return err
			}
			if err := t.quotas.Check(ctx, tx, accountID, quota.Members, n+1, feedback.ErrTooManyUsers); err != nil {
				return err
			}
		}
		m, link, err = t.invite(ctx, tx, accountID, by, user)
		return err
	})
	return m, link, err
}

func (t *Team) invite(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor, user NewUser,
) (feedback.Member, JoinLink, error) {
	user.PasswordHash = ""
	added, err := t.addUser(ctx, tx, accountID, t.ids.New(), user, feedback.Change{Kind: feedback.UserInvited, Actor: by})
	if err != nil {
		return feedback.Member{}, JoinLink{}, err
	}
	m := feedback.Member{User: added, Role: user.Role, Invited: true}
	link, err := t.addLink(ctx, tx, accountID, by, m)
	return m, link, err
}

// Recover creates a link with which a user resets their password or accepts their
// invitation. It replaces the user's previous link. It returns ErrUserNotFound or
// ErrForbidden.
func (t *Team) Recover(
	ctx context.Context, accountID feedback.ID, by feedback.Actor, id feedback.ID,
) (link JoinLink, m feedback.Member, err error) {
	err = t.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, m, err = lockManaged(ctx, tx, accountID, by, id); err != nil {
			return err
		}
		if link, err = t.addLink(ctx, tx, accountID, by, m); err != nil {
			return err
		}
		return changelog.Record(ctx, tx, accountID, feedback.At(t.now()), feedback.Change{
			Kind: feedback.RecoveryLinkMade, Actor: by, After: userFields(m),
		})
	})
	return link, m, err
}

func (t *Team) addLink(ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor, m feedback.Member) (JoinLink, error) {
	life := recoveryLife
	if m.Invited {
		life = inviteLife
	}
	link := JoinLink{feedback.NewToken(feedback.JoinToken, accountID, t.rand), feedback.At(t.now().Add(life))}
	_, err := tx.ExecContext(ctx, `INSERT INTO join_links (account_id, user_id, token_hash, made_by, expires_at)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT (account_id, user_id) DO UPDATE SET
		token_hash = excluded.token_hash, made_by = excluded.made_by, expires_at = excluded.expires_at`,
		accountID, m.ID, feedback.HashSecret(link.Token), by.MakerID(), link.Expires)
	return link, err
}

// Invitee returns the user of a link. It returns ErrJoinLinkNotFound or ErrSuspended if the link does not work.
func (t *Team) Invitee(ctx context.Context, token string) (Invitee, error) {
	return t.invitee(ctx, t.db.Reader(), token)
}

// invitee is Invitee. A link is invalid if its creator has been removed or may no longer
// manage the user. Otherwise, an admin could take over a user who has become an owner.
func (t *Team) invitee(ctx context.Context, q database.Queryer, token string) (i Invitee, err error) {
	accountID, ok := feedback.ParseToken(feedback.JoinToken, token)
	if !ok {
		return i, feedback.ErrJoinLinkNotFound
	}
	var expires feedback.Time
	var madeBy feedback.ID
	var role sql.NullString // of the maker
	i.Account.ID = accountID
	var suspended bool
	err = q.QueryRowContext(ctx, `SELECT u.id, u.email, u.name, u.role, u.password_hash = '', a.name, l.expires_at, l.made_by, m.role,
			a.suspended_at IS NOT NULL
		FROM join_links l
		JOIN users u ON u.account_id = l.account_id AND u.id = l.user_id
		LEFT JOIN users m ON m.account_id = l.account_id AND m.id = l.made_by
		JOIN accounts a ON a.account_id = l.account_id
		WHERE l.account_id = $1 AND l.token_hash = $2`, accountID, feedback.HashSecret(token)).
		Scan(&i.ID, &i.Email, &i.Name, (*string)(&i.Role), &i.Invited, &i.Account.Name, &expires, &madeBy, &role, &suspended)
	if feedback.UserOrCommand(madeBy) == feedback.Command() {
		role.String = string(feedback.RoleOwner)
	}
	allowed := feedback.Role(role.String).Manages(i.Role)
	if err == nil && (!sessions.ValidAt(t.now(), expires, inviteLife) || !allowed) || errors.Is(err, sql.ErrNoRows) {
		return Invitee{}, feedback.ErrJoinLinkNotFound
	}
	if err == nil && suspended {
		return Invitee{}, feedback.ErrSuspended
	}
	return i, err
}

// Accept sets the user's password, and their name unless it is nil. It ends the link and
// all of the user's sessions, and opens a new session. Only one of several concurrent calls
// succeeds; the others return ErrJoinLinkNotFound. Accept returns ErrEmailTaken if a user
// of another account logs in with the e-mail.
func (t *Team) Accept(
	ctx context.Context, token, passwordHash string, name *string, userAgent string,
) (session sessions.Session, tokens sessions.Tokens, err error) {
	err = t.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		accountID, ok := feedback.ParseToken(feedback.JoinToken, token)
		if !ok {
			return feedback.ErrJoinLinkNotFound
		}
		if err := lockTeam(ctx, tx, accountID); err != nil {
			return err
		}
		i, err := t.invitee(ctx, tx, token)
		if err != nil {
			return err
		}
		if err := claimEmail(ctx, tx, accountID, i.User); err != nil {
			return err
		}
		old := i.Member
		if name != nil {
			i.Name = *name
		}
		now := feedback.At(t.now())
		_, err = tx.ExecContext(ctx, "UPDATE users SET password_hash = $3, name = $4, logged_in_at = $5 WHERE account_id = $1 AND id = $2",
			accountID, i.ID, passwordHash, i.Name, now)
		if err != nil {
			return err
		}
		n, err := database.Changed(ctx, tx, "DELETE FROM join_links"+
			" WHERE account_id = $1 AND token_hash = $2", accountID, feedback.HashSecret(token))
		if err != nil {
			return err
		}
		if n == 0 {
			return feedback.ErrJoinLinkNotFound
		}
		if err := t.sessions.EndAll(ctx, tx, accountID, i.ID, feedback.ID{}); err != nil {
			return err
		}
		session = sessions.Session{Account: i.Account, User: i.User, Role: i.Role}
		if session.ID, tokens, err = t.sessions.Add(ctx, tx, accountID, i.ID, userAgent); err != nil {
			return err
		}
		c := feedback.Change{Kind: feedback.PasswordReset, Actor: feedback.ByUserID(i.ID), After: userFields(i.Member)}
		if i.Invited {
			c.Kind = feedback.UserJoined
		}
		if i.Name != old.Name {
			c.Before = userFields(old)
		}
		return changelog.Record(ctx, tx, accountID, now, c)
	})
	return session, tokens, err
}

// endLink deletes a user's link, if there is one.
func endLink(ctx context.Context, tx *sql.Tx, accountID, userID feedback.ID) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM join_links WHERE account_id = $1 AND user_id = $2", accountID, userID)
	return err
}

// Sweep deletes the expired join links of some accounts.
func (t *Team) Sweep(ctx context.Context, accounts []feedback.ID) error {
	expired := sweep.Rows{Table: "join_links", Key: "token_hash", Where: "expires_at < $1"}
	return expired.Delete(ctx, t.db, accounts, feedback.At(t.now()))
}
