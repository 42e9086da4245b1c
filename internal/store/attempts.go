package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"net/netip"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
)

// Failed logins are limited twice: per e-mail and address together, so that
// nobody can lock an owner out from elsewhere, and per address. The counts are in
// the database, and a login's outcome is decided in the transaction that counts
// it: the limits are exact however many tries and processes run at once.
//
// A network, of which one person can have all addresses, is never locked out, as
// other people can be in it. Beyond a number of failures each of its logins is
// delayed, by more with each further failure.
const (
	attemptWindow         = 15 * time.Minute // from the first failure
	maxFailuresPerPair    = 10
	maxFailuresPerAddr    = 100
	maxFailuresPerNetwork = 200 // without a delay
	loginDelayStep        = 100 * time.Millisecond
	// MaxLoginDelay is the longest delay of a login.
	MaxLoginDelay = time.Second
	// maxAhead is how far ahead a count's end may lie: one beyond it was set by a clock
	// that was wrong, and would keep people out for as long as that was ahead.
	maxAhead = 2 * attemptWindow
)

// LoginSubject is one of the things by which failed logins are limited.
type LoginSubject struct {
	hash   feedback.Hash
	limit  int64
	delays bool // rather than refuses
}

// LoginSubjects returns what limits a login with this e-mail from this caller.
// The order is the same for all, so that transactions do not deadlock.
func LoginSubjects(email string, from netip.Prefix) []LoginSubject {
	return []LoginSubject{
		{sha256.Sum256([]byte("network\x00" + fair.Network(from).String())), maxFailuresPerNetwork, true},
		{sha256.Sum256([]byte(from.String())), maxFailuresPerAddr, false},
		{sha256.Sum256([]byte(from.String() + "\x00" + feedback.FoldEmail(email))), maxFailuresPerPair, false},
	}
}

// CheckLogin returns by how much a login must be delayed, or refuses with
// ErrTooManyAttempts when a limit is reached, before anything costly is done.
func (s *Store) CheckLogin(ctx context.Context, subjects []LoginSubject) (delay time.Duration, err error) {
	return s.checkFailures(ctx, s.db.Reader(), subjects)
}

// FailLogin counts a failed login and returns what to answer: ErrInvalidCredentials,
// or ErrTooManyAttempts when a limit had been reached.
func (s *Store) FailLogin(ctx context.Context, subjects []LoginSubject) error {
	// The refusal is a value: an error would undo the counting.
	var refusal error
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		refusal = feedback.ErrInvalidCredentials
		now := s.now()
		for _, subject := range subjects {
			var n int64
			var resets feedback.Time
			err := tx.QueryRowContext(ctx, `INSERT INTO login_failures (subject, n, resets_at) VALUES ($1, 1, $2)
				ON CONFLICT (subject) DO UPDATE SET
					n = CASE WHEN login_failures.resets_at > $3 AND login_failures.resets_at <= $4 THEN login_failures.n + 1 ELSE 1 END,
					resets_at = CASE WHEN login_failures.resets_at > $3 AND login_failures.resets_at <= $4 THEN login_failures.resets_at ELSE excluded.resets_at END
				RETURNING n, resets_at`, hashArg(subject.hash), feedback.At(now.Add(attemptWindow)), feedback.At(now), feedback.At(now.Add(maxAhead))).Scan(&n, &resets)
			if err != nil {
				return err
			}
			if n > subject.limit && !subject.delays {
				refusal = feedback.ErrTooManyAttempts.After(resets.Std().Sub(now))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return refusal
}

func (s *Store) checkFailures(ctx context.Context, q database.Queryer, subjects []LoginSubject) (delay time.Duration, err error) {
	now := s.now()
	for _, subject := range subjects {
		var n int64
		var resets feedback.Time
		err := q.QueryRowContext(ctx, "SELECT n, resets_at FROM login_failures WHERE subject = $1 AND resets_at > $2 AND resets_at <= $3",
			hashArg(subject.hash), feedback.At(now), feedback.At(now.Add(maxAhead))).Scan(&n, &resets)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, err
		}
		switch {
		case n < subject.limit:
		case subject.delays:
			delay = min(time.Duration(n-subject.limit+1)*loginDelayStep, MaxLoginDelay)
		default:
			return 0, feedback.ErrTooManyAttempts.After(resets.Std().Sub(now))
		}
	}
	return delay, nil
}

// forgetFailures removes counts whose time is over.
func (s *Store) forgetFailures(ctx context.Context) error {
	return s.inChunks(ctx, "DELETE FROM login_failures WHERE subject IN (SELECT subject FROM login_failures WHERE resets_at <= $1 LIMIT $2)",
		feedback.At(s.now()), sweepChunk)
}
