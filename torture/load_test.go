package torture_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// load is a group of submitters that send each submission with its idempotency key until it
// is acknowledged. It records how each attempt ended.
type load struct {
	program.Ledger
	// stop waits until each submitter has finished its current submission.
	stop func()

	mu       sync.Mutex
	attempts []attempt // in the order in which they ended
}

// attempt is one call. The code is "ok", the code of the error, or empty if there was no
// answer.
type attempt struct {
	began, ended time.Time
	code         string
}

// startLoad starts n submitters. After a failed attempt, a submitter uses the next client. When
// all clients have failed, it waits a little.
func startLoad(t *testing.T, n int, key string, clients ...program.Client) *load {
	t.Helper()
	storetest.Budget(t)
	l := &load{}
	l.stop = program.SubmitWith(n, func(title string) {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for i := 0; ; i++ {
			if l.attempt(t, clients[i%len(clients)], key, title) {
				return
			}
			if i%len(clients) == len(clients)-1 {
				<-tick.C
			}
		}
	})
	return l
}

func (l *load) attempt(t *testing.T, c program.Client, key, title string) bool {
	a := attempt{began: time.Now()}
	got, err := c.Call("widget-submit-request", key, program.Params{"title": title, "description": "", "idempotency_key": title})
	a.ended = time.Now()
	if err == nil {
		a.code = got.Code
	}
	l.mu.Lock()
	l.attempts = append(l.attempts, a)
	l.mu.Unlock()
	if a.code != "ok" {
		return false
	}
	l.Note(t, got.Request.ID, title)
	return true
}

// settle stops the load, compares the ledger with the stored requests, and returns the result.
// The test fails if a request is lost or doubled.
func (l *load) settle(t *testing.T, c program.Client, token string) string {
	t.Helper()
	l.stop()
	stored := c.List(t, token)
	l.Check(t, stored)
	if len(stored) != l.Len() {
		t.Errorf("%d requests are stored, and %d were acknowledged", len(stored), l.Len())
	}
	lost, doubled := l.Compare(stored)
	return fmt.Sprintf("%d acknowledged, %d lost, %d doubled", l.Len(), lost, doubled)
}

// count returns how many attempts ended with a code.
func (l *load) count(code string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.attempts {
		if a.code == code {
			n++
		}
	}
	return n
}

// slowest returns the longest duration of an attempt that ended with one of the codes.
func (l *load) slowest(codes ...string) (longest time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.attempts {
		if slices.Contains(codes, a.code) {
			longest = max(longest, a.ended.Sub(a.began))
		}
	}
	return longest
}

// gap returns the longest time between two acknowledgements.
func (l *load) gap() (longest time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var last time.Time
	for _, a := range l.attempts {
		if a.code != "ok" {
			continue
		}
		if !last.IsZero() {
			longest = max(longest, a.ended.Sub(last))
		}
		last = a.ended
	}
	return longest
}

// last returns when the last attempt ended.
func (l *load) last() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.attempts[len(l.attempts)-1].ended
}

// rate returns the number of acknowledgements per second between two moments.
func (l *load) rate(from, to time.Time) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, a := range slices.Backward(l.attempts) {
		if a.ended.Before(from) {
			break
		}
		if a.code == "ok" && a.ended.Before(to) {
			n++
		}
	}
	return float64(n) / to.Sub(from).Seconds()
}
