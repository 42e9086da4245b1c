package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestIdentitySecret: many who ask at once get one secret; the log says who made and
// who rotated it, and never what it is; and it goes with its app.
func TestIdentitySecret(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app, other := r.NewApp(account), r.NewApp(account)
		if none, err := r.IdentitySecret(ctx, account.ID, app.ID); err != nil || none.Keys(r.Clock.Now()) != nil {
			t.Fatalf("before it is made: %+v, %v", none, err)
		}
		ask := func(app feedback.App, rotate bool) feedback.IdentitySecret {
			secret, err := r.MakeIdentitySecret(ctx, account.ID, app.ID, feedback.Command(), rotate)
			if err != nil {
				t.Error(err)
			}
			return secret
		}
		const callers = 20
		var made [callers]feedback.IdentitySecret
		storetest.Crowd(callers, func(i int) { made[i] = ask(app, false) })
		for _, secret := range made {
			if secret != made[0] || secret.Secret == "" || secret.PreviousValidUntil != nil {
				t.Errorf("%+v and %+v", made[0], secret)
			}
		}
		storetest.Crowd(callers, func(i int) { made[i] = ask(app, true) })
		last, err := r.IdentitySecret(ctx, account.ID, app.ID)
		if err != nil || len(last.Keys(r.Clock.Now())) != 2 || *last.PreviousValidUntil != feedback.At(r.Clock.Now().Add(24*time.Hour)) {
			t.Errorf("%+v, %v", last, err)
		}
		kept := ask(other, true)
		if n := r.Count("changes WHERE kind = 'app.identity_secret_created'"); n != 2 {
			t.Errorf("made %d times", n)
		}
		if n := r.Count("changes WHERE kind = 'app.identity_secret_rotated' AND app_id = $1", app.ID); n != callers {
			t.Errorf("rotated %d times", n)
		}
		if n := r.Count("changes WHERE before LIKE '%gis%' OR after LIKE '%gis%'"); n != 0 {
			t.Error("a secret is in the log")
		}

		r.Drop(app)
		if _, err := r.MakeIdentitySecret(ctx, account.ID, app.ID, feedback.Command(), false); !errors.Is(err, feedback.ErrAppNotFound) {
			t.Errorf("of a deleted app: %v", err)
		}
		for more := true; more; {
			if more, err = r.Purge(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if n := r.Count("app_secrets WHERE app_id = $1", app.ID); n != 0 {
			t.Error("it stays when the app is purged")
		}
		if left, err := r.IdentitySecret(ctx, account.ID, other.ID); err != nil || left != kept {
			t.Errorf("the other app has %+v, %v", left, err)
		}
	})
}

// TestVerifiedSubmitter: the verified person is stored, also beside others in one group,
// and never becomes one with somebody unverified who gives the same e-mail or id.
func TestVerifiedSubmitter(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		ada := &feedback.Person{Email: new("Ada@example.com"), ExternalID: new("42"), Verified: true}
		storetest.Crowd(40, func(i int) {
			sent := feedback.NewRequest("T", "")
			sent.Submitter.Email, sent.Submitter.ExternalID = new("ada@example.com"), new("42")
			sub := store.Submission{App: app, Request: sent, IdempotencyKey: strings.Repeat("k", i+1)}
			if i%2 == 0 {
				sub.Identity = ada
			}
			stored, err := r.Submit(ctx, sub)
			if err != nil {
				t.Error(err)
				return
			}
			request, err := r.Request(ctx, account.ID, stored.ID)
			if err != nil || request.Submitter.Verified != (i%2 == 0) {
				t.Errorf("%+v, %v", request.Submitter, err)
			}
			_, key := request.Person()
			if want := map[bool]string{true: "v:42", false: "e:ada@example.com"}[request.Submitter.Verified]; key != want {
				t.Errorf("%s, want %s", key, want)
			}
			sub.Identity = nil // its token may be gone when it is sent again
			if again, err := r.Submit(ctx, sub); err != nil || again.ID != stored.ID {
				t.Errorf("again: %s, %v", again.ID, err)
			}
		})
	})
}
