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

// ErrAccountExists says that an account has the name already.
var ErrAccountExists = errors.New("an account with this name exists already")

// Create creates an account with its owner, as the operator, in a transaction. The owner has the password, or
// gets an invitation if there is none. Create may return ErrAccountExists or ErrEmailTaken.
func (t *Team) Create(
	ctx context.Context, tx *sql.Tx, name string, owner NewUser,
) (a feedback.Account, m feedback.Member, link JoinLink, err error) {
	if _, err := t.markSetUp(ctx, tx); err != nil {
		return a, m, link, err
	}
	if err := checkName(ctx, tx, name); err != nil {
		return a, m, link, err
	}
	by := feedback.Command()
	if a, err = t.addAccount(ctx, tx, name, by); err != nil {
		return a, m, link, err
	}
	owner.Role = feedback.RoleOwner
	if owner.PasswordHash == "" {
		m, link, err = t.invite(ctx, tx, a.ID, by, owner)
		return a, m, link, err
	}
	added, err := t.addUser(ctx, tx, a.ID, t.ids.New(), owner, feedback.Change{Kind: feedback.UserCreated, Actor: by})
	return a, feedback.Member{User: added, Role: owner.Role}, link, err
}

// Restore gives the users of an account that was restored their logins, and invites an owner unless it is nil, in the
// transaction in which the account appears. Users whose address somebody else logs in with by now lose their password, as
// if they had not accepted their invitation; invite has their addresses. Restore may return ErrEmailTaken for the owner.
func (t *Team) Restore(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, owner *NewUser,
) (invite []string, link JoinLink, err error) {
	if _, err := t.markSetUp(ctx, tx); err != nil {
		return nil, link, err
	}
	members, err := database.All(ctx, tx, scanMember, memberColumns+" WHERE account_id = $1 AND password_hash <> '' ORDER BY id", accountID)
	if err != nil {
		return nil, link, err
	}
	for _, m := range members {
		err := claimEmail(ctx, tx, accountID, m.User)
		if errors.Is(err, feedback.ErrEmailTaken) {
			invite = append(invite, m.Email)
			_, err = tx.ExecContext(ctx, "UPDATE users SET password_hash = '' WHERE account_id = $1 AND id = $2", accountID, m.ID)
		}
		if err != nil {
			return nil, link, err
		}
	}
	if owner != nil {
		owner.Role = feedback.RoleOwner
		_, link, err = t.invite(ctx, tx, accountID, feedback.Command(), *owner)
	}
	return invite, link, err
}

// AddUser adds a user with a password to an account, as the operator. It may return ErrEmailTaken.
func (t *Team) AddUser(ctx context.Context, accountID feedback.ID, user NewUser) (added feedback.User, err error) {
	err = t.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := lockTeam(ctx, tx, accountID); err != nil {
			return err
		}
		change := feedback.Change{Kind: feedback.UserCreated, Actor: feedback.Command()}
		added, err = t.addUser(ctx, tx, accountID, t.ids.New(), user, change)
		return err
	})
	return added, err
}

// checkName returns ErrAccountExists if an account has the name.
func checkName(ctx context.Context, tx *sql.Tx, name string) error {
	switch _, err := find(ctx, tx, name); {
	case errors.Is(err, ErrNoAccount):
		return nil
	case err == nil || errors.Is(err, ErrSeveralAccounts):
		return ErrAccountExists
	default:
		return err
	}
}

// Rename renames an account, as the operator. It returns ErrAccountExists if another account has the name.
func (t *Team) Rename(ctx context.Context, accountID feedback.ID, name string) error {
	return t.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := lockTeam(ctx, tx, accountID); err != nil {
			return err
		}
		account, err := find(ctx, tx, accountID.String())
		if err != nil || account.Name == name {
			return err
		}
		if err := checkName(ctx, tx, name); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "UPDATE accounts SET name = $2 WHERE account_id = $1", accountID, name); err != nil {
			return err
		}
		return changelog.Record(ctx, tx, accountID, feedback.At(t.now()), feedback.Change{
			Kind: feedback.AccountRenamed, Actor: feedback.Command(),
			Before: map[string]any{"name": account.Name}, After: map[string]any{"name": name},
		})
	})
}

// Suspend ends all logins of an account, as the operator. Until Resume, its keys, tokens, links and pages do not work,
// and it sends no mail and calls no webhooks, on every process. Nothing is deleted. Suspend reports whether the account
// was not suspended before.
func (t *Team) Suspend(ctx context.Context, accountID feedback.ID) (changed bool, err error) {
	now := feedback.At(t.now())
	if changed, err = t.setSuspended(ctx, accountID, &now, feedback.AccountSuspended); err != nil {
		return false, err
	}
	return changed, t.sessions.EndOf(ctx, accountID)
}

// Resume undoes Suspend, as the operator, and reports whether the account was suspended. Users log in again.
func (t *Team) Resume(ctx context.Context, accountID feedback.ID) (changed bool, err error) {
	return t.setSuspended(ctx, accountID, nil, feedback.AccountResumed)
}

func (t *Team) setSuspended(
	ctx context.Context, accountID feedback.ID, since *feedback.Time, kind feedback.ChangeKind,
) (changed bool, err error) {
	err = t.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		n, err := database.Changed(ctx, tx, "UPDATE accounts SET suspended_at = $2"+
			" WHERE account_id = $1 AND (suspended_at IS NULL) <> (CAST($2 AS BIGINT) IS NULL)", accountID, since)
		if changed = n > 0; err != nil || !changed {
			return err
		}
		return changelog.Record(ctx, tx, accountID, feedback.At(t.now()), feedback.Change{Kind: kind, Actor: feedback.Command()})
	})
	return changed, err
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
	total, err := t.Count(ctx, accountID)
	if err != nil {
		return nil, 0, err
	}
	users, err := t.users(ctx, accountID, after, limit)
	return users, total, err
}

// Count returns how many users an account has.
func (t *Team) Count(ctx context.Context, accountID feedback.ID) (int64, error) {
	return count(ctx, t.db.Reader(), accountID)
}

func count(ctx context.Context, q database.Queryer, accountID feedback.ID) (n int64, err error) {
	err = q.QueryRowContext(ctx, "SELECT COUNT(*) FROM users WHERE account_id = $1", accountID).Scan(&n)
	return n, err
}

func (t *Team) users(ctx context.Context, accountID, after feedback.ID, limit int) ([]feedback.Member, error) {
	return database.All(ctx, t.db.Reader(), scanMember,
		memberColumns+" WHERE account_id = $1 AND id > $2 ORDER BY id LIMIT $3", accountID, after, limit)
}

// Each calls fn with each user of an account, oldest first.
func (t *Team) Each(ctx context.Context, accountID feedback.ID, fn func(feedback.Member) error) error {
	const page = 500
	for after := (feedback.ID{}); ; {
		users, err := t.users(ctx, accountID, after, page)
		if err != nil {
			return err
		}
		for _, user := range users {
			if err := fn(user); err != nil {
				return err
			}
			after = user.ID
		}
		if len(users) < page {
			return nil
		}
	}
}

// KnownAccount is an account of the installation.
type KnownAccount struct {
	feedback.Account
	Suspended bool
}

// Accounts returns all accounts, oldest first, for the operator.
func (t *Team) Accounts(ctx context.Context) ([]KnownAccount, error) {
	return database.All(ctx, t.db.Reader(), func(r database.Row) (a KnownAccount, err error) {
		return a, r.Scan(&a.ID, &a.Name, &a.Suspended)
	}, "SELECT account_id, name, suspended_at IS NOT NULL FROM accounts ORDER BY account_id")
}

// What keeps an operator from naming an account.
var (
	ErrNoAccount       = errors.New("there is no account")
	ErrSeveralAccounts = errors.New("several accounts have this name")
)

// Find returns the account that an operator means by its name or its id. It returns ErrNoAccount or
// ErrSeveralAccounts.
func (t *Team) Find(ctx context.Context, named string) (feedback.Account, error) {
	return find(ctx, t.db.Reader(), named)
}

func find(ctx context.Context, q database.Queryer, named string) (feedback.Account, error) {
	id, err := feedback.ParseID(named)
	if err != nil {
		id = feedback.ID{}
	}
	found, err := database.All(ctx, q, scanAccount,
		"SELECT account_id, name FROM accounts WHERE name = $1 OR account_id = $2 ORDER BY account_id LIMIT 2", named, id)
	switch {
	case err != nil:
		return feedback.Account{}, err
	case len(found) == 0:
		return feedback.Account{}, ErrNoAccount
	case len(found) > 1:
		return feedback.Account{}, ErrSeveralAccounts
	}
	return found[0], nil
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
