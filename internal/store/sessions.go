package store

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"time"

	"gatherkit/internal/attempts"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

const (
	accessLife   = 15 * time.Minute
	refreshLife  = 30 * 24 * time.Hour
	sessionLife  = 90 * 24 * time.Hour // since the login; refreshing does not extend it
	refreshGrace = 20 * time.Second    // during which a spent refresh token still returns its successor
	nonceBytes   = 16
	maxSkew      = 2 * time.Hour // maximum difference between the clocks of replicas

	// MaxSessions is the maximum number of sessions per user.
	MaxSessions = 50

	// The values of session_tokens.kind.
	kindAccess  = "access"
	kindRefresh = "refresh"
)

// Session is a login of a user, with their account and role.
type Session struct {
	ID      feedback.ID
	Account feedback.Account
	User    feedback.User
	Role    feedback.Role
}

// Tokens are the tokens of a session. The database has only their hashes.
type Tokens struct{ Access, Refresh string }

// Session returns the session of an access token, or ErrInvalidToken or ErrTokenExpired. It
// does not cache, so all processes refuse a revoked token at once.
func (s *Store) Session(ctx context.Context, access string) (Session, error) {
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
		JOIN accounts a ON a.account_id = t.account_id
		WHERE t.account_id = $1 AND t.hash = $2 AND t.kind = 'access'`, accountID, hashArg(feedback.HashSecret(access))).
		Scan(&session.ID, &session.User.ID, &session.User.Email, &session.User.Name, (*string)(&session.Role), &session.Account.Name, &expires)
	if err != nil {
		return Session{}, orNotFound(err, feedback.ErrInvalidToken)
	}
	if !validAt(s.now(), expires, accessLife) {
		return Session{}, feedback.ErrTokenExpired
	}
	return session, nil
}

// validAt reports whether a token with the lifetime life is valid now. A token that expires
// later than now+life+maxSkew was issued by a wrong clock and is not valid.
func validAt(now time.Time, expires feedback.Time, life time.Duration) bool {
	return feedback.At(now) < expires && expires <= feedback.At(now.Add(life+maxSkew))
}

// CheckLogin returns how long a login must be delayed, or ErrTooManyAttempts if a limit is reached.
func (s *Store) CheckLogin(ctx context.Context, subjects []attempts.Subject) (delay time.Duration, err error) {
	return attempts.Check(ctx, s.db.Reader(), s.now(), subjects)
}

// FailLogin counts a failed login. It returns ErrInvalidCredentials, or ErrTooManyAttempts if a
// limit was reached before.
func (s *Store) FailLogin(ctx context.Context, subjects []attempts.Subject) error {
	return attempts.Fail(ctx, s.db, s.now(), subjects)
}

// OpenSession opens a session for a user whose password was correct. It returns
// ErrInvalidCredentials if the password has changed since c was read, and ErrTooManyAttempts
// if a limit of failed logins was reached. If the user would have more than MaxSessions, it
// ends the least recently used ones.
func (s *Store) OpenSession(
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
		err = tx.QueryRowContext(ctx, `SELECT u.id, u.email, u.name, u.role, a.name FROM users u JOIN accounts a ON a.account_id = u.account_id
			WHERE u.account_id = $1 AND u.id = $2`, c.AccountID, c.UserID).
			Scan(&session.User.ID, &session.User.Email, &session.User.Name, (*string)(&session.Role), &session.Account.Name)
		if err != nil {
			return err
		}
		if err := s.evictSessions(ctx, tx, c.AccountID, c.UserID); err != nil {
			return err
		}
		session.ID, tokens, err = s.addSession(ctx, tx, c.AccountID, c.UserID, userAgent)
		return err
	})
	return session, tokens, err
}

func (s *Store) addSession(
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

func (s *Store) addAccess(ctx context.Context, tx *sql.Tx, accountID, sessionID feedback.ID) (string, error) {
	token := feedback.NewToken(feedback.AccessToken, accountID, s.rand)
	return token, s.addToken(ctx, tx, accountID, sessionID, kindAccess, token, s.now().Add(accessLife))
}

func (s *Store) addToken(
	ctx context.Context, tx *sql.Tx, accountID, sessionID feedback.ID, kind, token string, expires time.Time,
) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO session_tokens (account_id, hash, session_id, kind, expires_at)"+
		" VALUES ($1, $2, $3, $4, $5)",
		accountID, hashArg(feedback.HashSecret(token)), sessionID, kind, feedback.At(expires))
	return err
}

// refreshToken is the stored record of a refresh token.
type refreshToken struct {
	sessionID feedback.ID
	opened    feedback.Time // when the session was opened
	expires   feedback.Time
	spent     *feedback.Time // when it was exchanged, or nil
	nonce     []byte
}

// Refresh exchanges a refresh token for a new pair of tokens (refresh token rotation). If a
// spent token is presented again:
//   - within 20 seconds, while its successor is unspent, it returns the same successor, as two
//     tabs may have refreshed at once or a response may have been lost;
//   - later, while its successor is unspent, the token is invalid;
//   - if its successor is spent as well, the token may be stolen, so the session ends
//     (RFC 9700, section 4.14.2).
//
// Refresh returns ErrInvalidRefreshToken whenever it does not return tokens.
func (s *Store) Refresh(ctx context.Context, refresh string) (Tokens, error) {
	accountID, ok := feedback.ParseToken(feedback.RefreshToken, refresh)
	if !ok {
		return Tokens{}, feedback.ErrInvalidRefreshToken
	}
	// Unknown tokens must not take up capacity for writes.
	if _, err := readRefreshToken(ctx, s.db.Reader(), accountID, refresh); err != nil {
		return Tokens{}, orNotFound(err, feedback.ErrInvalidRefreshToken)
	}
	var tokens Tokens
	// The function does not return the refusal, as an error would roll back endSession.
	var refused bool
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		tokens, refused = Tokens{}, false
		token, err := readRefreshToken(ctx, tx, accountID, refresh)
		if errors.Is(err, sql.ErrNoRows) || err == nil && !validAt(s.now(), token.expires, refreshLife) {
			refused = true
			return nil
		}
		if err != nil {
			return err
		}
		if token.spent == nil {
			tokens.Refresh, err = s.spend(ctx, tx, accountID, refresh, token)
		} else {
			tokens.Refresh, err = s.successor(ctx, tx, accountID, refresh, token)
		}
		if err != nil {
			return err
		}
		if refused = tokens.Refresh == ""; refused {
			return nil
		}
		_, err = tx.ExecContext(ctx, "UPDATE sessions SET used_at = $3 WHERE account_id = $1 AND id = $2",
			accountID, token.sessionID, feedback.At(s.now()))
		if err != nil {
			return err
		}
		tokens.Access, err = s.addAccess(ctx, tx, accountID, token.sessionID)
		return err
	})
	if err == nil && refused {
		return Tokens{}, feedback.ErrInvalidRefreshToken
	}
	return tokens, err
}

// spend marks a refresh token as spent and returns its successor. It returns database.ErrStale
// if another call has spent the token, and the retry then finds it spent.
func (s *Store) spend(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, refresh string, token refreshToken,
) (string, error) {
	nonce := make([]byte, nonceBytes)
	if _, err := io.ReadFull(s.rand, nonce); err != nil {
		return "", err
	}
	now := s.now()
	n, err := database.Changed(ctx, tx, "UPDATE session_tokens SET spent_at = $3, nonce = $4"+
		" WHERE account_id = $1 AND hash = $2 AND spent_at IS NULL",
		accountID, hashArg(feedback.HashSecret(refresh)), feedback.At(now), nonce)
	if err != nil {
		return "", err
	}
	if n == 0 {
		return "", database.ErrStale
	}
	expires := now.Add(refreshLife)
	if last := token.opened.Std().Add(sessionLife); expires.After(last) {
		expires = last
	}
	next := feedback.Successor(refresh, accountID, nonce)
	return next, s.addToken(ctx, tx, accountID, token.sessionID, kindRefresh, next, expires)
}

// successor returns the successor of a spent token, or "" if the token is invalid. It ends the
// session if the successor is spent as well.
func (s *Store) successor(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, refresh string, token refreshToken,
) (string, error) {
	next := feedback.Successor(refresh, accountID, token.nonce)
	successor, err := readRefreshToken(ctx, tx, accountID, next)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", nil // the successor has expired and was deleted
	case err != nil:
		return "", err
	case successor.spent != nil:
		return "", s.endSession(ctx, tx, accountID, token.sessionID)
	case s.now().Sub(token.spent.Std()) > refreshGrace:
		return "", nil
	}
	return next, nil
}

// readRefreshToken returns sql.ErrNoRows if the token or its session does not exist.
func readRefreshToken(
	ctx context.Context, q database.Queryer, accountID feedback.ID, token string,
) (refreshToken, error) {
	var t refreshToken
	err := q.QueryRowContext(ctx, `SELECT s.id, s.created_at, t.expires_at, t.spent_at, t.nonce FROM session_tokens t
		JOIN sessions s ON s.account_id = t.account_id AND s.id = t.session_id
		WHERE t.account_id = $1 AND t.hash = $2 AND t.kind = 'refresh'`, accountID, hashArg(feedback.HashSecret(token))).
		Scan(&t.sessionID, &t.opened, &t.expires, &t.spent, &t.nonce)
	return t, err
}

// CloseSession ends a session. Its tokens are invalid from then on.
func (s *Store) CloseSession(ctx context.Context, accountID, sessionID feedback.ID) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return s.endSession(ctx, tx, accountID, sessionID)
	})
}

// endSession deletes a session and its tokens. A concurrent refresh may still add tokens, but
// tokens without a session are invalid.
func (s *Store) endSession(ctx context.Context, tx *sql.Tx, accountID, sessionID feedback.ID) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM session_tokens WHERE account_id = $1 AND session_id = $2", accountID, sessionID)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM sessions WHERE account_id = $1 AND id = $2", accountID, sessionID)
	return err
}

// endSessions deletes all sessions of a user but except.
func (s *Store) endSessions(ctx context.Context, tx *sql.Tx, accountID, userID, except feedback.ID) error {
	const ending = " sessions WHERE account_id = $1 AND user_id = $2 AND id <> $3"
	_, err := tx.ExecContext(ctx, "DELETE FROM session_tokens"+
		" WHERE account_id = $1 AND session_id IN (SELECT id FROM"+ending+")", accountID, userID, except)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM"+ending, accountID, userID, except)
	return err
}

// evictSessions ends a user's least recently used sessions to make room for one more. The
// caller has locked the user's row. Earlier versions had no limit, so there may be many more
// than MaxSessions; a call ends up to MaxSessions of them.
func (s *Store) evictSessions(ctx context.Context, tx *sql.Tx, accountID, userID feedback.ID) error {
	evicted, err := database.All(ctx, tx, database.One[feedback.ID],
		`SELECT id FROM sessions WHERE account_id = $1 AND user_id = $2
			ORDER BY COALESCE(used_at, created_at) DESC, id DESC LIMIT CAST($3 AS BIGINT) OFFSET CAST($4 AS BIGINT)`,
		accountID, userID, MaxSessions, MaxSessions-1)
	if err != nil {
		return err
	}
	for _, id := range evicted {
		if err := s.endSession(ctx, tx, accountID, id); err != nil {
			return err
		}
	}
	return nil
}
