package mail_test

import (
	"fmt"
	"testing"
	"time"

	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestMailbox: a mailbox is asked five times a day, however many apps and addresses with a plus sign are used.
func TestMailbox(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		other := r.elsewhere("Other")
		ask := func() int {
			t.Helper()
			for n := range 10 {
				r.wants(fmt.Sprintf("Victim+%d@Example.com", n), false)
				other.wants(fmt.Sprintf("victim+x%d@example.com", n), false)
			}
			return len(r.after(0))
		}
		if n := ask(); n != 5 {
			t.Errorf("%d mails to one mailbox, want 5", n)
		}
		r.wants("grace+1@example.com", false)
		r.one(0, "grace+1@example.com")
		r.wants("victim@example.org", false)
		r.one(0, "victim@example.org")
		r.Clock.Move(48 * time.Hour)
		if n := ask(); n != 5 {
			t.Errorf("%d mails two days later, want 5", n)
		}
	})
}

// TestAppsThatAsk: an app asks 300 people an hour, and does not keep another from asking.
func TestAppsThatAsk(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		for n := range 320 {
			r.wants(fmt.Sprintf("p%d@example.com", n), false)
		}
		if n := len(r.after(0)); n != 300 {
			t.Errorf("%d mails, want 300", n)
		}
		another := r.NewApp(r.account)
		r.wants("other@example.com", false, func(s *store.Submission) { s.App = another })
		r.one(0, "other@example.com")
		r.none(time.Hour, "who was not asked waits for another request")
		r.wants("p319@example.com", false)
		r.one(time.Hour, "p319@example.com")
	})
}

// TestAllThatAsk: an installation sends 1,000 of these mails an hour. Further ones wait, and none is lost.
func TestAllThatAsk(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		confirmed := r.wants("confirmed@example.com", true)
		got := 0
		for range 4 {
			app := r.NewApp(r.account)
			for n := range 290 {
				r.wants(fmt.Sprintf("p%d@example%d.com", n, got), false, func(s *store.Submission) { s.App = app })
			}
			got += len(r.after(0))
		}
		if got != 1000 {
			t.Errorf("%d mails, want 1000", got)
		}
		r.status(r.by, confirmed, "planned")
		r.one(settled, "confirmed@example.com") // other mail does not wait
		for range 60 {
			got += len(r.after(2 * time.Minute))
		}
		if got != 4*290 {
			t.Errorf("%d mails in the end, want %d", got, 4*290)
		}
	})
}
