package webhook_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/webhook"
)

// verifies reports whether the library of Standard Webhooks accepts a delivery.
func verifies(t *testing.T, secret string, got received) bool {
	t.Helper()
	w, err := standard.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return w.VerifyIgnoringTimestamp(got.body, got.header) == nil
}

// TestDelivery: an endpoint receives what changes after it was added, in order, once and signed.
func TestDelivery(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		w := r.add(nil)
		expect(t, "before a change", r.round(), []int64{})
		first := r.last() + 1
		r.change(20)
		expect(t, "behind", r.get(w).Health.Behind, 20)
		if err := r.sender.Round(ctx); err != nil {
			t.Fatal(err)
		}
		got := r.taken()
		secret, err := r.Webhooks.Secret(ctx, r.account.ID, feedback.Command(), w.ID, false)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int64]bool{}
		for _, one := range got {
			seen[one.data.Number] = true
			e := one.data
			if !verifies(t, secret.Secret, one) || e.Kind != "request.updated" || e.Request == nil || one.header.Get("webhook-id") != e.ID ||
				e.Request.URL != "https://feedback.example.com/?request="+r.request.ID.String() ||
				e.ID != feedback.EventID(r.account.ID, e.Number, e.At) ||
				!strings.HasPrefix(string(one.body), `{"type":"request.updated","timestamp":"2026-01-01T00:00:00.000Z","data":{`) {
				t.Errorf("%v\n%s", one.header, one.body)
			}
			if verifies(t, "whsec_"+strings.Repeat("A", 43)+"=", one) {
				t.Error("any secret verifies")
			}
		}
		if len(got) != 20 || len(seen) != 20 || !seen[first] || !seen[first+19] {
			t.Errorf("%d deliveries of %v", len(got), seen)
		}
		h := r.get(w).Health
		if h.Behind != 0 || h.Position != r.last() || h.LastSuccessAt == nil || h.Failures != 0 || h.LastError != nil {
			t.Errorf("%+v", h)
		}
		expect(t, "again", r.round(), []int64{})
		list := r.attempts(w)
		if len(list) != 20 || list[0].Outcome != "delivered" || *list[0].Status != 200 || list[0].Payload != nil || list[0].Attempt != 1 {
			t.Errorf("%d %+v", len(list), list[0])
		}
	})
}

// TestWanted: an endpoint receives its kinds and its app, and only an internal one what the team sees.
func TestWanted(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		other := r.NewApp(r.account)
		endpoints := map[string]webhook.Webhook{
			"all":     r.add(func(w *webhook.Webhook) { w.URL += "/all"; w.Internal = true }),
			"public":  r.add(func(w *webhook.Webhook) { w.URL += "/public" }),
			"kinds":   r.add(func(w *webhook.Webhook) { w.Kinds = []string{"comment.*", "request.updated:title"} }),
			"app":     r.add(func(w *webhook.Webhook) { w.AppID = &other.ID; w.Internal = true }),
			"comment": r.add(func(w *webhook.Webhook) { w.Kinds = []string{"comment.updated:visibility"}; w.Internal = true }),
		}
		comment := func(v feedback.Visibility) feedback.ID {
			c, err := r.AddComment(ctx, r.account.ID, feedback.Command(), feedback.Comment{RequestID: r.request.ID, Visibility: v, Body: "B"})
			if err != nil {
				t.Fatal(err)
			}
			return c.ID
		}
		edit := func(id feedback.ID, change func(*feedback.Comment)) {
			_, err := r.ChangeComment(ctx, r.account.ID, r.request.ID, id, feedback.Command(), func(c *feedback.Comment) error {
				change(c)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		remove := func(id feedback.ID) {
			err := r.DeleteComment(ctx, r.account.ID, r.request.ID, id, feedback.Command(), func(feedback.Comment) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
		}
		begin := r.last()
		open, closed := comment(feedback.Public), comment(feedback.Internal) // 1, 2
		edit(open, func(c *feedback.Comment) { c.Body = "C" })               // 3
		edit(closed, func(c *feedback.Comment) { c.Body = "C" })             // 4
		edit(closed, func(c *feedback.Comment) { c.Visibility = feedback.Public })
		edit(closed, func(c *feedback.Comment) { c.Body = "D" }) // 6
		edit(open, func(c *feedback.Comment) { c.Visibility = feedback.Internal; c.Body = "E" })
		remove(open)   // 8
		remove(closed) // 9
		r.change(1)    // 10
		_, err := r.ChangeRequest(ctx, r.account.ID, r.request.ID, feedback.Command(), func(q *feedback.Request) error {
			q.Status = "planned"
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		r.NewApp(r.account) // 12
		r.Fill(other, 1)    // 13
		spam := feedback.NewRequest("Spam", "")
		spam.Box = feedback.Quarantine
		if _, err = r.Submit(ctx, store.Submission{App: r.app, Request: spam}); err != nil { // 14
			t.Fatal(err)
		}
		for name, want := range map[string][]int64{
			"all": from(1, 14), "public": {1, 3, 6, 9, 10, 11, 13}, "kinds": {1, 3, 6, 9, 10}, "app": {13}, "comment": {5, 7},
		} {
			for _, w := range endpoints {
				_, err := r.Webhooks.Change(ctx, r.account.ID, feedback.Command(), w.ID, func(w *webhook.Webhook) error {
					w.State = webhook.Paused
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			_, err := r.Webhooks.Change(ctx, r.account.ID, feedback.Command(), endpoints[name].ID, func(w *webhook.Webhook) error {
				w.State = webhook.On
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			var numbers []int64
			for _, number := range r.round() {
				if number -= begin; number >= 1 && (number <= 14 || name == "app") { // the rest are the changes of webhooks
					numbers = append(numbers, number)
				}
			}
			expect(t, name, numbers, want)
			if h := r.get(endpoints[name]).Health; h.Behind != 0 {
				t.Errorf("%s is behind by %d", name, h.Behind)
			}
		}
	})
}

// TestUnknownKinds: while replicas are upgraded, one of the version before delivers nothing to an endpoint
// with kinds that it does not know.
func TestUnknownKinds(t *testing.T) {
	r := newRig(t, storetest.SQLite(t))
	w := r.add(func(w *webhook.Webhook) { w.Kinds = []string{"poll.closed"} })
	r.change(1)
	expect(t, "deliveries", r.round(), []int64{})
	expect(t, "behind", r.get(w).Health.Behind, 1)
}

// TestRotation: for a day after a rotation, both secrets verify.
func TestRotation(t *testing.T) {
	r := newRig(t, storetest.SQLite(t))
	w := r.add(nil)
	secret := func(rotate bool) webhook.Secret {
		s, err := r.Webhooks.Secret(ctx, r.account.ID, feedback.Command(), w.ID, rotate)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	old := secret(false)
	fresh := secret(true)
	if fresh.Secret == old.Secret || old.PreviousUntil != nil || fresh.PreviousUntil == nil || secret(false) == old {
		t.Fatal(old, fresh)
	}
	check := func(oldToo bool) {
		t.Helper()
		r.change(1)
		if err := r.sender.Round(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := r.sender.Test(ctx, r.account.ID, w.ID); err != nil {
			t.Fatal(err)
		}
		got := r.taken()
		if len(got) != 2 {
			t.Fatal(len(got))
		}
		for _, one := range got {
			if !verifies(t, fresh.Secret, one) || verifies(t, old.Secret, one) != oldToo {
				t.Errorf("with the fresh secret %v, with the old one %v", verifies(t, fresh.Secret, one), verifies(t, old.Secret, one))
			}
		}
	}
	check(true)
	r.Clock.Move(24*time.Hour - time.Second)
	check(true)
	r.Clock.Move(time.Second)
	check(false)
	if s := secret(false); s.PreviousUntil != nil {
		t.Error(s)
	}
}

// TestDuringATurn: who rewinds, pauses or deletes an endpoint during a delivery has the last word.
func TestDuringATurn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		w := r.add(nil)
		first := r.last() + 1
		r.change(3)
		during := func(fn func() error) {
			t.Helper()
			done := false
			r.answers(func(http.ResponseWriter, received) {
				r.mu.Lock()
				defer r.mu.Unlock()
				if !done {
					done = true
					if err := fn(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		during(func() error {
			_, err := r.Webhooks.Rewind(ctx, r.account.ID, feedback.Command(), w.ID, first)
			return err
		})
		expect(t, "deliveries", r.round(), from(first, 3))
		if got := r.get(w); got.Health.Position != first || len(r.attempts(w)) != 0 {
			t.Errorf("%+v", got.Health)
		}
		during(func() error {
			_, err := r.Webhooks.Change(ctx, r.account.ID, feedback.Command(), w.ID, func(w *webhook.Webhook) error {
				w.State = webhook.Paused
				return nil
			})
			return err
		})
		expect(t, "after rewinding", r.round(), from(first+1, 2))
		if got := r.get(w); got.State != webhook.Paused || got.Health.Position != first {
			t.Errorf("%+v", got)
		}
		expect(t, "paused", r.round(), []int64{})
		_, err := r.Webhooks.Change(ctx, r.account.ID, feedback.Command(), w.ID, func(w *webhook.Webhook) error {
			w.State = webhook.On
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		r.change(1)
		during(func() error { return r.Webhooks.Remove(ctx, r.account.ID, feedback.Command(), w.ID) })
		r.round()
		if n := r.Count("webhooks") + r.Count("webhook_attempts"); n != 0 {
			t.Errorf("%d rows are left", n)
		}
	})
}

// TestResend: an event is sent again with its id, whatever the kinds and the state of the endpoint.
func TestResend(t *testing.T) {
	r := newRig(t, storetest.SQLite(t))
	w := r.add(func(w *webhook.Webhook) { w.Kinds = []string{"vote.added"} })
	r.change(2)
	number := r.last() - 1
	r.round()
	for attempt := range 2 {
		a, err := r.sender.Resend(ctx, r.account.ID, w.ID, number)
		if err != nil || a.Attempt != attempt+1 || a.Number != number || a.Outcome != "delivered" {
			t.Fatal(a, err)
		}
	}
	got := r.taken()
	if len(got) != 2 || got[0].data.ID != got[1].data.ID || got[0].data.Number != number {
		t.Error(got)
	}
	expect(t, "position", r.get(w).Health.Position, r.last())
	for _, missing := range []int64{1, r.last() + 1} { // number 1 is about the account
		if _, err := r.sender.Resend(ctx, r.account.ID, w.ID, missing); !errors.Is(err, feedback.ErrEventNotFound) {
			t.Error(missing, err)
		}
	}
	if _, err := r.sender.Resend(ctx, r.NewAccount("Globex").ID, w.ID, number); !errors.Is(err, feedback.ErrWebhookNotFound) {
		t.Error(err)
	}
	a, err := r.sender.Test(ctx, r.account.ID, w.ID)
	if one := r.taken(); err != nil || a.Kind != "webhook.test" || len(one) != 1 || one[0].data.Summary != "This is a test from Gatherkit." {
		t.Error(a, err)
	}
}
