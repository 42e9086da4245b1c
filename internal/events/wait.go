package events

import (
	"context"
	"log/slog"
	"slices"
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
	// MaxWaiting is how many calls of all accounts can wait in this process.
	MaxWaiting = 512
)

// lookTime is how long a look may take.
var lookTime = deadline.Of(5 * time.Second)

// Waiters wait for changes (long poll). All of a process share one query.
type Waiters struct {
	db  *database.DB
	log *slog.Logger

	mu        sync.Mutex
	waiting   map[feedback.ID][]*waiter // by account, the oldest first
	looking   bool                      // whether look runs
	committed chan struct{}             // has a value after a commit
}

// waiter waits for a change after a number. done gets true when there is one, and false when the waiter makes room for
// one of another account. Who sends it has removed the waiter.
type waiter struct {
	after int64
	done  chan bool
}

// NewWaiters returns waiters for changes in a database.
func NewWaiters(db *database.DB, log *slog.Logger) *Waiters {
	w := &Waiters{db: db, log: log, waiting: map[feedback.ID][]*waiter{}, committed: make(chan struct{}, 1)}
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
//
// It returns false if ending is closed, or if there is no place, or no longer. When MaxWaiting calls wait, the oldest one
// of the account with the most makes room for one of an account with fewer, so that some accounts cannot keep others
// from waiting.
func (w *Waiters) Wait(
	ctx context.Context, ending <-chan struct{}, accountID feedback.ID, after int64, most time.Duration,
) (bool, error) {
	one := &waiter{after, make(chan bool, 1)}
	if !w.add(accountID, one) {
		return false, nil
	}
	defer w.remove(accountID, one)
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case changed := <-one.done:
		return changed, nil
	case <-ending:
		return false, nil
	case <-timer.C:
		return true, nil
	case <-ctx.Done():
		return true, ctx.Err()
	}
}

// Waiting returns how many calls wait.
func (w *Waiters) Waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count()
}

func (w *Waiters) count() (n int) {
	for _, of := range w.waiting {
		n += len(of)
	}
	return n
}

// add returns false if there is no place.
func (w *Waiters) add(accountID feedback.ID, one *waiter) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count() >= MaxWaiting && !w.makeRoom(accountID) {
		return false
	}
	w.waiting[accountID] = append(w.waiting[accountID], one)
	if !w.looking {
		w.looking = true
		go w.look()
		return true
	}
	select { // there may have been a change since the caller has read
	case w.committed <- struct{}{}:
	default:
	}
	return true
}

// makeRoom displaces a waiter of the account that has the most, if that has more than the given one will have.
func (w *Waiters) makeRoom(accountID feedback.ID) bool {
	var largest feedback.ID
	for id, of := range w.waiting {
		if len(of) > len(w.waiting[largest]) {
			largest = id
		}
	}
	if len(w.waiting[largest]) <= len(w.waiting[accountID])+1 {
		return false
	}
	oldest := w.waiting[largest][0]
	w.waiting[largest] = w.waiting[largest][1:]
	oldest.done <- false
	return true
}

func (w *Waiters) remove(accountID feedback.ID, one *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keep(accountID, func(other *waiter) bool { return other != one })
}

// keep removes the waiters of an account that do not fit.
func (w *Waiters) keep(accountID feedback.ID, fits func(*waiter) bool) {
	w.waiting[accountID] = slices.DeleteFunc(w.waiting[accountID], func(one *waiter) bool { return !fits(one) })
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
		w.keep(e.account, func(one *waiter) bool {
			if e.last > one.after {
				one.done <- true
				return false
			}
			return true
		})
	}
	return nil
}
