package webhook_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/webhook"
)

// TestTwoProcesses: an endpoint is served by one process at a time, so each event arrives once.
func TestTwoProcesses(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		elsewhere := webhook.NewSender(at.Open(t, r.Clock.Now).Webhooks, webhook.Options{Allow: loopback})
		senders := []*webhook.Sender{r.sender, r.newSender(), elsewhere}
		w := r.add(nil)
		first := r.last() + 1
		for range 10 {
			r.change(10)
			var all sync.WaitGroup
			for _, s := range senders {
				all.Go(func() {
					if err := s.Round(ctx); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
		}
		r.sender.Round(ctx) //nolint:errcheck // what is missing shows below
		var numbers []int64
		for _, one := range r.taken() {
			numbers = append(numbers, one.data.Number)
		}
		slices.Sort(numbers)
		expect(t, "deliveries", numbers, from(first, 100))
		expect(t, "behind", r.get(w).Health.Behind, 0)
	})
}

// TestHolderIsGone: when a process ends during a delivery, another one delivers the same events after a
// minute. A lease from a clock that is far ahead does not count.
func TestHolderIsGone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		r.add(nil)
		first := r.last() + 1
		r.change(1)
		until := func(d time.Duration) {
			r.Exec("UPDATE webhooks SET lease_until = $1, fence = fence + 1", feedback.At(r.Clock.Now().Add(d)))
		}
		until(time.Minute)
		expect(t, "held", r.round(), []int64{})
		r.Clock.Move(time.Minute - time.Millisecond)
		expect(t, "held", r.round(), []int64{})
		r.Clock.Move(time.Millisecond)
		expect(t, "taken over", r.round(), from(first, 1))
		r.change(1)
		until(time.Hour)
		expect(t, "a wrong clock", r.round(), from(first+1, 1))
	})
}

// TestStop: a process that is told to stop during a delivery stores what has worked, and the rest is
// delivered later.
func TestStop(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		w := r.add(nil)
		first := r.last() + 1
		r.change(100)
		stopped, stop := context.WithCancel(ctx)
		r.answers(func(_ http.ResponseWriter, got received) {
			switch {
			case got.data.Number == first+40:
				stop()
			case got.data.Number > first+40:
				<-stopped.Done()
			}
		})
		if err := r.sender.Round(stopped); err != nil {
			t.Fatal(err)
		}
		if h := r.get(w).Health; h.Behind == 0 || h.Failures != 0 {
			t.Errorf("%+v", h)
		}
		numbers := r.round() // with those that arrived before, and perhaps some that were cut off twice
		slices.Sort(numbers)
		expect(t, "all", slices.Compact(numbers), from(first, 100))
		for _, a := range r.attempts(w) {
			if a.Outcome != "delivered" {
				t.Errorf("%+v", a)
			}
		}
	})
}

// TestTooLate: a process that was stopped during a delivery stores nothing when another one has taken over.
func TestTooLate(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		w := r.add(nil)
		r.change(1)
		first := true
		r.answers(func(w http.ResponseWriter, _ received) {
			if !first {
				return
			}
			first = false
			r.Clock.Move(time.Minute)
			if err := r.newSender().Round(ctx); err != nil {
				t.Error(err)
			}
			w.WriteHeader(http.StatusInternalServerError)
		})
		expect(t, "deliveries", len(r.round()), 2)
		if h := r.get(w).Health; h.Behind != 0 || h.Failures != 0 || len(r.attempts(w)) != 1 {
			t.Errorf("%+v", h)
		}
	})
}
