package store_test

import (
	"errors"
	"fmt"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/quota"
	"gatherkit/internal/store/storetest"
)

// TestTooManyApps: an account has at most quota.MaxApps apps, and one that is refused leaves nothing behind.
func TestTooManyApps(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		var rows [][]any
		for i := range quota.MaxApps - 2 {
			id := feedback.ID{0xff, byte(i >> 8), byte(i)}
			rows = append(rows, []any{account.ID, id, fmt.Sprint("App ", i), fmt.Sprint("key ", i), "{}", 1, app.CreatedAt, app.CreatedAt})
		}
		r.InsertRows("apps", "account_id, id, name, api_key, settings, version, created_at, updated_at", rows)
		r.NewApp(r.NewAccount("Globex"))
		by := feedback.Actor{Kind: feedback.ByUser, ID: r.UserOf(account)}
		if _, err := r.AddApp(ctx, account.ID, "The last one", by); err != nil {
			t.Fatal(err)
		}
		changes, keys := r.Count("changes"), r.Count("api_keys")
		if _, err := r.AddApp(ctx, account.ID, "One more", by); !errors.Is(err, feedback.ErrTooManyApps) {
			t.Errorf("one more than the last: %v", err)
		}
		if n := r.Count("apps WHERE account_id = $1", account.ID); n != quota.MaxApps {
			t.Errorf("%d apps", n)
		}
		if c, k := r.Count("changes"), r.Count("api_keys"); c != changes || k != keys {
			t.Errorf("%d changes instead of %d, and %d keys instead of %d", c, changes, k, keys)
		}
		if err := r.DeleteApp(ctx, account.ID, app.ID, by); err != nil {
			t.Fatal(err)
		}
		if _, err := r.AddApp(ctx, account.ID, "In its place", by); err != nil {
			t.Error(err)
		}
	})
}
