package aside_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatherkit/internal/aside"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

var ctx = context.Background()

var errBroken = errors.New("broken")

// rig is a list on a new database.
type rig struct {
	*aside.List
	t     *testing.T
	db    *database.DB
	clock *storetest.Clock
}

func newRig(t *testing.T, at storetest.Place) *rig {
	t.Helper()
	log, clock := slog.New(slog.DiscardHandler), storetest.NewClock()
	db, err := database.Open(ctx, database.Options{
		URL: at.Database, Folder: at.Folder, Migrations: os.DirFS("../store/migrations"), Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return &rig{aside.New(db, log, clock.Now), t, db, clock}
}

// try does work that ends with failed, and returns how long it must wait.
func (r *rig) try(item aside.Item, failed error) time.Duration {
	r.t.Helper()
	at, err := r.Try(ctx, item, func() error {
		if failed != nil {
			return failed
		}
		return r.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error { return aside.Done(ctx, tx, item) })
	})
	if err != nil {
		r.t.Fatal(err)
	}
	if at == 0 {
		return 0
	}
	return at.Std().Sub(r.clock.Now())
}

// want checks which items of a kind are due, and which must wait.
func (r *rig) want(kind aside.Kind, due, waiting []aside.Item) {
	r.t.Helper()
	gotDue, err := r.Due(ctx, kind)
	if err != nil {
		r.t.Fatal(err)
	}
	gotWaiting, err := r.Waiting(ctx, kind)
	if err != nil {
		r.t.Fatal(err)
	}
	if diff := cmp.Diff(due, gotDue, cmpopts.EquateEmpty()); diff != "" {
		r.t.Errorf("due (-want +got):\n%s", diff)
	}
	if len(gotWaiting) != len(waiting) {
		r.t.Errorf("%d items wait, want %d", len(gotWaiting), len(waiting))
	}
	for _, item := range waiting {
		if !gotWaiting[item] {
			r.t.Errorf("%+v does not wait", item)
		}
	}
}

func (r *rig) of(account feedback.ID) []aside.Failure {
	r.t.Helper()
	list, err := r.Of(ctx, account, 10, aside.Digest, aside.Entry, aside.Index, aside.Purge)
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// TestTry: work that fails is tried again after longer and longer times, at least once a day, until it succeeds.
func TestTry(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		item := aside.Item{AccountID: feedback.ID{1}, Kind: aside.Digest, Subject: "ada"}
		if wait := r.try(item, nil); wait != 0 {
			t.Errorf("work that succeeds waits for %v", wait)
		}
		began := feedback.At(r.clock.Now())
		want := []time.Duration{
			time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour,
			24 * time.Hour, 24 * time.Hour, 24 * time.Hour,
		}
		for n, wait := range want {
			if got := r.try(item, errBroken); got != wait {
				t.Errorf("after failure %d it waits for %v, want %v", n+1, got, wait)
			}
			r.want(aside.Digest, nil, []aside.Item{item})
			got := r.of(item.AccountID)
			wanted := []aside.Failure{{
				Item: item, Attempts: n + 1, Since: began, RetryAt: feedback.At(r.clock.Now().Add(wait)), Error: "broken",
			}}
			if diff := cmp.Diff(wanted, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			r.clock.Move(wait)
			r.want(aside.Digest, []aside.Item{item}, nil)
		}
		other := aside.Item{AccountID: feedback.ID{2}, Kind: aside.Digest, Subject: "ada"}
		third := aside.Item{AccountID: feedback.ID{1}, Kind: aside.Index, Subject: "ada"}
		r.try(other, errBroken)
		r.try(third, errBroken)
		r.want(aside.Digest, []aside.Item{item}, []aside.Item{other})
		if list := r.of(item.AccountID); len(list) != 2 {
			t.Errorf("the account has %+v", list)
		}
		if list, err := r.Of(ctx, item.AccountID, 1, aside.Index); err != nil || len(list) != 1 || list[0].Item != third {
			t.Errorf("of one kind it has %+v, %v", list, err)
		}
		if wait := r.try(item, nil); wait != 0 {
			t.Errorf("work that succeeds waits for %v", wait)
		}
		r.want(aside.Digest, nil, []aside.Item{other})
		r.want(aside.Index, nil, []aside.Item{third})
		if wait := r.try(item, errBroken); wait != time.Minute {
			t.Errorf("after it has succeeded, a failure waits for %v", wait)
		}
	})
}

// TestReasons: what both databases cannot store does not keep work from being set aside. Only the first line is stored.
func TestReasons(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		for text, want := range map[string]string{
			"caf\xe9 \x00":               "caf� �",
			"one\ntwo":                   "one",
			strings.Repeat("é", 1000):    strings.Repeat("é", 250),
			"a" + strings.Repeat("é", 9): "a" + strings.Repeat("é", 9),
		} {
			item := aside.Item{AccountID: feedback.ID{1}, Kind: aside.Purge, Subject: "app"}
			r.try(item, errors.New(text)) //nolint:err113 // of a test
			if got := r.of(item.AccountID)[0].Error; got != want {
				t.Errorf("%q is stored as %q", text, got)
			}
		}
		item := aside.Item{AccountID: feedback.ID{2}, Kind: aside.Purge, Subject: "app"}
		if _, err := r.Try(ctx, item, func() error { panic("at the disco") }); err != nil {
			t.Fatal(err)
		}
		if got := r.of(item.AccountID)[0].Error; got != "panic: at the disco" {
			t.Errorf("a panic is stored as %q", got)
		}
	})
}

// TestAway: work that fails because the process ends or the database is away is not set aside.
func TestAway(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		ended, end := context.WithCancel(ctx)
		end()
		item := aside.Item{AccountID: feedback.ID{1}, Kind: aside.Entry, Subject: "entry"}
		if _, err := r.Try(ended, item, func() error { return errBroken }); !errors.Is(err, errBroken) {
			t.Errorf("%v", err)
		}
		if list := r.of(item.AccountID); len(list) != 0 {
			t.Errorf("it was set aside: %+v", list)
		}
	})
}

// TestSweep: what was not tried for days is forgotten.
func TestSweep(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		gone := aside.Item{AccountID: feedback.ID{1}, Kind: aside.Entry, Subject: "gone"}
		tried := aside.Item{AccountID: feedback.ID{1}, Kind: aside.Entry, Subject: "tried"}
		other := aside.Item{AccountID: feedback.ID{2}, Kind: aside.Entry, Subject: "gone"}
		for _, item := range []aside.Item{gone, tried, other} {
			r.try(item, errBroken)
		}
		r.clock.Move(48 * time.Hour)
		r.try(tried, errBroken)
		r.clock.Move(25 * time.Hour)
		if err := r.Sweep(ctx, []feedback.ID{{1}}); err != nil {
			t.Fatal(err)
		}
		r.want(aside.Entry, []aside.Item{other, tried}, nil)
	})
}
