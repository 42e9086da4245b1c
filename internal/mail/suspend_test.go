package mail_test

import (
	"sync"
	"testing"
	"time"

	"gatherkit/internal/store/storetest"
)

// TestSuspended: mails of a suspended account wait, and are sent when it is resumed. The queue does not count them.
func TestSuspended(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		id := r.wants("ada@example.com", true)
		r.none(0, "nothing has changed")
		r.status(r.by, id, "planned")
		r.suspend(true)
		r.none(settled+time.Hour, "the account is suspended before the mail is written")
		r.suspend(false)
		r.one(0, "ada@example.com")

		r.wants("grace@example.com", false)
		r.suspend(true)
		r.none(time.Hour, "somebody waits for a mail")
		if q, err := r.Mail.Queue(ctx); err != nil || q.Waiting != 0 || q.Oldest != nil {
			t.Errorf("the queue: %+v, %v", q, err)
		}
		r.suspend(false)
		if q, err := r.Mail.Queue(ctx); err != nil || q.Waiting != 1 || q.Oldest == nil {
			t.Errorf("the queue of an account that is on: %+v, %v", q, err)
		}
		r.one(0, "grace@example.com")
	})
}

// TestSuspendedWhileSending: an account that is suspended while its mails are sent sends no further ones.
func TestSuspendedWhileSending(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		for _, email := range []string{"ada@example.com", "grace@example.com"} {
			id := r.wants(email, true)
			r.none(0, "nothing has changed")
			r.status(r.by, id, "planned")
		}
		var once sync.Once
		r.server.Refuse(func(string, string) error {
			once.Do(func() { r.suspend(true) })
			return nil
		})
		if sent := r.after(settled); len(sent) != 1 {
			t.Errorf("%d mails were sent, want the one that was being sent", len(sent))
		}
		r.suspend(false)
		if sent := r.after(0); len(sent) != 1 {
			t.Errorf("%d mails were sent when the account was resumed", len(sent))
		}
	})
}

// suspend suspends the account, or resumes it.
func (r *rig) suspend(yes bool) {
	r.T.Helper()
	change := r.Team.Resume
	if yes {
		change = r.Team.Suspend
	}
	if changed, err := change(ctx, r.account.ID); err != nil || !changed {
		r.T.Fatalf("%v, %v", changed, err)
	}
}
