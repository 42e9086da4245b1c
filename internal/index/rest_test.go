package index_test

import (
	"database/sql/driver"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestFollowerRests: while no log grows, a follower does not ask which accounts have changes. It asks again when one has
// grown, half a minute later, and if the clock was wrong.
func TestFollowerRests(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		asked := 0
		follower := r.Watched(func(query string, _ []driver.NamedValue) {
			if strings.Contains(query, "LEFT JOIN index_followed") {
				asked++
			}
		}).Index.Follower()
		step := func(what string, asks, followed int) {
			t.Helper()
			asked = 0
			for more := true; more; {
				var err error
				if more, err = follower.Step(ctx, index.Chunk, 1); err != nil {
					t.Fatal(err)
				}
			}
			if n := r.Count("index_ids"); asked != asks || n != followed {
				t.Errorf("%s: it asks %d times, want %d, and has followed the requests of %d apps, want %d", what, asked, asks, n, followed)
			}
		}
		step("at first", 2, 0)
		step("nothing is new", 0, 0)
		submit := func() {
			t.Helper()
			if _, err := r.Submit(ctx, store.Submission{App: app, Request: feedback.NewRequest("T", "")}); err != nil {
				t.Fatal(err)
			}
		}
		submit()
		step("a request", 2, 1)
		step("nothing is new after it", 0, 1)
		again := func() { r.Exec("UPDATE index_followed SET seq = 0") }
		again()
		step("another process begins anew", 0, 1)
		r.Clock.Move(29 * time.Second)
		step("29 seconds later", 0, 1)
		r.Clock.Move(time.Second)
		step("half a minute later", 2, 1)
		again()
		r.Clock.Move(-time.Hour)
		step("with another clock", 2, 1)
		app = r.NewApp(r.NewAccount("Other"))
		step("an account", 2, 1)
		submit()
		step("its request", 2, 2)
		// The sum of all entries is the same afterwards.
		r.Exec("UPDATE account_seq SET last = last + 1 WHERE account_id = $1", account.ID)
		r.Exec("UPDATE account_seq SET last = last - 1 WHERE account_id <> $1", account.ID)
		step("a log grows while another one shrinks", 0, 2)
		r.Clock.Move(30 * time.Second)
		step("half a minute after that", 2, 2)
	})
}
