package mail_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/mail"
	"gatherkit/internal/mail/mailtest"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// elsewhere makes the rig work with another account.
func (r *rig) elsewhere(name string) *rig {
	other := *r
	other.account = r.NewAccount(name)
	other.app = r.NewApp(other.account)
	other.by = feedback.Actor{Kind: feedback.ByUser, ID: r.UserOf(other.account)}
	return &other
}

func (r *rig) mailStatus() mail.Status {
	r.T.Helper()
	status, err := r.Mail.Status(ctx, r.account.ID)
	r.must(err)
	return status
}

// failing checks how much mail of the account has failed, and returns the first.
func (r *rig) failing(n int64) (first mail.Unsent) {
	r.T.Helper()
	status := r.mailStatus()
	if status.Failing != n || len(status.Failures) != int(min(n, 20)) {
		r.T.Fatalf("%d failures, want %d: %+v", status.Failing, n, status.Failures)
	}
	if n > 0 {
		first = status.Failures[0]
	}
	return first
}

// TestBrokenApp: mail that cannot be written for many people of an app delays nobody else, neither of another app
// nor of another account. It is written as soon as that works.
func TestBrokenApp(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		const people = 130
		var ids []feedback.ID
		for n := range people {
			ids = append(ids, r.wants(fmt.Sprintf("p%d@example.com", n), true))
		}
		sound := r.NewApp(r.account)
		ofSound := r.wants("sound@example.com", true, func(s *store.Submission) { s.App = sound })
		other := r.elsewhere("Other")
		ofOther := other.wants("other@example.com", true)
		r.must(r.sender.Round(ctx))
		mend := r.Refuses("INSERT", "mails", "new.app_id = "+r.Literal(r.app.ID))
		for _, id := range ids {
			r.status(r.by, id, "planned")
		}
		r.status(r.by, ofSound, "planned")
		other.status(other.by, ofOther, "planned")
		got := map[string]bool{}
		for _, m := range r.after(settled) {
			got[m.To] = true
		}
		if len(got) != 2 || !got["sound@example.com"] || !got["other@example.com"] {
			t.Errorf("mail goes to %v", got)
		}
		first := r.failing(people)
		if first.Kind != "update" || first.Recipient != nil || first.Attempts != 1 || first.RetryAt == nil ||
			!strings.Contains(first.Error, "a test refuses this") {
			t.Errorf("%+v", first)
		}
		other.failing(0)
		r.none(time.Minute-time.Millisecond, "it was tried a moment ago")
		r.none(time.Millisecond, "it fails")
		if again := r.failing(people); again.Attempts != 2 || again.Since != first.Since {
			t.Errorf("%+v, and then %+v", first, again)
		}
		mend()
		if n := len(r.after(5 * time.Minute)); n != people {
			t.Errorf("%d mails, want %d", n, people)
		}
		r.failing(0)
		r.none(48*time.Hour, "all were told")
	})
}

// TestBrokenRequest: a request whose news cannot be noticed delays no other of its account.
func TestBrokenRequest(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		broken := r.wants("broken@example.com", true)
		mend := r.Refuses("INSERT", "mail_follows", "new.request_id = "+r.Literal(broken))
		sound := r.wants("sound@example.com", true)
		r.must(r.sender.Round(ctx))
		if got := r.failing(1); got.Kind != "news" || got.Recipient != nil || got.Attempts != 1 {
			t.Errorf("%+v", got)
		}
		r.status(r.by, sound, "planned")
		r.status(r.by, broken, "planned")
		r.one(settled, "sound@example.com")
		mend()
		list := r.after(48 * time.Hour)
		if len(list) == 0 {
			list = r.after(settled)
		}
		if len(list) != 1 || list[0].To != "broken@example.com" {
			t.Errorf("%+v", list)
		}
		r.failing(0)
	})
}

// TestPanic: a panic while news of a request is noticed delays no other of its account.
func TestPanic(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		var missing atomic.Bool
		r := newRig(t, at, func(o *store.Options) { o.Rand = randomness(&missing) })
		r.wants("broken@example.com", false)
		r.wants("sound@example.com", true)
		missing.Store(true) // a mail that asks somebody to confirm needs an id
		r.must(r.sender.Round(ctx))
		if got := r.failing(1); got.Kind != "news" || !strings.Contains(got.Error, "no randomness") {
			t.Errorf("%+v", got)
		}
		if n := r.Count("mail_follows"); n != 1 {
			t.Errorf("%d requests are followed, want 1", n)
		}
		missing.Store(false)
		r.one(settled, "broken@example.com")
		r.failing(0)
	})
}

// randomness is random unless it is missing.
func randomness(missing *atomic.Bool) io.Reader {
	return reader(func(p []byte) (int, error) {
		if missing.Load() {
			return 0, errors.New("no source")
		}
		return rand.Read(p)
	})
}

type reader func(p []byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

// TestBrokenDigest: digests that cannot be written delay none of other accounts, and miss nothing.
func TestBrokenDigest(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		other := r.elsewhere("Other")
		for _, one := range []*rig{r, other} {
			r.must(one.Mail.SetDigest(ctx, one.account.ID, *one.by.ID, mail.EachDay))
			one.wants("", true, func(s *store.Submission) { s.Request.Submitter.Email, s.Identity, s.Notify = nil, nil, "" })
		}
		mend := r.Refuses("INSERT", "mails", "new.account_id = "+r.Literal(r.account.ID))
		r.one(24*time.Hour, "other@example.com")
		if got := r.failing(1); got.Kind != "digest" || got.Attempts != 1 {
			t.Errorf("%+v", got)
		}
		mend()
		r.one(time.Minute, "acme@example.com")
		r.failing(0)
	})
}

// TestTurns: an account with much mail does not delay that of others, in writing and in sending it.
func TestTurns(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		const people = 300
		for n := range people {
			r.status(r.by, r.wants(fmt.Sprintf("p%d@example.com", n), true), "planned")
		}
		others := []*rig{r.elsewhere("Before"), r.elsewhere("After")}
		for _, other := range others {
			other.status(other.by, other.wants(strings.ToLower(other.account.Name)+"@example.com", true), "planned")
		}
		list := r.after(settled)
		if len(list) != people+len(others) {
			t.Fatalf("%d mails", len(list))
		}
		for n, m := range list {
			if !strings.HasPrefix(m.To, "p") && n > 40 {
				t.Errorf("%s is number %d", m.To, n)
			}
		}
	})
}

// TestMailThatEndsConnections: a mail during which the server ends the connection delays the others by a moment. It
// is given up after a day, and its account sees why.
func TestMailThatEndsConnections(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		broken, sound := r.wants("broken@example.com", true), r.wants("sound@example.com", true)
		tries := 0
		r.server.Refuse(func(phase, address string) error {
			if phase == "DATA" && address == "broken@example.com" {
				tries++
				return mailtest.Answer(421, [3]int{4, 0, 0}, "too busy")
			}
			return nil
		})
		r.status(r.by, broken, "planned")
		r.status(r.by, sound, "planned")
		list := r.after(settled)
		if len(list) == 0 {
			list = r.after(time.Minute)
		}
		if len(list) != 1 || list[0].To != "sound@example.com" {
			t.Fatalf("%+v", list)
		}
		got := r.failing(1)
		if got.Kind != "update" || *got.Recipient != "broken@example.com" || got.RetryAt == nil || !strings.Contains(got.Error, "too busy") {
			t.Errorf("%+v", got)
		}
		for range 25 * 12 {
			r.none(5*time.Minute, "the server ends the connection")
		}
		if tries < 8 || tries > 16 {
			t.Errorf("%d tries", tries)
		}
		if got := r.failing(1); got.RetryAt != nil || got.Attempts != tries {
			t.Errorf("%+v after %d tries", got, tries)
		}
		if n := r.mailStatus().Waiting; n != 0 {
			t.Errorf("%d mails wait", n)
		}
		r.server.Refuse(nil)
		r.none(time.Hour, "it was given up")
		r.Clock.Move(7 * 24 * time.Hour)
		r.must(r.sender.Sweep(ctx))
		r.failing(0)
	})
}
