// Package lease runs background work in one of several processes at a time. A lease is a row of
// the database, so another process takes over when the holder has ended.
package lease

import (
	"context"
	"database/sql"
	"log/slog"
	"sync"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/deadline"
	"gatherkit/internal/feedback"
	"gatherkit/internal/sweep"
)

const (
	// For is how long a lease lasts after its holder has stopped without releasing it.
	For = 30 * time.Second
	// PollInterval is how long Run pauses when there is no more work.
	PollInterval = time.Second
)

// releaseTime is how long it may take to release a lease.
var releaseTime = deadline.Of(5 * time.Second)

// Lease gives one process the exclusive right to do a kind of background work. Its methods are
// for one goroutine.
type Lease struct {
	db     *database.DB
	now    func() time.Time
	name   string
	holder feedback.ID
	until  time.Time
	asked  bool // whether Take may have acquired it: an end of its context hides that
}

// New returns the lease with a name. holder identifies the process.
func New(db *database.DB, now func() time.Time, name string, holder feedback.ID) *Lease {
	return &Lease{db: db, now: now, name: name, holder: holder}
}

// Take acquires the lease, or extends it once half of its time is over, and reports
// whether the holder has it. It ignores a lease that ends too far in the future, which comes
// from a wrong clock. Otherwise, no process could work until that time.
func (l *Lease) Take(ctx context.Context) (bool, error) {
	now := l.now()
	if left := l.until.Sub(now); left > For/2 && left <= For {
		return true, nil
	}
	var n int64
	l.asked = true
	err := l.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		n, err = database.Changed(ctx, tx, `INSERT INTO leases (name, holder, until, progress) VALUES ($1, $2, $3, 0)
			ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
			WHERE leases.holder = excluded.holder OR leases.until < $4 OR leases.until > $5`,
			l.name, l.holder, feedback.At(now.Add(For)), feedback.At(now), feedback.At(now.Add(2*For)))
		return err
	})
	if err != nil || n == 0 {
		return false, err
	}
	l.until = now.Add(For)
	return true, nil
}

// Step is a kind of background work.
type Step struct {
	Work  string                        // its name for the log and for Outcomes
	Every time.Duration                 // how often it is done at most, even if it fails; 0 for always
	Do    func() (more bool, err error) // does a piece of it and reports whether there is more

	done time.Time
}

// Run takes turns with the steps until ctx ends, and pauses when none has more work. It notes what
// came of each step, and logs failures, also panics. What fails does not keep the other steps from
// working. At the end it releases the lease.
func (l *Lease) Run(ctx context.Context, log *slog.Logger, outcomes *Outcomes, steps ...Step) {
	tick := time.NewTicker(PollInterval)
	defer tick.Stop()
	for ctx.Err() == nil {
		more := l.Round(ctx, steps, func(work string, err error) {
			if ctx.Err() != nil {
				return
			}
			outcomes.Add(work, l.now(), err)
			if err != nil {
				log.Warn("background work failed and will be retried", "work", work, "error", err)
			}
		})
		if more {
			continue
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	if err := l.release(); err != nil {
		log.Warn("the lease of the background work was not released; it expires within 30 seconds", "lease", l.name, "error", err)
	}
}

// Round does a piece of each kind of work, as long as this process has the lease, and reports whether
// a step that did not fail has more. It calls note with the result of each step, and of the lease.
func (l *Lease) Round(ctx context.Context, steps []Step, note func(work string, err error)) (more bool) {
	for i := range steps {
		step := &steps[i]
		held, err := l.Take(ctx)
		note("lease", err)
		if err != nil || !held {
			return more
		}
		now := l.now()
		if now.Sub(step.done).Abs() < step.Every {
			continue
		}
		step.done = now
		var again bool
		err = sweep.Recovered(func() (err error) {
			again, err = step.Do()
			return err
		})
		note(step.Work, err)
		more = more || again && err == nil
	}
	return more
}

// release ends the lease, so that another process does not have to wait until it expires.
func (l *Lease) release() error {
	if !l.asked {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), releaseTime)
	defer cancel()
	return l.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE leases SET until = 0 WHERE name = $1 AND holder = $2", l.name, l.holder)
		return err
	})
}

// Outcomes counts the results of each kind of work in this process. Its methods are safe for
// concurrent use, and the zero value is ready.
type Outcomes struct {
	mu        sync.Mutex
	failures  map[string]int64
	succeeded map[string]time.Time
}

// Add counts the result of a piece of work.
func (o *Outcomes) Add(work string, at time.Time, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failures == nil {
		o.failures, o.succeeded = map[string]int64{}, map[string]time.Time{}
	}
	if err != nil {
		o.failures[work]++
	} else {
		o.succeeded[work] = at
	}
}

// Failures returns how often a kind of work has failed.
func (o *Outcomes) Failures(work string) int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failures[work]
}

// Succeeded returns when a kind of work last succeeded, and false if it has not yet.
func (o *Outcomes) Succeeded(work string) (at time.Time, ever bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at, ever = o.succeeded[work]
	return at, ever
}
