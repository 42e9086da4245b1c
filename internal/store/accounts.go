package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"gatherkit/internal/attempts"
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
func (s *Store) HasUsers(ctx context.Context) (bool, error) {
	var n int
	err := s.db.Reader().QueryRowContext(ctx, "SELECT COUNT(*) FROM installation").Scan(&n)
	return n > 0, err
}

// AddSetupToken stores the hash of a token that authorizes the setup. Each of several
// processes that start at the same time may add one.
func (s *Store) AddSetupToken(ctx context.Context, token string) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO setup_tokens (token_hash, created_at) VALUES ($1, $2)",
			hashArg(feedback.HashSecret(token)), feedback.At(s.now()))
		return err
	})
}

// KnowsSetupToken reports whether AddSetupToken has stored the token. It returns
// ErrSetupDone once there is a user.
func (s *Store) KnowsSetupToken(ctx context.Context, token string) (bool, error) {
	done, err := s.HasUsers(ctx)
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
	err = s.db.Reader().QueryRowContext(ctx, "SELECT COUNT(*) FROM setup_tokens"+
		" WHERE token_hash = $1", hashArg(feedback.HashSecret(token))).Scan(&n)
	return n > 0, err
}

// SetUp creates the first account, its owner and a session. Only the first call succeeds,
// across all processes; later ones return ErrSetupDone.
func (s *Store) SetUp(ctx context.Context, accountName string, owner NewUser, userAgent string) (sessions.Session, sessions.Tokens, error) {
	var session sessions.Session
	var tokens sessions.Tokens
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		first, err := s.markSetUp(ctx, tx)
		if err != nil {
			return err
		}
		if !first {
			return feedback.ErrSetupDone
		}
		ownerID := s.ids.New()
		by := userActor(ownerID)
		if session.Account, err = s.addAccount(ctx, tx, accountName, by); err != nil {
			return err
		}
		change := feedback.Change{Kind: feedback.UserCreated, Actor: by}
		if session.User, err = s.addUser(ctx, tx, session.Account.ID, ownerID, owner, change); err != nil {
			return err
		}
		session.Role = owner.Role
		session.ID, tokens, err = s.Sessions.Add(ctx, tx, session.Account.ID, session.User.ID, userAgent)
		return err
	})
	return session, tokens, err
}

// AddUser creates a user from the command line, in the oldest account with that name. It
// creates the account if there is none. It may return ErrEmailTaken.
func (s *Store) AddUser(ctx context.Context, accountName string, user NewUser) (feedback.Account, feedback.User, error) {
	var account feedback.Account
	var added feedback.User
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := s.markSetUp(ctx, tx); err != nil {
			return err
		}
		var err error
		account, err = scanAccount(tx.QueryRowContext(ctx, "SELECT account_id, name FROM accounts"+
			" WHERE name = $1 ORDER BY account_id LIMIT 1", accountName))
		if errors.Is(err, sql.ErrNoRows) {
			account, err = s.addAccount(ctx, tx, accountName, feedback.Command())
		}
		if err != nil {
			return err
		}
		if err := lockTeam(ctx, tx, account.ID); err != nil {
			return err
		}
		change := feedback.Change{Kind: feedback.UserCreated, Actor: feedback.Command()}
		added, err = s.addUser(ctx, tx, account.ID, s.ids.New(), user, change)
		return err
	})
	return account, added, err
}

// markSetUp records that the installation is set up, and reports whether it was not before.
func (s *Store) markSetUp(ctx context.Context, tx *sql.Tx) (first bool, err error) {
	n, err := database.Changed(ctx, tx,
		"INSERT INTO installation (id, set_up) VALUES (1, $1) ON CONFLICT (id) DO NOTHING", feedback.At(s.now()))
	if err != nil || n == 0 {
		return false, err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM setup_tokens")
	return true, err
}

func (s *Store) addAccount(ctx context.Context, tx *sql.Tx, name string, by feedback.Actor) (feedback.Account, error) {
	id, now := s.ids.New(), feedback.At(s.now())
	_, err := tx.ExecContext(ctx, "INSERT INTO accounts (account_id, name, created_at) VALUES ($1, $2, $3)", id, name, now)
	if err != nil {
		return feedback.Account{}, err
	}
	return feedback.Account{ID: id, Name: name}, changelog.Record(ctx, tx, s.db, id, now, feedback.Change{
		Kind: feedback.AccountCreated, Actor: by, After: map[string]any{"name": name},
	})
}

// addUser stores a user and logs the change c. The caller holds lockTeam, unless the
// account is new. addUser returns ErrEmailTaken if another user of the account has the
// e-mail, or if the user has a password and somebody in any account logs in with the e-mail.
func (s *Store) addUser(
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
	now := feedback.At(s.now())
	_, err = tx.ExecContext(ctx, "INSERT INTO users (account_id, id, email, name, role, password_hash, created_at)"+
		" VALUES ($1, $2, $3, $4, $5, $6, $7)", accountID, user.ID, user.Email, user.Name, string(u.Role), u.PasswordHash, now)
	if err != nil {
		return user, err
	}
	c.After = map[string]any{"id": user.ID, "email": user.Email, "name": user.Name, "role": u.Role}
	return user, changelog.Record(ctx, tx, s.db, accountID, now, c)
}

// claimEmail lets a user log in with their e-mail. It returns ErrEmailTaken if another
// user does. An invitation does not claim the e-mail until it is accepted, so an invitation
// can neither reserve an e-mail nor reveal that another account uses it.
func claimEmail(ctx context.Context, tx *sql.Tx, accountID feedback.ID, user feedback.User) error {
	n, err := database.Changed(ctx, tx, `INSERT INTO logins (email, account_id, user_id) VALUES ($1, $2, $3)
		ON CONFLICT (email) DO UPDATE SET email = excluded.email
			WHERE logins.account_id = excluded.account_id AND logins.user_id = excluded.user_id`,
		feedback.FoldEmail(user.Email), accountID, user.ID)
	if err == nil && n == 0 {
		return feedback.ErrEmailTaken
	}
	return err
}

// Credentials returns the credentials of an e-mail, or zero credentials if it is unknown. It
// runs the same two statements in both cases, so that timing does not reveal which e-mails
// exist.
func (s *Store) Credentials(ctx context.Context, email string) (sessions.Credentials, error) {
	var c sessions.Credentials
	err := s.db.Reader().QueryRowContext(ctx, "SELECT account_id, user_id FROM logins"+
		" WHERE email = $1", feedback.FoldEmail(email)).Scan(&c.AccountID, &c.UserID)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return c, err
	}
	err = s.db.Reader().QueryRowContext(ctx, "SELECT password_hash FROM users"+
		" WHERE account_id = $1 AND id = $2", c.AccountID, c.UserID).Scan(&c.PasswordHash)
	if errors.Is(err, sql.ErrNoRows) {
		return sessions.Credentials{}, nil
	}
	return c, err
}

// SetPassword replaces the password of c, and ends the user's join link and all of their
// sessions but except. It returns ErrInvalidCredentials if the password has changed since c
// was read.
func (s *Store) SetPassword(ctx context.Context, c sessions.Credentials, hash string, by feedback.Actor, except feedback.ID) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		n, err := database.Changed(ctx, tx, "UPDATE users SET password_hash = $3"+
			" WHERE account_id = $1 AND id = $2 AND password_hash = $4", c.AccountID, c.UserID, hash, c.PasswordHash)
		if err != nil {
			return err
		}
		if n == 0 {
			return feedback.ErrInvalidCredentials
		}
		if err := s.Sessions.EndAll(ctx, tx, c.AccountID, c.UserID, except); err != nil {
			return err
		}
		if err := endLink(ctx, tx, c.AccountID, c.UserID); err != nil {
			return err
		}
		m, err := readMember(ctx, tx, c.AccountID, c.UserID)
		if err != nil {
			return err
		}
		return changelog.Record(ctx, tx, s.db, c.AccountID, feedback.At(s.now()), feedback.Change{
			Kind: feedback.PasswordChanged, Actor: by, After: userFields(m),
		})
	})
}

// Users returns a page of up to limit users of the account, by id, that follow the id after.
// It also returns the total number of users.
func (s *Store) Users(ctx context.Context, accountID, after feedback.ID, limit int) ([]feedback.Member, int64, error) {
	var total int64
	err := s.db.Reader().QueryRowContext(ctx, "SELECT COUNT(*) FROM users WHERE account_id = $1", accountID).Scan(&total)
	if err != nil {
		return nil, 0, err
	}
	users, err := database.All(ctx, s.db.Reader(), scanMember,
		memberColumns+" WHERE account_id = $1 AND id > $2 ORDER BY id LIMIT $3", accountID, after, limit)
	return users, total, err
}

// AccountUsers is an account with its users.
type AccountUsers struct {
	feedback.Account
	Users []feedback.Member
}

// Accounts returns all accounts with their users, for the operator.
func (s *Store) Accounts(ctx context.Context) ([]AccountUsers, error) {
	accounts, err := database.All(ctx, s.db.Reader(), func(r database.Row) (AccountUsers, error) {
		account, err := scanAccount(r)
		return AccountUsers{Account: account}, err
	}, "SELECT account_id, name FROM accounts ORDER BY account_id")
	for i := range accounts {
		if err != nil {
			break
		}
		accounts[i].Users, err = database.All(ctx, s.db.Reader(), scanMember,
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

// hashArg returns a hash as a parameter of a statement.
func hashArg(h feedback.Hash) []byte { return h[:] }

// CheckLogin returns how long a login must be delayed, or ErrTooManyAttempts if a limit is reached.
func (s *Store) CheckLogin(ctx context.Context, subjects []attempts.Subject) (delay time.Duration, err error) {
	return attempts.Check(ctx, s.db.Reader(), s.now(), subjects)
}

// FailLogin counts a failed login. It returns ErrInvalidCredentials, or ErrTooManyAttempts if a
// limit was reached before.
func (s *Store) FailLogin(ctx context.Context, subjects []attempts.Subject) error {
	return attempts.Fail(ctx, s.db, s.now(), subjects)
}
