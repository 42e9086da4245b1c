package mail_test

import (
	"strings"
	"testing"
	"time"

	"gatherkit/internal/mail"
	"gatherkit/internal/signed"
	"gatherkit/internal/store/storetest"
)

// TestStop: people stop mail about one idea, or about all; a new tick begins it again.
func TestStop(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		one, two := r.wants("ada@example.com", true), r.wants("ada@example.com", true, titled("Maps"))
		other := r.wants("grace@example.com", true)
		r.status(r.by, one, "planned")
		links := r.links(r.one(settled, "ada@example.com"), signed.ForStop)
		r.must(r.Mail.Stop(ctx, links[0]))
		r.must(r.Mail.Stop(ctx, links[0]))
		r.status(r.by, one, "completed")
		r.none(2*time.Hour, "this idea is stopped")
		r.status(r.by, two, "planned")
		r.one(settled, "ada@example.com")
		r.status(r.by, two, "in_progress")
		r.must(r.Mail.Stop(ctx, links[1]))
		r.none(2*time.Hour, "all is stopped")
		if v, err := r.Mail.Visit(ctx, links[1]); err != nil || v.State != mail.Stopped || v.App.ID != r.app.ID {
			t.Errorf("%+v, %v", v, err)
		}
		r.status(r.by, other, "planned")
		r.one(settled, "grace@example.com")
		three := r.wants("ada@example.com", true, titled("Export"))
		r.status(r.by, two, "completed")
		r.none(2*time.Hour, "the old ideas stay stopped")
		r.status(r.by, three, "planned")
		r.one(settled, "ada@example.com")
	})
}

// TestStopWaiting: a mail that waits is not sent to somebody who has stopped.
func TestStopWaiting(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		r.wants("ada@example.com", false)
		asked := r.one(0, "ada@example.com")
		r.confirm(asked)
		id := r.wants("ada@example.com", false)
		r.status(r.by, id, "planned")
		r.server.Refuse(func(phase, _ string) error {
			if phase == "RCPT" {
				return mailtest451
			}
			return nil
		})
		r.none(settled, "the server is busy")
		r.server.Refuse(nil)
		r.must(r.Mail.Stop(ctx, r.links(asked, signed.ForStop)[0]))
		r.none(2*time.Hour, "it is stopped")
		if n := r.Count("mails"); n != 0 {
			t.Errorf("%d mails wait", n)
		}
	})
}

// TestPace: a person who chose a daily pace gets one mail a day.
func TestPace(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		id := r.wants("ada@example.com", true)
		r.status(r.by, id, "under_review")
		links := r.links(r.one(settled, "ada@example.com"), signed.ForStop)
		r.must(r.Mail.SetPace(ctx, links[1], mail.Daily))
		if v, err := r.Mail.Visit(ctx, links[1]); err != nil || v.Pace != mail.Daily {
			t.Errorf("%+v, %v", v, err)
		}
		r.status(r.by, id, "planned")
		r.none(time.Hour, "there was a mail today")
		r.status(r.by, id, "in_progress")
		r.none(22*time.Hour, "there was a mail today")
		r.one(time.Hour, "ada@example.com")
		r.must(r.Mail.SetPace(ctx, links[1], mail.Soon))
		r.status(r.by, id, "completed")
		r.one(settled, "ada@example.com")
	})
}

// TestMany: a mail has twenty requests at most; the others follow in the next.
func TestMany(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		for range 45 {
			r.status(r.by, r.wants("ada@example.com", true), "planned")
		}
		told, mails := 0, 0
		for list := r.after(settled); len(list) > 0; list = r.after(0) {
			for _, m := range list {
				mails++
				told += strings.Count(m.text, "Dark mode")
			}
		}
		if mails != 3 || told != 45 {
			t.Errorf("%d mails about %d requests, want 3 about 45", mails, told)
		}
	})
}

// TestSweep: addresses that were not confirmed are forgotten after 30 days, and the others a year after they
// were stopped. Afterwards no change begins mail again.
func TestSweep(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		id := r.wants("ada@example.com", false)
		stopped := r.wants("grace@example.com", false)
		kept := r.wants("kept@example.com", true)
		for _, m := range r.after(0) {
			if m.To == "grace@example.com" {
				r.must(r.Mail.Stop(ctx, r.links(m, signed.ForStop)[0]))
			}
		}
		r.Clock.Move(29 * 24 * time.Hour)
		r.must(r.sender.Sweep(ctx))
		if n := r.Count("mail_people"); n != 3 {
			t.Errorf("%d people after 29 days", n)
		}
		r.Clock.Move(2 * 24 * time.Hour)
		r.must(r.sender.Sweep(ctx))
		if n := r.Count("mail_people"); n != 2 {
			t.Errorf("%d people after 31 days", n)
		}
		r.Clock.Move(365 * 24 * time.Hour)
		r.must(r.sender.Sweep(ctx))
		if n := r.Count("mail_people"); n != 1 {
			t.Errorf("%d people after a year", n)
		}
		if n := r.Count("mail_follows"); n != 1 {
			t.Errorf("%d requests are followed after a year", n)
		}
		r.status(r.by, id, "planned")
		r.status(r.by, stopped, "planned")
		r.none(2*time.Hour, "they are forgotten")
		r.status(r.by, kept, "planned")
		r.one(settled, "kept@example.com")
	})
}

// TestDeletedApp: with an app goes all that mail knows of it.
func TestDeletedApp(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		id := r.wants("ada@example.com", true)
		r.wants("grace@example.com", false)
		asked := r.one(0, "grace@example.com")
		r.status(r.by, id, "planned")
		r.Drop(r.app)
		r.none(2*time.Hour, "the app is gone")
		if err := r.Mail.Confirm(ctx, r.links(asked, signed.ForConfirm)[0]); err != nil {
			t.Error(err) // the app is still being removed
		}
		if _, err := r.Mail.Visit(ctx, r.links(asked, signed.ForConfirm)[0]); !isGone(err) {
			t.Error(err)
		}
		for more := true; more; {
			var err error
			more, err = r.Purge(ctx)
			r.must(err)
		}
		for _, table := range []string{"mail_people", "mail_follows"} {
			if n := r.Count(table); n != 0 {
				t.Errorf("%s has %d rows", table, n)
			}
		}
		for _, do := range []func() error{
			func() error { return r.Mail.Confirm(ctx, r.links(asked, signed.ForConfirm)[0]) },
			func() error { return r.Mail.Stop(ctx, r.links(asked, signed.ForStop)[0]) },
			func() error { return r.Mail.SetPace(ctx, r.links(asked, signed.ForStop)[0], mail.Daily) },
		} {
			if err := do(); !isGone(err) {
				t.Error(err)
			}
		}
	})
}
