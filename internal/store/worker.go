package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
)

// The worker removes what is no longer wanted, and beside that fills the index of words,
// which must not wait for it. Every process runs both; leases in the database let only
// one of them do each at a time, and what it does is resumed by the next from where the
// database says it stopped.
const (
	workerLease   = "worker"
	indexLease    = "index"
	leaseFor      = 30 * time.Second
	workerRest    = time.Second
	releaseTime   = 5 * time.Second
	sweepEvery    = 10 * time.Minute
	purgeChunk    = 1000
	sweepChunk    = 1000
	idempotentFor = 30 * 24 * time.Hour
	// keepExpired is how long an expired token is still known as expired rather than
	// refused as unknown.
	keepExpired = 7 * 24 * time.Hour
)

// Work runs the worker until ctx ends. Failures are logged and tried again.
func (s *Store) Work(ctx context.Context) {
	var swept time.Time
	var wg sync.WaitGroup
	wg.Go(func() {
		s.run(ctx, lease{name: workerLease, holder: s.ids.New()}, func(l *lease) (bool, error) { return s.work(ctx, l, &swept) })
	})
	wg.Go(func() {
		f := follower{chunk: index.Chunk}
		s.run(ctx, lease{name: indexLease, holder: s.ids.New()}, func(l *lease) (bool, error) { return s.follow(ctx, l, &f) })
	})
	wg.Wait()
}

// run does pieces of work, and rests when there are no more.
func (s *Store) run(ctx context.Context, l lease, piece func(*lease) (more bool, err error)) {
	tick := time.NewTicker(workerRest)
	defer tick.Stop()
	for ctx.Err() == nil {
		more, err := recovered(&l, piece)
		if err != nil && ctx.Err() == nil {
			s.log.Warn("the background worker failed and will try again", "error", err)
		}
		if more && err == nil {
			continue
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	if err := s.release(l); err != nil {
		s.log.Warn("the background worker could not be handed over; another one begins within 30 seconds", "error", err)
	}
}

// recovered does a piece of work; a panic in it is an error.
func recovered(l *lease, piece func(*lease) (bool, error)) (more bool, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			more, err = false, fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return piece(l)
}

// release gives the lease back, so that another process need not wait for its end.
func (s *Store) release(l lease) error {
	if l.until.IsZero() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), releaseTime)
	defer cancel()
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE leases SET until = 0 WHERE name = $1 AND holder = $2", l.name, l.holder)
		return err
	})
}

// work does one piece of work and reports whether there is more.
func (s *Store) work(ctx context.Context, l *lease, swept *time.Time) (more bool, err error) {
	leading, err := s.take(ctx, l)
	if err != nil || !leading {
		return false, err
	}
	if more, err = s.Purge(ctx); err != nil || more {
		return more, err
	}
	if more, err = s.Unassign(ctx); err != nil || more {
		return more, err
	}
	if err := s.db.Analyze(ctx); err != nil {
		return false, err
	}
	if now := s.now(); now.Sub(*swept).Abs() >= sweepEvery {
		if err := s.Sweep(ctx); err != nil {
			return false, err
		}
		*swept = now
	}
	return false, nil
}

// follower is where the indexer goes on, and in how large pieces.
type follower struct {
	next  feedback.ID
	chunk int
}

// follow lets the index follow for a bit. While submissions come in, it takes a sixteenth
// of the time only: what comes in goes before what is found.
func (s *Store) follow(ctx context.Context, l *lease, f *follower) (more bool, err error) {
	leading, err := s.take(ctx, l)
	if err != nil || !leading {
		return false, err
	}
	began, arrived := time.Now(), s.arrived.Load()
	f.next, more, err = s.Index.Follow(ctx, f.next, f.chunk)
	if s.arrived.Load() == arrived {
		f.chunk = min(2*f.chunk, index.MaxChunk)
		return more, err
	}
	f.chunk = index.Chunk
	if more {
		select {
		case <-ctx.Done():
		case <-time.After(min(15*time.Since(began), workerRest)):
		}
	}
	return more, err
}

// lease is one process's claim to be the one whose worker works.
type lease struct {
	name   string
	holder feedback.ID
	until  time.Time
}

// take takes the lease, or extends it when half of its time is over, and reports
// whether the holder has it. One that ends too far ahead was taken by a clock that
// was wrong, and counts for nothing: else nobody might work for years.
func (s *Store) take(ctx context.Context, l *lease) (bool, error) {
	now := s.now()
	if left := l.until.Sub(now); left > leaseFor/2 && left <= leaseFor {
		return true, nil
	}
	var n int64
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		n, err = database.Changed(ctx, tx, `INSERT INTO leases (name, holder, until, progress) VALUES ($1, $2, $3, 0)
			ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
			WHERE leases.holder = excluded.holder OR leases.until < $4 OR leases.until > $5`,
			l.name, l.holder, feedback.At(now.Add(leaseFor)), feedback.At(now), feedback.At(now.Add(2*leaseFor)))
		return err
	})
	if err != nil || n == 0 {
		return false, err
	}
	l.until = now.Add(leaseFor)
	return true, nil
}

// purge is a deleted app that still has rows.
type purge struct{ accountID, appID feedback.ID }

// Purge removes a chunk of the rows of deleted apps in one transaction, the index of
// words first, so that others' writes go on in between, and reports whether there may be more.
func (s *Store) Purge(ctx context.Context) (more bool, err error) {
	var p purge
	err = s.db.Reader().QueryRowContext(ctx, "SELECT account_id, app_id FROM purges ORDER BY deleted_at LIMIT 1").Scan(&p.accountID, &p.appID)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if more, err := index.PurgeApp(ctx, tx, p.accountID, p.appID); err != nil || more {
			return err
		}
		return purgeSome(ctx, tx, p)
	})
}

// purgeSome removes a chunk of an app's requests with their history, and at last
// what is left of the app itself.
func purgeSome(ctx context.Context, tx *sql.Tx, p purge) error {
	ids, err := database.All(ctx, tx, database.One[feedback.ID], "SELECT id FROM requests"+
		" WHERE account_id = $1 AND app_id = $2 ORDER BY box, id ASC NULLS FIRST LIMIT $3", p.accountID, p.appID, purgeChunk)
	if err != nil {
		return err
	}
	if len(ids) > 0 {
		if err := index.Forget(ctx, tx, p.accountID, ids); err != nil {
			return err
		}
		if err := removeChildren(ctx, tx, p.accountID, ids); err != nil {
			return err
		}
		args := database.Parameters{p.accountID}
		_, err := tx.ExecContext(ctx, "DELETE FROM requests WHERE account_id = $1 AND id IN ("+database.List(&args, ids)+")", args...)
		return err
	}
	for _, statement := range []string{
		"DELETE FROM request_counts WHERE account_id = $1 AND app_id = $2",
		"DELETE FROM app_secrets WHERE account_id = $1 AND app_id = $2",
		"DELETE FROM apps WHERE account_id = $1 AND id = $2",
		"DELETE FROM purges WHERE account_id = $1 AND app_id = $2",
	} {
		if _, err := tx.ExecContext(ctx, statement, p.accountID, p.appID); err != nil {
			return err
		}
	}
	return nil
}

// PurgeBacklog is how many deleted apps still have rows.
func (s *Store) PurgeBacklog(ctx context.Context) (n int64, err error) {
	err = s.db.Reader().QueryRowContext(ctx, "SELECT COUNT(*) FROM purges").Scan(&n)
	return n, err
}

// Sweep removes expired tokens, sessions without any, links to exports, counts of failed
// logins whose time is over and files that nobody has attached within a day, and, after
// 30 days, what is in the bin and idempotency keys.
func (s *Store) Sweep(ctx context.Context) error {
	if err := s.forgetFailures(ctx); err != nil {
		return err
	}
	if err := s.forgetExports(ctx); err != nil {
		return err
	}
	accounts, err := database.All(ctx, s.db.Reader(), database.One[feedback.ID], "SELECT account_id FROM accounts ORDER BY account_id")
	if err != nil {
		return err
	}
	for _, accountID := range accounts {
		if err := s.sweepTokens(ctx, accountID); err != nil {
			return err
		}
		if err := s.emptyBin(ctx, accountID); err != nil {
			return err
		}
	}
	if err := s.forgetKeys(ctx, accounts); err != nil {
		return err
	}
	for _, accountID := range accounts { // last: where the files are, it may be slow or away
		if err := s.forgetUploads(ctx, accountID); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) sweepTokens(ctx context.Context, accountID feedback.ID) error {
	if err := s.forgetLinks(ctx, accountID); err != nil {
		return err
	}
	until := feedback.At(s.now().Add(-keepExpired))
	err := s.inChunks(ctx, `DELETE FROM session_tokens WHERE account_id = $1 AND hash IN
		(SELECT hash FROM session_tokens WHERE account_id = $1 AND expires_at < $2 LIMIT $3)`, accountID, until, sweepChunk)
	if err != nil {
		return err
	}
	return s.inChunks(ctx, `DELETE FROM sessions WHERE account_id = $1 AND id IN
		(SELECT id FROM sessions s WHERE s.account_id = $1 AND NOT EXISTS
			(SELECT 1 FROM session_tokens t WHERE t.account_id = $1 AND t.session_id = s.id) LIMIT $2)`, accountID, sweepChunk)
}

// inChunks runs a statement that changes at most sweepChunk rows until it has
// changed them all, each time in a transaction of its own.
func (s *Store) inChunks(ctx context.Context, statement string, args ...any) error {
	for n := int64(sweepChunk); n == sweepChunk; {
		err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
			n, err = database.Changed(ctx, tx, statement, args...)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// forgetKeys removes the idempotency keys of requests that are older than 30
// days. Ids follow time, so a range of ids is a range of times; the lease's
// progress is how far the last sweep came.
func (s *Store) forgetKeys(ctx context.Context, accounts []feedback.ID) error {
	until := s.now().Add(-idempotentFor)
	var progress feedback.Time
	err := s.db.Reader().QueryRowContext(ctx, "SELECT progress FROM leases WHERE name = $1", workerLease).Scan(&progress)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	from, to := feedback.FirstIDAt(progress.Std()), feedback.FirstIDAt(until)
	for _, accountID := range accounts {
		err := s.inChunks(ctx, `UPDATE requests SET idempotency_key = NULL, fingerprint = NULL WHERE account_id = $1 AND id IN
			(SELECT id FROM requests WHERE account_id = $1 AND id >= $2 AND id < $3 AND idempotency_key IS NOT NULL LIMIT $4)`,
			accountID, from, to, sweepChunk)
		if err != nil {
			return err
		}
	}
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE leases SET progress = $2 WHERE name = $1", workerLease, feedback.At(until))
		return err
	})
}
