package events

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/deadline"
	"gatherkit/internal/feedback"
)

const (
	// lookEvery is how often a process looks for commits of other processes while somebody waits.
	lookEvery = 500 * time.Millisecond
	// lookAtMost is the shortest pause between two looks, however often this process commits.
	lookAtMost = 40 * time.Millisecond
)

// lookTime is how long a look may take.
var lookTime = deadline.Of(5 * time.Second)

// Waiters wait for changes (long poll). All of a process share one query.
type Waiters struct {
	db  *database.DB
	log *slog.Logger

	mu        sync.Mutex
	waiting   map[feedback.ID]map[*waiter]bool // by account
	looking   bool                             // whether look runs
	committed chan struct{}                    // has a value after a commit
}

// waiter waits for a change after a number. changed is closed when there is one.
type waiter struct {
	after   int64
	changed chan struct{}
}

// NewWaiters returns waiters for changes in a database.
func NewWaiters(db *database.DB, log *slog.Logger) *Waiters {
	w := &Waiters{db: db, log: log, waiting: map[feedback.ID]map[*waiter]bool{}, committed: make(chan struct{}, 1)}
	db.OnCommit(func() {
		select {
		case w.committed <- struct{}{}:
		default: // the next look sees this commit, too
		}
	})
	return w
}

// Wait returns when an account's log has an entry after a number, when ending is closed, or after the
// given time. It returns the error of ctx if that ends before.
func (w *Waiters) Wait(ctx context.Context, ending <-chan struct{}, accountID feedback.ID, after int64, most time.Duration) error {
	one := &waiter{after, make(chan struct{})}
	w.add(accountID, one)
	defer w.remove(accountID, one)
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-one.changed:
	case <-ending:
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Waiting returns how many calls wait.
func (w *Waiters) Waiting() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, of := range w.waiting {
		n += len(of)
	}
	return n
}

func (w *Waiters) add(accountID feedback.ID, one *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting[accountID] == nil {
		w.waiting[accountID] = map[*waiter]bool{}
	}
	w.waiting[accountID][one] = true
	if !w.looking {
		w.looking = true
		go w.look()
		return
	}
	select { // there may have been a change since the caller has read
	case w.committed <- struct{}{}:
	default:
	}
}

func (w *Waiters) remove(accountID feedback.ID, one *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.waiting[accountID], one)
	if len(w.waiting[accountID]) == 0 {
		delete(w.waiting, accountID)
	}
}

// look wakes waiters until there are none.
func (w *Waiters) look() {
	for {
		accounts := w.accounts()
		if len(accounts) == 0 {
			return
		}
		if err := w.wake(accounts); err != nil {
			w.log.Warn("cannot look for changes; calls that wait for them are answered later", "error", err)
		}
		time.Sleep(lookAtMost)
		select {
		case <-w.committed:
		case <-time.After(lookEvery - lookAtMost):
		}
	}
}

// accounts returns the accounts that somebody waits for. If there are none, look must end.
func (w *Waiters) accounts() []feedback.ID {
	w.mu.Lock()
	defer w.mu.Unlock()
	accounts := make([]feedback.ID, 0, len(w.waiting))
	for id := range w.waiting {
		accounts = append(accounts, id)
	}
	w.looking = len(accounts) > 0
	return accounts
}

// wake wakes those who wait for changes that are in the logs of the accounts.
func (w *Waiters) wake(accounts []feedback.ID) error {
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	type end struct {
		account feedback.ID
		last    int64
	}
	var p database.Parameters
	ends, err := database.All(ctx, w.db.Reader(), func(r database.Row) (e end, err error) {
		err = r.Scan(&e.account, &e.last)
		return e, err
	}, "SELECT account_id, last FROM account_seq WHERE account_id IN ("+database.List(&p, database.Padded(accounts))+")", p...)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range ends {
		for one := range w.waiting[e.account] {
			if e.last > one.after {
				close(one.changed)
				delete(w.waiting[e.account], one)
			}
		}
		if len(w.waiting[e.account]) == 0 {
			delete(w.waiting, e.account)
		}
	}
	return nil
}
