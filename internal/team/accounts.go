package team

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/sessions"
)

// NewUser is a user to create. A user whose PasswordHash is empty cannot log in.
type NewUser struct {
	Email, Name  string
	Role         feedback.Role
	PasswordHash string
}

// HasUsers reports whether the installation has ever had a user.
func (t *Team) HasUsers(ctx context.Context) (bool, error) {
	var n int
	err := t.db.Reader().QueryRowContext(ctx, "SELECT COUNT(*) FROM installation").Scan(&n)
	return n > 0, err
}

// AddSetupToken stores the hash of a token that authorizes the setup. Each of several
// processes that start at the same time may add one.
func (t *Team) AddSetupToken(ctx context.Context, token string) error {
	return t.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO setup_tokens (token_hash, created_at) VALUES ($1, $2)",
			feedback.HashSecret(token), feedback.At(t.now()))
		return err
	})
}

// KnowsSetupToken reports whether AddSetupToken has stored the token. It returns
// ErrSetupDone once there is a user.
func (t *Team) KnowsSetupToken(ctx context.Context, token string) (bool, error) {
	done, err := t.HasUsers(ctx)
	if err != nil {
		return false, err
	}
	if done {
		return false, feedback.ErrSetupDone
	}
	if !feedback.ValidSetupToken(token) {
		return false, nil
	}
	var n int
	err = t.db.Reader().QueryRowContext(ctx, "SELECT COUNT(*) FROM setup_tokens"+
		" WHERE token_hash = $1", feedback.HashSecret(token)).Scan(&n)
	return n > 0, err
}

// SetUp creates the first account, its owner and a session. Only the first call succeeds,
// across all processes; later ones return ErrSetupDone.
func (t *Team) SetUp(ctx context.Context, accountName string, owner NewUser, userAgent string) (sessions.Session, sessions.Tokens, error) {
	var session sessions.Session
	var tokens sessions.Tokens
	err := t.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		first, err := t.markSetUp(ctx, tx)
		if err != nil {
			return err
		}
		if !first {
			return feedback.ErrSetupDone
		}
		ownerID := t.ids.New()
		by := feedback.ByUserID(ownerID)
		if session.Account, err = t.addAccount(ctx, tx, accountName, by); err != nil {
			return err
		}
		change := feedback.Change{Kind: feedback.UserCreated, Actor: by}
		if session.User, err = t.addUser(ctx, tx, session.Account.ID, ownerID, owner, change); err != nil {
			return err
		}
		session.Role = owner.Role
		session.ID, tokens, err = t.sessions.Add(ctx, tx, session.Account.ID, session.User.ID, userAgent)
		return err
	})
	return session, tokens, err
}

// AddUser creates a user from the command line, in the oldest account with that name. It
// creates the account if there is none. It may return ErrEmailTaken.
func (t *Team) AddUser(ctx context.Context, accountName string, user NewUser) (feedback.Account, feedback.User, error) {
	var account feedback.Account
	var added feedback.User
	err := t.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := t.markSetUp(ctx, tx); err != nil {
			return err
		}
		var err error
		account, err = scanAccount(tx.QueryRowContext(ctx, "SELECT account_id, name FROM accounts"+
			" WHERE name = $1 ORDER BY account_id LIMIT 1", accountName))
		if errors.Is(err, sql.ErrNoRows) {
			account, err = t.addAccount(ctx, tx, accountName, feedback.Command())
		}
		if err != nil {
			return err
		}
		if err := lockTeam(ctx, tx, account.ID); err != nil {
			return err
		}
		change := feedback.Change{Kind: feedback.UserCreated, Actor: feedback.Command()}
		added, err = t.addUser(ctx, tx, account.ID, t.ids.New(), user, change)
		return err
	})
	return account, added, err
}

// markSetUp records that the installation is set up, and reports whether it was not before.
func (t *Team) markSetUp(ctx context.Context, tx *sql.Tx) (first bool, err error) {
	n, err := database.Changed(ctx, tx,
		"INSERT INTO installation (id, set_up) VALUES (1, $1) ON CONFLICT (id) DO NOTHING", feedback.At(t.now()))
	if err != nil || n == 0 {
		return false, err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM setup_tokens")
	return true, err
}

func (t *Team) addAccount(ctx context.Context, tx *sql.Tx, name string, by feedback.Actor) (feedback.Account, error) {
	id, now := t.ids.New(), feedback.At(t.now())
	_, err := tx.ExecContext(ctx, "INSERT INTO accounts (account_id, name, created_at) VALUES ($1, $2, $3)", id, name, now)
	if err != nil {
		return feedback.Account{}, err
	}
	return feedback.Account{ID: id, Name: name}, changelog.Record(ctx, tx, id, now, feedback.Change{
		Kind: feedback.AccountCreated, Actor: by, After: map[string]any{"name": name},
	})
}

// addUser stores a user and logs the change c. The caller holds lockTeam, unless the
// account is new. addUser returns ErrEmailTaken if another user of the account has the
// e-mail, or if the user has a password and somebody in any account logs in with the e-mail.
func (t *Team) addUser(
	ctx context.Context, tx *sql.Tx, accountID, id feedback.ID, u NewUser, c feedback.Change,
) (feedback.User, error) {
	user := feedback.User{ID: id, Email: u.Email, Name: u.Name}
	colleagues, err := database.All(ctx, tx, scanMember, memberColumns+" WHERE account_id = $1", accountID)
	if err != nil {
		return user, err
	}
	sameEmail := func(m feedback.Member) bool { return feedback.FoldEmail(m.Email) == feedback.FoldEmail(u.Email) }
	if slices.ContainsFunc(colleagues, sameEmail) {
		return user, feedback.ErrEmailTaken
	}
	if u.PasswordHash != "" {
		if err := claimEmail(ctx, tx, accountID, user); err != nil {
			return user, err
		}
	}
	now := feedback.At(t.now())
	_, err = tx.ExecContext(ctx, "INSERT INTO users (account_id, id, email, name, role, password_hash, created_at)"+
		" VALUES ($1, $2, $3, $4, $5, $6, $7)", accountID, user.ID, user.Email, user.Name, string(u.Role), u.PasswordHash, now)
	if err != nil {
		return user, err
	}
	c.After = map[string]any{"id": user.ID, "email": user.Email, "name": user.Name, "role": u.Role}
	return user, changelog.Record(ctx, tx, accountID, now, c)
}

// Users returns a page of up to limit users of the account, by id, that follow the id after.
// It also returns the total number of users.
func (t *Team) Users(ctx context.Context, accountID, after feedback.ID, limit int) ([]feedback.Member, int64, error) {
	var total int64
	err := t.db.Reader().QueryRowContext(ctx, "SELECT COUNT(*) FROM users WHERE account_id = $1", accountID).Scan(&total)
	if err != nil {
		return nil, 0, err
	}
	users, err := database.All(ctx, t.db.Reader(), scanMember,
		memberColumns+" WHERE account_id = $1 AND id > $2 ORDER BY id LIMIT $3", accountID, after, limit)
	return users, total, err
}

// AccountUsers is an account with its users.
type AccountUsers struct {
	feedback.Account
	Users []feedback.Member
}

// Accounts returns all accounts with their users, for the operator.
func (t *Team) Accounts(ctx context.Context) ([]AccountUsers, error) {
	accounts, err := database.All(ctx, t.db.Reader(), func(r database.Row) (AccountUsers, error) {
		account, err := scanAccount(r)
		return AccountUsers{Account: account}, err
	}, "SELECT account_id, name FROM accounts ORDER BY account_id")
	for i := range accounts {
		if err != nil {
			break
		}
		accounts[i].Users, err = database.All(ctx, t.db.Reader(), scanMember,
			memberColumns+" WHERE account_id = $1 ORDER BY id", accounts[i].ID)
	}
	return accounts, err
}

func scanAccount(r database.Row) (feedback.Account, error) {
	var a feedback.Account
	err := r.Scan(&a.ID, &a.Name)
	return a, err
}

const memberColumns = "SELECT id, email, name, role, password_hash = '' FROM users"

func scanMember(r database.Row) (feedback.Member, error) {
	var m feedback.Member
	err := r.Scan(&m.ID, &m.Email, &m.Name, (*string)(&m.Role), &m.Invited)
	return m, err
}
