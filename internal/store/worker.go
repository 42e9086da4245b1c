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

// The background work consists of two loops: the worker, which cleans up, and the indexer,
// which updates the word index and must not wait for the worker. Every process runs both
// loops, and a lease for each loop lets only one process work at a time. Progress is in the
// database, so another process can continue from there.
const (
	workerLease = "worker"
	// indexLease is not that of the version before, which follows an index of its own.
	indexLease  = "finding"
	leaseFor    = 30 * time.Second
	workerRest  = time.Second
	releaseTime = 5 * time.Second
	sweepEvery  = 10 * time.Minute
	purgeChunk  = 1000
)

// Work runs the worker and the indexer until ctx ends. It logs failures and retries.
func (s *Store) Work(ctx context.Context) {
	var swept time.Time
	var wg sync.WaitGroup
	wg.Go(func() {
		l := lease{name: workerLease, holder: s.ids.New()}
		s.run(ctx, l, func(l *lease) (bool, error) { return s.work(ctx, l, &swept) })
	})
	wg.Go(func() {
		l, f := lease{name: indexLease, holder: s.ids.New()}, follower{chunk: index.Chunk}
		s.run(ctx, l, func(l *lease) (bool, error) { return s.follow(ctx, l, &f) })
	})
	wg.Wait()
}

// run calls step until ctx ends, and pauses when there is no more work or step fails.
func (s *Store) run(ctx context.Context, l lease, step func(*lease) (more bool, err error)) {
	tick := time.NewTicker(workerRest)
	defer tick.Stop()
	for ctx.Err() == nil {
		more, err := recovered(&l, step)
		if err != nil && ctx.Err() == nil {
			s.failures.add(l.work)
			s.log.Warn("background work failed and will be retried", "work", l.work, "error", err)
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
		s.log.Warn("the lease of the background work was not released; it expires within 30 seconds", "lease", l.name, "error", err)
	}
}

// recovered calls step and returns a panic as an error.
func recovered(l *lease, step func(*lease) (bool, error)) (more bool, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			more, err = false, fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return step(l)
}

// release ends the lease, so that another process does not have to wait until it expires.
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

// work does one step of the worker and reports whether there is more to do.
func (s *Store) work(ctx context.Context, l *lease, swept *time.Time) (more bool, err error) {
	held, err := s.take(ctx, l)
	if err != nil || !held {
		return false, err
	}
	l.work = "purge"
	if more, err = s.Purge(ctx); err != nil || more {
		return more, err
	}
	l.work = "unassign"
	if more, err = s.Unassign(ctx); err != nil || more {
		return more, err
	}
	l.work = "analyze"
	if err := s.db.Analyze(ctx); err != nil {
		return false, err
	}
	if now := s.now(); now.Sub(*swept).Abs() >= sweepEvery {
		*swept = now // before it runs, so that a sweep that fails does not run every second
		l.work = "sweep"
		return false, s.Sweep(ctx)
	}
	return false, nil
}

// Works returns the kinds of background work. Lease is to take or to release a lease.
func Works() []string { return []string{"purge", "unassign", "analyze", "sweep", "index", "lease"} }

// failures counts the failures of each kind of work.
type failures struct {
	mu sync.Mutex
	n  map[string]int64
}

func (f *failures) add(work string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n == nil {
		f.n = map[string]int64{}
	}
	f.n[work]++
}

// WorkFailures returns how often this process has failed at a kind of background work.
func (s *Store) WorkFailures(work string) int64 {
	s.failures.mu.Lock()
	defer s.failures.mu.Unlock()
	return s.failures.n[work]
}

// follower is the state of the indexer between steps.
type follower struct {
	next  feedback.ID // the account after which the next step begins
	chunk int         // the number of log entries per step
}

// follow does one step of the indexer and reports whether there is more to do. If this
// process received a submission during the step, submissions take precedence: follow
// resets the chunk and pauses for 15 times the duration of the step, up to workerRest.
func (s *Store) follow(ctx context.Context, l *lease, f *follower) (more bool, err error) {
	held, err := s.take(ctx, l)
	if err != nil || !held {
		return false, err
	}
	l.work = "index"
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

// lease gives one process the exclusive right to do a kind of background work.
type lease struct {
	name   string
	holder feedback.ID
	until  time.Time
	work   string // what its holder is doing, one of Works
}

// take acquires the lease, or extends it once half of its time is over, and reports
// whether the holder has it. It ignores a lease that ends too far in the future, which comes
// from a wrong clock. Otherwise, no process could work until that time.
func (s *Store) take(ctx context.Context, l *lease) (bool, error) {
	l.work = "lease"
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

// Purge deletes a chunk of the rows of a deleted app, its words in the index first, and
// reports whether there may be more. Other writes can run between the chunks.
func (s *Store) Purge(ctx context.Context) (more bool, err error) {
	var p purge
	err = s.db.Reader().QueryRowContext(ctx, "SELECT account_id, app_id FROM purges ORDER BY deleted_at LIMIT 1").
		Scan(&p.accountID, &p.appID)
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
		return purgeRows(ctx, tx, p)
	})
}

// purgeRows deletes a chunk of the app's requests with their history, or the app itself if
// it has no more requests.
func purgeRows(ctx context.Context, tx *sql.Tx, p purge) error {
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

// PurgeBacklog returns the number of deleted apps that still have rows.
func (s *Store) PurgeBacklog(ctx context.Context) (n int64, err error) {
	err = s.db.Reader().QueryRowContext(ctx, "SELECT COUNT(*) FROM purges").Scan(&n)
	return n, err
}
