package store_test

import (
	"database/sql/driver"
	"strings"
	"sync"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestBin: what has been in the bin for 30 days is gone with its history; what was
// restored or binned later stays.
func TestBin(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		old, restored, later, quarantined := r.Fill(app, 1), r.Fill(app, 1), r.Fill(app, 1), r.Fill(app, 1)
		move := func(request feedback.Request, box feedback.Box) {
			t.Helper()
			if _, err := r.ChangeRequest(ctx, account.ID, request.ID, feedback.Command(), func(r *feedback.Request) error {
				r.Box = box
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		move(old, feedback.Bin)
		move(restored, feedback.Bin)
		move(restored, feedback.Live)
		move(quarantined, feedback.Quarantine)
		r.Clock.Move(30 * 24 * time.Hour)
		move(later, feedback.Bin)
		r.Clock.Move(time.Millisecond)
		if err := r.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		for request, want := range map[feedback.ID]int{old.ID: 0, restored.ID: 1, later.ID: 1, quarantined.ID: 1} {
			if n := r.Count("requests WHERE account_id = $1 AND id = $2", account.ID, request); n != want {
				t.Errorf("%d rows, want %d", n, want)
			}
			if n := r.Count("changes WHERE account_id = $1 AND request_id = $2", account.ID, request); (n > 0) != (want > 0) {
				t.Errorf("%d entries in the log of a request of which %d are left", n, want)
			}
		}
		if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
			t.Errorf("miscounted: %v, %v", wrong, err)
		}
	})
}

// TestRestoreBesideSweep: a request that is restored while the sweep that would remove it
// is under way stays, with all that belongs to it. Only PostgreSQL lets two transactions
// write at once.
func TestRestoreBesideSweep(t *testing.T) {
	r := storetest.NewRig(t, storetest.Place{Name: "postgres", Database: storetest.Postgres(t)})
	account := r.NewAccount("Acme")
	app := r.NewApp(account)
	restored, gone := r.Fill(app, 1), r.Fill(app, 1)
	email := "a@example.com"
	ballot := store.Ballot{RequestID: restored.ID, Person: feedback.Person{Email: &email}, Source: "dashboard"}
	if _, err := r.Vote(ctx, account.ID, feedback.Command(), ballot); err != nil {
		t.Fatal(err)
	}
	move := func(id feedback.ID, box feedback.Box) {
		t.Helper()
		if _, err := r.ChangeRequest(ctx, account.ID, id, feedback.Command(), func(r *feedback.Request) error {
			r.Box = box
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	move(restored.ID, feedback.Bin)
	move(gone.ID, feedback.Bin)
	r.Clock.Move(31 * 24 * time.Hour)
	var once sync.Once
	slow := r.Watched(func(query string, _ []driver.NamedValue) {
		if strings.HasPrefix(query, "INSERT INTO request_counts") { // what is old has been read, the gate comes next
			once.Do(func() { move(restored.ID, feedback.Live) })
		}
	})
	if err := slow.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	now, err := r.Request(ctx, account.ID, restored.ID)
	_, entries, historyErr := r.History(ctx, account.ID, restored.ID, 0, 1)
	if err != nil || historyErr != nil || now.Votes != 2 || entries != now.Version {
		t.Errorf("the restored one has %d votes and %d entries of version %d, %v, %v", now.Votes, entries, now.Version, err, historyErr)
	}
	if n := r.Count("requests WHERE id = $1", gone.ID); n != 0 {
		t.Error("the other one is still in the bin")
	}
	if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
		t.Errorf("miscounted: %v, %v", wrong, err)
	}
}
