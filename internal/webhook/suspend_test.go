package webhook_test

import (
	"slices"
	"testing"

	"gatherkit/internal/store/storetest"
	"gatherkit/internal/webhook"
)

// TestSuspended: nothing is delivered for a suspended account. When it is resumed, its webhooks get what they missed.
func TestSuspended(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		r.add(func(*webhook.Webhook) {})
		r.change(2)
		if n := r.round(); len(n) != 2 {
			t.Fatalf("before: %v", n)
		}
		if _, err := r.Team.Suspend(ctx, r.account.ID); err != nil {
			t.Fatal(err)
		}
		r.change(1)
		last := r.last()
		if n := r.round(); len(n) != 0 {
			t.Errorf("while the account is suspended: %v", n)
		}
		if _, err := r.Team.Resume(ctx, r.account.ID); err != nil {
			t.Fatal(err)
		}
		if n := r.round(); !slices.Contains(n, last) {
			t.Errorf("when it is resumed: %v, want %d", n, last)
		}
	})
}
