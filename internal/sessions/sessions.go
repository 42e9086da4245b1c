// Package sessions is the logins of users, their tokens, and how tokens are exchanged. The database has only
// the hashes of tokens.
package sessions

import (
	"context"
	"database/sql"
	"io"
	"time"

	"gatherkit/internal/attempts"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/sweep"
)

const (
	accessLife   = 15 * time.Minute
	refreshLife  = 30 * 24 * time.Hour
	sessionLife  = 90 * 24 * time.Hour // since the login; refreshing does not extend it
	refreshGrace = 20 * time.Second    // during which a spent refresh token still returns its successor
	nonceBytes   = 16
	maxSkew      = 2 * time.Hour // maximum difference between the clocks of replicas

	// Max is the maximum number of sessions per user.
	Max = 50

	// The values of session_tokens.kind.
	kindAccess  = "access"
	kindRefresh = "refresh"
)

// Sessions are the sessions in a database.
type Sessions struct {
	db   *database.DB
	now  func() time.Time
	rand io.Reader
	ids  *feedback.IDs
}

// New returns the sessions in a database.
func New(db *database.DB, now func() time.Time, rand io.Reader, ids *feedback.IDs) *Sessions {
	return &Sessions{db, now, rand, ids}
}

// Session is a login of a user, with their account and role.
type Session struct {
	ID      feedback.ID
	Account feedback.Account
	User    feedback.User
	Role    feedback.Role
}

// Credentials are the user and the password hash that a login is checked against.
type Credentials struct {
	AccountID, UserID feedback.ID
	PasswordHash      string
}

// Tokens are the tokens of a session. The database has only their hashes.
type Tokens struct{ Access, Refresh string }

// Of returns the session of an access token, or ErrInvalidToken or ErrTokenExpired. It
// does not cache, so all processes refuse a revoked token at once.
func (s *Sessions) Of(ctx context.Context, access string) (Session, error) {
	accountID, ok := feedback.ParseToken(feedback.AccessToken, access)
	if !ok {
		return Session{}, feedback.ErrInvalidToken
	}
	var session Session
	var expires feedback.Time
	session.Account.ID = accountID
	err := s.db.Reader().QueryRowContext(ctx, `SELECT s.id, u.id, u.email, u.name, u.role, a.name, t.expires_at FROM session_tokens t
		JOIN sessions s ON s.account_id = t.account_id AND s.id = t.session_id
		JOIN users u ON u.account_id = s.account_id AND u.id = s.user_id
		JOIN accounts a ON a.account_id = t.account_id AND a.suspended_at IS NULL
		WHERE t.account_id = $1 AND t.hash = $2 AND t.kind = 'access'`, accountID, feedback.HashSecret(access)).
		Scan(&session.ID, &session.User.ID, &session.User.Email, &session.User.Name, (*string)(&session.Role), &session.Account.Name, &expires)
	if err != nil {
		return Session{}, database.OrNotFound(err, feedback.ErrInvalidToken)
	}
	if !ValidAt(s.now(), expires, accessLife) {
		return Session{}, feedback.ErrTokenExpired
	}
	return session, nil
}

// ValidAt reports whether a token with the lifetime life is valid now. A token that expires
// later than now+life+maxSkew was issued by a wrong clock and is not valid.
func ValidAt(now time.Time, expires feedback.Time, life time.Duration) bool {
	return feedback.At(now) < expires && expires <= feedback.At(now.Add(life+maxSkew))
}

// Open opens a session for a user whose password was correct. It returns
// ErrInvalidCredentials if the password has changed since c was read, ErrTooManyAttempts
// if a limit of failed logins was reached, and ErrSuspended. If the user would have more than Max, it
// ends the least recently used ones.
func (s *Sessions) Open(
	ctx context.Context, c Credentials, subjects []attempts.Subject, userAgent string,
) (Session, Tokens, error) {
	var session Session
	var tokens Tokens
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := attempts.Check(ctx, tx, s.now(), subjects); err != nil {
			return err
		}
		// The update locks the user's row, so a concurrent SetPassword either ends the new
		// session or makes this login fail. No session survives a change of the password.
		n, err := database.Changed(ctx, tx, "UPDATE users SET logged_in_at = $3"+
			" WHERE account_id = $1 AND id = $2 AND password_hash = $4",
			c.AccountID, c.UserID, feedback.At(s.now()), c.PasswordHash)
		if err != nil {
			return err
		}
		if n == 0 {
			return feedback.ErrInvalidCredentials
		}
		session = Session{Account: feedback.Account{ID: c.AccountID}}
		var suspended bool
		err = tx.QueryRowContext(ctx, `SELECT u.id, u.email, u.name, u.role, a.name, a.suspended_at IS NOT NULL
			FROM users u JOIN accounts a ON a.account_id = u.account_id WHERE u.account_id = $1 AND u.id = $2`, c.AccountID, c.UserID).
			Scan(&session.User.ID, &session.User.Email, &session.User.Name, (*string)(&session.Role), &session.Account.Name, &suspended)
		if err == nil && suspended {
			err = feedback.ErrSuspended
		}
		if err != nil {
			return err
		}
		if err := s.evict(ctx, tx, c.AccountID, c.UserID); err != nil {
			return err
		}
		session.ID, tokens, err = s.Add(ctx, tx, c.AccountID, c.UserID, userAgent)
		return err
	})
	return session, tokens, err
}

// Add opens a session in the transaction tx, and returns its id.
func (s *Sessions) Add(
	ctx context.Context, tx *sql.Tx, accountID, userID feedback.ID, userAgent string,
) (feedback.ID, Tokens, error) {
	id, now := s.ids.New(), s.now()
	_, err := tx.ExecContext(ctx, "INSERT INTO sessions (account_id, id, user_id, created_at, used_at, user_agent)"+
		" VALUES ($1, $2, $3, $4, $4, $5)",
		accountID, id, userID, feedback.At(now), userAgent)
	if err != nil {
		return id, Tokens{}, err
	}
	tokens := Tokens{Refresh: feedback.NewToken(feedback.RefreshToken, accountID, s.rand)}
	if err := s.addToken(ctx, tx, accountID, id, kindRefresh, tokens.Refresh, now.Add(refreshLife)); err != nil {
		return id, Tokens{}, err
	}
	tokens.Access, err = s.addAccess(ctx, tx, accountID, id)
	return id, tokens, err
}

func (s *Sessions) addAccess(ctx context.Context, tx *sql.Tx, accountID, sessionID feedback.ID) (string, error) {
	token := feedback.NewToken(feedback.AccessToken, accountID, s.rand)
	return token, s.addToken(ctx, tx, accountID, sessionID, kindAccess, token, s.now().Add(accessLife))
}

func (s *Sessions) addToken(
	ctx context.Context, tx *sql.Tx, accountID, sessionID feedback.ID, kind, token string, expires time.Time,
) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO session_tokens (account_id, hash, session_id, kind, expires_at)"+
		" VALUES ($1, $2, $3, $4, $5)",
		accountID, feedback.HashSecret(token), sessionID, kind, feedback.At(expires))
	return err
}

// Close ends a session. Its tokens are invalid from then on.
func (s *Sessions) Close(ctx context.Context, accountID, sessionID feedback.ID) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return s.end(ctx, tx, accountID, sessionID)
	})
}

// end deletes a session and its tokens. A concurrent refresh may still add tokens, but
// tokens without a session are invalid.
func (s *Sessions) end(ctx context.Context, tx *sql.Tx, accountID, sessionID feedback.ID) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM session_tokens WHERE account_id = $1 AND session_id = $2", accountID, sessionID)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM sessions WHERE account_id = $1 AND id = $2", accountID, sessionID)
	return err
}

// EndAll deletes all sessions of a user but except, in the transaction tx.
func (s *Sessions) EndAll(ctx context.Context, tx *sql.Tx, accountID, userID, except feedback.ID) error {
	const ending = " sessions WHERE account_id = $1 AND user_id = $2 AND id <> $3"
	_, err := tx.ExecContext(ctx, "DELETE FROM session_tokens"+
		" WHERE account_id = $1 AND session_id IN (SELECT id FROM"+ending+")", accountID, userID, except)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM"+ending, accountID, userID, except)
	return err
}

// EndOf ends all sessions of an account.
func (s *Sessions) EndOf(ctx context.Context, accountID feedback.ID) error {
	err := sweep.InChunks(ctx, s.db, `DELETE FROM session_tokens WHERE account_id = $1 AND hash IN
		(SELECT hash FROM session_tokens WHERE account_id = $1 LIMIT $2)`, accountID, sweep.Chunk)
	if err != nil {
		return err
	}
	return sweep.InChunks(ctx, s.db, `DELETE FROM sessions WHERE account_id = $1 AND id IN
		(SELECT id FROM sessions WHERE account_id = $1 LIMIT $2)`, accountID, sweep.Chunk)
}

// evict ends a user's least recently used sessions to make room for one more. The
// caller has locked the user's row. Earlier versions had no limit, so there may be many more
// than Max; a call ends up to Max of them.
func (s *Sessions) evict(ctx context.Context, tx *sql.Tx, accountID, userID feedback.ID) error {
	evicted, err := database.All(ctx, tx, database.One[feedback.ID],
		`SELECT id FROM sessions WHERE account_id = $1 AND user_id = $2
			ORDER BY COALESCE(used_at, created_at) DESC, id DESC LIMIT CAST($3 AS BIGINT) OFFSET CAST($4 AS BIGINT)`,
		accountID, userID, Max, Max-1)
	if err != nil {
		return err
	}
	for _, id := range evicted {
		if err := s.end(ctx, tx, accountID, id); err != nil {
			return err
		}
	}
	return nil
}

// List returns up to limit sessions of a user that have not expired, the most recently
// used ones first.
func (s *Sessions) List(ctx context.Context, accountID, userID feedback.ID, limit int) ([]feedback.OpenSession, error) {
	return database.All(ctx, s.db.Reader(), func(r database.Row) (o feedback.OpenSession, err error) {
		err = r.Scan(&o.ID, &o.CreatedAt, &o.UsedAt, &o.UserAgent)
		return o, err
	}, `SELECT s.id, s.created_at, COALESCE(s.used_at, s.created_at), COALESCE(s.user_agent, '') FROM sessions s
		WHERE s.account_id = $1 AND s.user_id = $2
		AND EXISTS (SELECT 1 FROM session_tokens t WHERE t.account_id = $1 AND t.session_id = s.id AND t.expires_at > $3)
		ORDER BY COALESCE(s.used_at, s.created_at) DESC, s.id DESC LIMIT CAST($4 AS BIGINT)`, accountID, userID, feedback.At(s.now()), limit)
}

// Revoke ends a session of a user. It returns ErrSessionNotFound if there is none.
func (s *Sessions) Revoke(ctx context.Context, accountID, userID, sessionID feedback.ID) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var n int
		err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM sessions WHERE account_id = $1 AND id = $2 AND user_id = $3",
			accountID, sessionID, userID).Scan(&n)
		if err != nil {
			return err
		}
		if n == 0 {
			return feedback.ErrSessionNotFound
		}
		return s.end(ctx, tx, accountID, sessionID)
	})
}

// keepExpired is how long an expired token is kept. Until then, the answer is that it has expired, and
// afterwards that it is invalid.
const keepExpired = 7 * 24 * time.Hour

// Sweep deletes the tokens of some accounts that expired a week ago, and the sessions that have none afterwards.
func (s *Sessions) Sweep(ctx context.Context, accounts []feedback.ID) error {
	expired := sweep.Rows{Table: "session_tokens", Where: "expires_at < $1"}
	until := feedback.At(s.now().Add(-keepExpired))
	return expired.Each(ctx, s.db, accounts, []any{until}, func(accountID feedback.ID) error {
		return sweep.Repeat(ctx, s.db, func(ctx context.Context, tx *sql.Tx) (int, error) { return deleteExpired(ctx, tx, accountID, until) })
	})
}

// deleteExpired deletes a chunk of an account's tokens that expired before a time, each with its session if that has no
// other, and returns how many these are.
func deleteExpired(ctx context.Context, tx *sql.Tx, accountID feedback.ID, until feedback.Time) (int, error) {
	of, err := database.All(ctx, tx, database.One[feedback.ID], `DELETE FROM session_tokens WHERE account_id = $1 AND hash IN
		(SELECT hash FROM session_tokens WHERE account_id = $1 AND expires_at < $2 LIMIT $3) RETURNING session_id`,
		accountID, until, sweep.Chunk)
	if err != nil || len(of) == 0 {
		return 0, err
	}
	p := database.Parameters{accountID}
	list := database.List(&p, database.Padded(of))
	_, err = tx.ExecContext(ctx, "DELETE FROM sessions WHERE account_id = $1 AND id IN ("+list+")"+
		" AND NOT EXISTS (SELECT 1 FROM session_tokens t WHERE t.account_id = $1 AND t.session_id = sessions.id)", p...)
	return len(of), err
}
