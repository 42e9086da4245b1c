package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/sweep"
)

const idempotentFor = 30 * 24 * time.Hour

// Sweep deletes what has expired: counts of failed logins, export links, join links,
// session tokens (a week after they expire), sessions without tokens, tokens of visitors, and uploads that were
// not attached. After 30 days, it deletes requests in the bin and clears idempotency keys. It
// also deletes the uploads of purged requests. What fails does not keep it from the rest,
// unless the database or the storage of files is away; it returns what has failed.
func (s *Store) Sweep(ctx context.Context) error {
	var failed sweep.Errors
	accounts, err := s.accountIDs(ctx)
	if err != nil {
		return err
	}
	parts := []func() error{
		func() error { return s.sweepFailures(ctx) },
		func() error { return s.sweepExports(ctx) },
		func() error { return s.sweepKeys(ctx, accounts) },
		func() error { return s.Team.Sweep(ctx, accounts) },
		func() error { return s.Visitors.Sweep(ctx, accounts) },
		func() error { return s.Readers.Sweep(ctx, accounts) },
		func() error { return s.Sessions.Sweep(ctx, accounts) },
		func() error { return s.sweepBin(ctx, accounts) },
		func() error { return s.SetAside.Sweep(ctx, accounts) },
		func() error { return s.Usage.Sweep(ctx, accounts) },
		func() error { return s.Uploads.Sweep(ctx, accounts) }, // last, because the file storage may be slow or down
	}
	for _, part := range parts {
		err := part()
		failed.Add(err)
		if sweep.GivesUp(ctx, s.db, err) {
			break
		}
	}
	return failed.Err()
}

// sweepFailures deletes the counts of failed logins that have expired.
func (s *Store) sweepFailures(ctx context.Context) error {
	return sweep.InChunks(ctx, s.db, "DELETE FROM login_failures WHERE subject IN"+
		" (SELECT subject FROM login_failures WHERE resets_at <= $1 LIMIT $2)",
		feedback.At(s.now()), sweep.Chunk)
}

// sweepKeys clears the idempotency keys of requests that are older than 30 days. A range of
// ids is a range of times, so it continues from the time of the last sweep, which is the
// progress of the worker's lease.
func (s *Store) sweepKeys(ctx context.Context, accounts []feedback.ID) error {
	until := s.now().Add(-idempotentFor)
	var progress feedback.Time
	err := s.db.Reader().QueryRowContext(ctx, "SELECT progress FROM leases WHERE name = $1", workerLease).Scan(&progress)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	from, to := feedback.FirstIDAt(progress.Std()), feedback.FirstIDAt(until)
	old := sweep.Rows{Table: "requests", Key: "id", Where: "id >= $1 AND id < $2 AND idempotency_key IS NOT NULL"}
	const forget = "UPDATE requests SET idempotency_key = NULL, fingerprint = NULL"
	if err := old.Change(ctx, s.db, accounts, forget, from, to); err != nil {
		return err // the next sweep begins at the same time again
	}
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE leases SET progress = $2 WHERE name = $1", workerLease, feedback.At(until))
		return err
	})
}
