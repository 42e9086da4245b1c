package sessions

import (
	"context"
	"database/sql"
	"errors"
	"io"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

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
func (s *Sessions) Refresh(ctx context.Context, refresh string) (Tokens, error) {
	accountID, ok := feedback.ParseToken(feedback.RefreshToken, refresh)
	if !ok {
		return Tokens{}, feedback.ErrInvalidRefreshToken
	}
	// Unknown tokens must not take up capacity for writes.
	if _, err := readRefreshToken(ctx, s.db.Reader(), accountID, refresh); err != nil {
		return Tokens{}, database.OrNotFound(err, feedback.ErrInvalidRefreshToken)
	}
	var tokens Tokens
	// The function does not return the refusal, as an error would roll back end.
	var refused bool
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		tokens, refused = Tokens{}, false
		token, err := readRefreshToken(ctx, tx, accountID, refresh)
		if errors.Is(err, sql.ErrNoRows) || err == nil && !ValidAt(s.now(), token.expires, refreshLife) {
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
func (s *Sessions) spend(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, refresh string, token refreshToken,
) (string, error) {
	nonce := make([]byte, nonceBytes)
	if _, err := io.ReadFull(s.rand, nonce); err != nil {
		return "", err
	}
	now := s.now()
	n, err := database.Changed(ctx, tx, "UPDATE session_tokens SET spent_at = $3, nonce = $4"+
		" WHERE account_id = $1 AND hash = $2 AND spent_at IS NULL",
		accountID, feedback.HashSecret(refresh), feedback.At(now), nonce)
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
func (s *Sessions) successor(
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
		return "", s.end(ctx, tx, accountID, token.sessionID)
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
		WHERE t.account_id = $1 AND t.hash = $2 AND t.kind = 'refresh'`, accountID, feedback.HashSecret(token)).
		Scan(&t.sessionID, &t.opened, &t.expires, &t.spent, &t.nonce)
	return t, err
}
