package program

import (
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
)

// Ledger is what submitters know: the title of every acknowledged request by its id.
// Its titles have to be different.
type Ledger struct {
	mu           sync.Mutex
	acknowledged map[string]string
}

// Note enters an acknowledgement. The same one may come again.
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

// Len is how many requests have been acknowledged.
func (l *Ledger) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acknowledged)
}

// AwaitMore waits until n more requests have been acknowledged than are now.
func (l *Ledger) AwaitMore(t *testing.T, n int) {
	t.Helper()
	n += l.Len()
	Eventually(t, fmt.Sprintf("%d requests are acknowledged", n), func() bool { return l.Len() >= n })
}

// Clone is what the ledger holds now.
func (l *Ledger) Clone() *Ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &Ledger{acknowledged: maps.Clone(l.acknowledged)}
}

// Compare counts the requests that were acknowledged and are not stored as they were
// sent, and the titles that are stored more than once.
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

// Check fails the test when anything is lost or doubled.
func (l *Ledger) Check(t testing.TB, stored map[string]Request) {
	t.Helper()
	if lost, doubled := l.Compare(stored); lost+doubled > 0 {
		t.Errorf("of %d acknowledged requests %d are lost, and %d are stored twice", l.Len(), lost, doubled)
	}
}

// SubmitWith lets n submitters call submit without a pause, each time with another
// title. The returned function lets them finish the one at which they are, and waits.
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
