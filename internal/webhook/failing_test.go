package webhook_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/webhook"
)

// untilDue moves the clock to the next attempt of a failing endpoint, and returns how long that is.
func (r *rig) untilDue(w webhook.Webhook) time.Duration {
	r.T.Helper()
	at := r.get(w).Health.RetryAt
	if at == nil {
		r.T.Fatalf("there is no next attempt: %+v", r.get(w))
	}
	wait := at.Std().Sub(r.Clock.Now())
	r.Clock.Move(wait - time.Millisecond)
	expect(r.T, "too early", r.round(), []int64{})
	r.Clock.Move(time.Millisecond)
	return wait
}

// TestEndpointDown: an endpoint that fails gets one attempt at a time, ever later, and everything in order
// once it works again. After five days it is disabled, and continues where it stopped when it is on again.
func TestEndpointDown(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		w := r.add(nil)
		first := r.last() + 1
		r.change(30)
		r.status(http.StatusInternalServerError)
		if n := len(r.round()); n < 1 || n > 8 {
			t.Errorf("%d attempts before it is known that the endpoint fails", n)
		}
		h := r.get(w).Health
		if h.Failures != 1 || h.Behind != 30 || *h.LastError != "The endpoint answered 500 Internal Server Error." || h.LastSuccessAt != nil {
			t.Errorf("%+v", h)
		}
		want := []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour}
		for i, base := range want {
			if wait := r.untilDue(w); wait < base*4/5 || wait > base*6/5 {
				t.Errorf("after %d failures it waits %v", i+1, wait)
			}
			expect(t, "probe", r.round(), from(first, 1))
		}
		r.untilDue(w)
		r.status(http.StatusNoContent)
		expect(t, "a probe works", r.round(), from(first, 1))
		expect(t, "the rest", r.round(), from(first+1, 29))
		if h := r.get(w).Health; h.Behind != 0 || h.Failures != 0 || h.FailingSince != nil || h.LastError != nil || h.LastSuccessAt == nil {
			t.Errorf("%+v", h)
		}
		attempts := r.attempts(w)
		slices.Reverse(attempts)
		for i, a := range attempts {
			probe := a.Number == first && i > 7
			if failed := a.Outcome == "failed"; failed != (a.Error != nil) || failed != (a.Payload != nil) || probe && a.Attempt < 2 {
				t.Errorf("%+v", a)
			}
		}

		r.answers(func(w http.ResponseWriter, _ received) {
			w.Header().Set("Retry-After", "100000")
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		r.change(1)
		began := r.Clock.Now()
		r.round()
		if wait := r.untilDue(w); wait != 24*time.Hour {
			t.Errorf("with Retry-After it waits %v", wait)
		}
		r.status(http.StatusNotFound)
		for r.get(w).State == webhook.On {
			r.round()
			if r.get(w).State == webhook.On {
				r.untilDue(w)
			}
		}
		if d := r.Clock.Now().Sub(began); d < 5*24*time.Hour || d > 7*24*time.Hour {
			t.Errorf("disabled after %v", d)
		}
		entries, _, err := r.Events.Audit(ctx, r.account.ID, 0, 1)
		if err != nil || entries[0].Summary != `The service disabled the webhook "Desk": The endpoint answered 404 Not Found.` {
			t.Error(entries, err)
		}
		r.Clock.Move(30 * 24 * time.Hour)
		r.change(3)
		expect(t, "disabled", r.round(), []int64{})
		r.status(http.StatusOK)
		_, err = r.Webhooks.Change(ctx, r.account.ID, feedback.Command(), w.ID, func(w *webhook.Webhook) error {
			w.State = webhook.On
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		expect(t, "on again", r.round(), append(from(first+30, 1), from(first+32, 3)...))
	})
}

// TestInTheMiddle: what was accepted before a failure is not repeated, and what comes after it waits.
func TestInTheMiddle(t *testing.T) {
	r := newRig(t, storetest.SQLite(t))
	w := r.add(nil)
	first := r.last() + 1
	r.change(100)
	r.answers(func(w http.ResponseWriter, got received) {
		if got.data.Number >= first+50 {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	if n := len(r.round()); n < 51 || n > 58 {
		t.Errorf("%d attempts", n)
	}
	expect(t, "position", r.get(w).Health.Position, first+49)
	r.status(http.StatusOK)
	_, err := r.Webhooks.Change(ctx, r.account.ID, feedback.Command(), w.ID, func(w *webhook.Webhook) error {
		w.Health.RetryAt = nil
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "probe", r.round(), from(first+50, 1))
	expect(t, "rest", r.round(), from(first+51, 49))
}

// TestGone: an endpoint that answers 410 is disabled at once.
func TestGone(t *testing.T) {
	r := newRig(t, storetest.SQLite(t))
	w := r.add(nil)
	r.change(1)
	r.status(http.StatusGone)
	r.round()
	if got := r.get(w); got.State != webhook.Disabled || got.Health.Behind != 2 { // the change, and that it is disabled
		t.Errorf("%+v", got)
	}
}

// TestRefused: an event that is refused does not stop the others. It is sent again on its own schedule.
func TestRefused(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		w := r.add(nil)
		first := r.last() + 1
		refuse := func(numbers ...int64) {
			r.answers(func(w http.ResponseWriter, got received) {
				if slices.Contains(numbers, got.data.Number) {
					w.WriteHeader(http.StatusUnprocessableEntity)
					_, _ = fmt.Fprint(w, "no\x00 \xff")
				}
			})
		}
		refuse(first, first+2)
		r.change(4)
		expect(t, "all", r.round(), from(first, 4))
		if h := r.get(w).Health; h.Behind != 0 || h.SetAside != 2 || h.Failures != 0 || h.LastError != nil {
			t.Errorf("%+v", h)
		}
		for _, a := range r.attempts(w) {
			if a.Outcome == "refused" && (*a.Response != "no� �" || !strings.Contains(*a.Payload, `"request.updated"`)) {
				t.Errorf("%+v", a)
			}
		}
		expect(t, "too early", r.round(), []int64{})
		refuse(first + 2)
		r.Clock.Move(6 * time.Second)
		expect(t, "again", r.round(), []int64{first, first + 2})
		expect(t, "set aside", r.get(w).Health.SetAside, 1)
		attempts := 2
		for ; r.get(w).Health.SetAside > 0 && attempts < 20; attempts++ {
			r.Clock.Move(30 * time.Hour)
			expect(t, "again", r.round(), []int64{first + 2})
		}
		if attempts != 10 {
			t.Errorf("dropped after %d attempts", attempts)
		}

		r.change(1)
		refuse(first + 4)
		r.round()
		refuse()
		if _, err := r.sender.Resend(ctx, r.account.ID, w.ID, first+4); err != nil {
			t.Fatal(err)
		}
		r.taken()
		expect(t, "set aside after it was sent by hand", r.get(w).Health.SetAside, 0)
		r.Clock.Move(time.Hour)
		expect(t, "after it was sent by hand", r.round(), []int64{})
	})
}

// TestNoLongerWanted: an event that is set aside is dropped when the endpoint no longer receives it.
func TestNoLongerWanted(t *testing.T) {
	r := newRig(t, storetest.SQLite(t))
	w := r.add(nil)
	r.status(http.StatusBadRequest)
	r.change(2)
	r.round()
	other := r.NewApp(r.account)
	_, err := r.Webhooks.Change(ctx, r.account.ID, feedback.Command(), w.ID, func(w *webhook.Webhook) error {
		w.AppID = &other.ID
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Clock.Move(time.Hour)
	expect(t, "deliveries", r.round(), []int64{})
	expect(t, "set aside", r.get(w).Health.SetAside, 0)
}

// TestRewindBeforeRefused: an event that was set aside is sent once after the endpoint is rewound to before
// it. Those up to the new position stay set aside.
func TestRewindBeforeRefused(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		w := r.add(nil)
		first := r.last() + 1
		r.change(3)
		r.status(http.StatusUnprocessableEntity)
		expect(t, "refused", r.round(), from(first, 3))
		r.status(http.StatusOK)
		r.Clock.Move(time.Hour)
		got, err := r.Webhooks.Rewind(ctx, r.account.ID, feedback.Command(), w.ID, first)
		if err != nil || got.Health.SetAside != 1 || got.Health.Position != first {
			t.Fatalf("%+v, %v", got.Health, err)
		}
		var after []int64
		for _, number := range r.round() {
			if number < first+3 { // the last is the change of the webhook
				after = append(after, number)
			}
		}
		expect(t, "after rewinding", after, []int64{first, first + 1, first + 2})
		expect(t, "set aside", r.get(w).Health.SetAside, 0)
	})
}

// TestRefusesEverything: an endpoint that refuses everything does not fill the database.
func TestRefusesEverything(t *testing.T) {
	r := newRig(t, storetest.SQLite(t))
	w := r.add(nil)
	r.change(1_100)
	r.status(http.StatusBadRequest)
	for range 5 {
		r.round()
	}
	h := r.get(w).Health
	if h.SetAside != 1_000 || h.Failures != 1 || h.Behind != 100 || *h.LastError != "The endpoint answered 400 Bad Request." {
		t.Errorf("%+v", h)
	}
	// What was set aside is sent first, because it needs the places.
	r.taken()
	r.status(http.StatusOK)
	r.untilDue(w)
	expect(t, "probe", len(r.round()), 1)
	if h := r.get(w).Health; h.SetAside != 999 || h.Failures != 0 || h.Behind != 100 {
		t.Errorf("%+v", h)
	}
}

// TestRemoved: with a request or an app, what the endpoints have of it goes.
func TestRemoved(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		w := r.add(nil)
		r.status(http.StatusBadRequest)
		r.change(2)
		r.round()
		r.ChangeRequest(ctx, r.account.ID, r.request.ID, feedback.Command(), func(q *feedback.Request) error { //nolint:errcheck // checked below
			q.Box = feedback.Bin
			return nil
		})
		r.Clock.Move(31 * 24 * time.Hour)
		if err := r.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		if n := r.Count("webhook_retries") + r.Count("webhook_attempts WHERE request_id IS NOT NULL"); n != 0 {
			t.Errorf("%d rows are left", n)
		}
		r.Exec("INSERT INTO webhook_attempts (account_id, webhook_id, id, seq, events, event_id, kind, request_id, attempt, outcome, took)"+
			" VALUES ($1, $2, $3, 1, 1, 'evt', 'request.updated', $4, 1, 'refused', 1)", r.account.ID, w.ID,
			feedback.FirstIDAt(r.Clock.Now().Add(-time.Minute)), r.request.ID)
		if err := r.Webhooks.Prune(ctx); err != nil {
			t.Fatal(err)
		}
		if n := r.Count("webhook_attempts WHERE request_id IS NOT NULL"); n != 0 {
			t.Errorf("%d attempts that were stored too late are left", n)
		}
		r.status(http.StatusOK)
		r.round()
		if got := r.get(w); got.Health.Behind != 0 || got.Health.SetAside != 0 {
			t.Errorf("%+v", got.Health)
		}
		limited := r.add(func(w *webhook.Webhook) { w.AppID = &r.app.ID })
		r.Drop(r.app)
		if _, err := r.Webhooks.Get(ctx, r.account.ID, limited.ID); !errors.Is(err, feedback.ErrWebhookNotFound) {
			t.Error(err)
		}
		r.get(w)
	})
}

// TestPrune: the delivery log keeps failures for 30 days, the rest for 7, and 10,000 attempts.
func TestPrune(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		w := r.add(nil)
		r.change(3)
		r.answers(func(w http.ResponseWriter, got received) {
			if got.data.Number == r.last() {
				w.WriteHeader(http.StatusBadRequest)
			}
		})
		r.round()
		kept := func(after time.Duration, want int) {
			t.Helper()
			r.Clock.Move(after)
			if err := r.Webhooks.Prune(ctx); err != nil {
				t.Fatal(err)
			}
			expect(t, "kept", len(r.attempts(w)), want)
		}
		const day = 24 * time.Hour
		kept(7*day, 3)
		kept(time.Millisecond, 1)
		kept(23*day-time.Millisecond, 1)
		kept(time.Millisecond, 0)
		var rows [][]any
		ids := feedback.NewIDs(r.Clock.Now, strings.NewReader(strings.Repeat("r", 1<<20)))
		for i := range 10_500 {
			rows = append(rows, []any{r.account.ID, w.ID, ids.New(), i, 1, "evt", "vote.added", 1, "delivered", 0})
		}
		r.InsertRows("webhook_attempts", "account_id, webhook_id, id, seq, events, event_id, kind, attempt, outcome, took", rows)
		kept(0, 1_000) // the list shows no more
		expect(t, "rows", r.Count("webhook_attempts"), 10_000)
		expect(t, "the newest", r.attempts(w)[0].Number, 10_499)
	})
}

// TestTurnsThatFailHere: a turn that fails in this service, not at the endpoint, is tried again later and less and less
// often. Its account sees it, and other endpoints go on.
func TestTurnsThatFailHere(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		broken := r.add(nil)
		mend := r.Refuses("INSERT", "webhook_attempts", "new.webhook_id = "+r.Literal(broken.ID))
		first := r.last() + 1
		r.change(1)
		sound := r.add(nil)
		r.change(1)
		r.round()
		h := r.get(broken).Health
		if h.Failures != 1 || h.FailingSince == nil || *h.LastError != "This service failed before or after the call. Its log says why." {
			t.Errorf("%+v", h)
		}
		if h := r.get(sound).Health; h.Failures != 0 || h.LastSuccessAt == nil || h.Behind != 0 {
			t.Errorf("the other has %+v", h)
		}
		for _, base := range []time.Duration{5 * time.Second, 5 * time.Minute} {
			if wait := r.untilDue(broken); wait < base*4/5 || wait > base*6/5 {
				t.Errorf("it waits %v", wait)
			}
			r.round()
		}
		mend()
		r.untilDue(broken)
		expect(t, "a probe", r.round(), from(first, 1))
		r.round()
		if h := r.get(broken).Health; h.Failures != 0 || h.LastError != nil || h.Behind != 0 {
			t.Errorf("%+v", h)
		}
	})
}
