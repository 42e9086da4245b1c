package program

import (
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
)

// Ledger records the titles of acknowledged requests by id. Titles must be unique.
type Ledger struct {
	mu           sync.Mutex
	acknowledged map[string]string
}

// Note records an acknowledged request. The same one may be recorded again.
func (l *Ledger) Note(t testing.TB, id, title string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.acknowledged == nil {
		l.acknowledged = map[string]string{}
	}
	if before, again := l.acknowledged[id]; again && before != title {
		t.Errorf("request %s was acknowledged for %q and for %q", id, before, title)
	}
	l.acknowledged[id] = title
}

// Len returns the number of acknowledged requests.
func (l *Ledger) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acknowledged)
}

// AwaitMore waits until n more requests have been acknowledged.
func (l *Ledger) AwaitMore(t *testing.T, n int) {
	t.Helper()
	n += l.Len()
	Eventually(t, fmt.Sprintf("%d requests are acknowledged", n), func() bool { return l.Len() >= n })
}

// Clone returns a copy of the ledger.
func (l *Ledger) Clone() *Ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &Ledger{acknowledged: maps.Clone(l.acknowledged)}
}

// Compare returns how many acknowledged requests are not stored with their titles, and how
// many titles are stored more than once.
func (l *Ledger) Compare(stored map[string]Request) (lost, doubled int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	titles := map[string]int{}
	for _, r := range stored {
		titles[r.Title]++
		if titles[r.Title] == 2 {
			doubled++
		}
	}
	for id, title := range l.acknowledged {
		if stored[id].Title != title {
			lost++
		}
	}
	return lost, doubled
}

// Check fails the test if a request is lost or stored twice.
func (l *Ledger) Check(t testing.TB, stored map[string]Request) {
	t.Helper()
	if lost, doubled := l.Compare(stored); lost+doubled > 0 {
		t.Errorf("of %d acknowledged requests %d are lost, and %d are stored twice", l.Len(), lost, doubled)
	}
}

// SubmitWith runs n goroutines that call submit repeatedly, each time with another title. The
// returned function lets them finish their current call, and waits for them.
func SubmitWith(n int, submit func(title string)) (stop func()) {
	var (
		stopped atomic.Bool
		all     sync.WaitGroup
	)
	for i := range n {
		all.Go(func() {
			for j := 0; !stopped.Load(); j++ {
				submit(fmt.Sprintf("wish %d of person %d", j, i))
			}
		})
	}
	return func() {
		stopped.Store(true)
		all.Wait()
	}
}
