// Package attempts counts failed logins in the database and refuses or delays further ones.
package attempts

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

// Failed logins are limited per address, and per pair of e-mail and address. There is no
// limit per e-mail alone, as it would let anybody lock out a user. The transaction that
// counts a login also decides its result, so the limits hold for any number of concurrent
// attempts and processes.
//
// One person can control all addresses of a network (fair.Network), but other people can be
// in it as well. So a network is not locked out: after a number of failures its logins are
// delayed, and each further failure makes the delay longer.
const (
	attemptWindow         = 15 * time.Minute // since the first failure
	maxFailuresPerPair    = 10
	maxFailuresPerAddr    = 100
	maxFailuresPerNetwork = 200 // before logins are delayed
	loginDelayStep        = 100 * time.Millisecond
	// MaxDelay is the maximum delay of a login.
	MaxDelay = time.Second
	// maxAhead is how far in the future the end of a count may be. A later one comes from a
	// wrong clock, and could lock people out for much longer than attemptWindow.
	maxAhead = 2 * attemptWindow
)

// Subject is a network, an address, or a pair of address and e-mail, whose failed
// logins are counted.
type Subject struct {
	hash   feedback.Hash
	limit  int64
	delays bool // whether logins over the limit are delayed instead of rejected
}

// Subjects returns the subjects of a login. They are always in the same order, so that
// transactions do not deadlock.
func Subjects(email string, from netip.Prefix) []Subject {
	return []Subject{
		{sha256.Sum256([]byte("network\x00" + fair.Network(from).String())), maxFailuresPerNetwork, true},
		{sha256.Sum256([]byte(from.String())), maxFailuresPerAddr, false},
		{sha256.Sum256([]byte(from.String() + "\x00" + feedback.FoldEmail(email))), maxFailuresPerPair, false},
	}
}

// Fail counts a failed login. It returns ErrInvalidCredentials, or ErrTooManyAttempts if a limit was
// reached before.
func Fail(ctx context.Context, db *database.DB, now time.Time, subjects []Subject) error {
	// The function does not return the refusal, as an error would roll back the count.
	var refusal error
	err := db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		refusal = feedback.ErrInvalidCredentials
		for _, subject := range subjects {
			var n int64
			var resets feedback.Time
			err := tx.QueryRowContext(ctx, `INSERT INTO login_failures (subject, n, resets_at) VALUES ($1, 1, $2)
				ON CONFLICT (subject) DO UPDATE SET
					n = CASE WHEN login_failures.resets_at > $3 AND login_failures.resets_at <= $4
						THEN login_failures.n + 1 ELSE 1 END,
					resets_at = CASE WHEN login_failures.resets_at > $3 AND login_failures.resets_at <= $4
						THEN login_failures.resets_at ELSE excluded.resets_at END
				RETURNING n, resets_at`,
				subject.hash[:], feedback.At(now.Add(attemptWindow)), feedback.At(now), feedback.At(now.Add(maxAhead))).
				Scan(&n, &resets)
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

// Check returns how long a login must be delayed, or ErrTooManyAttempts if a limit is reached.
// Callers use it before they hash the password, which is expensive, and again in the transaction
// that opens the session.
func Check(ctx context.Context, q database.Queryer, now time.Time, subjects []Subject) (delay time.Duration, err error) {
	for _, subject := range subjects {
		var n int64
		var resets feedback.Time
		err := q.QueryRowContext(ctx, "SELECT n, resets_at FROM login_failures"+
			" WHERE subject = $1 AND resets_at > $2 AND resets_at <= $3",
			subject.hash[:], feedback.At(now), feedback.At(now.Add(maxAhead))).Scan(&n, &resets)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, err
		}
		switch {
		case n < subject.limit:
		case subject.delays:
			delay = min(time.Duration(n-subject.limit+1)*loginDelayStep, MaxDelay)
		default:
			return 0, feedback.ErrTooManyAttempts.After(resets.Std().Sub(now))
		}
	}
	return delay, nil
}
