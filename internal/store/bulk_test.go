package store_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestBulkBesideSubmissions: others' submissions go on while ten thousand requests
// change, and all are counted where they are. A submission that waits for too long is
// told to come again, and does. With the race detector it is a fifth of them, for time.
func TestBulkBesideSubmissions(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		size := store.MaxBulk
		if storetest.RaceDetector {
			size /= 5
		}
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app, other := r.NewApp(account), r.NewApp(account)
		requests := make([]feedback.Request, size)
		for i := range requests {
			requests[i] = feedback.NewRequest("T", "")
			requests[i].Votes = 1
		}
		r.InsertRequests(app, requests)
		r.Analyze()
		var done atomic.Bool
		var submitted [2]atomic.Int64
		var wg sync.WaitGroup
		for caller := range 8 {
			wg.Go(func() {
				for n := 0; !done.Load(); n++ {
					sub := store.Submission{
						App: []feedback.App{other, app}[caller%2], Request: feedback.NewRequest("U", ""), IdempotencyKey: fmt.Sprint(caller, ".", n),
					}
					_, err := r.Submit(ctx, sub)
					for r.Unavailable(err) {
						_, err = r.Submit(ctx, sub)
					}
					if err != nil {
						t.Error(err)
						return
					}
					submitted[caller%2].Add(1)
				}
			})
		}
		filter := index.Filter{AppID: &app.ID, Box: feedback.Live, Statuses: []feedback.Status{"planned"}}
		ids := r.IDs(app)[:size]
		before := submitted[0].Load()
		for _, c := range []struct {
			bulk   store.Bulk
			status feedback.Status
			tags   []string
		}{
			{store.Bulk{IDs: ids}, "planned", []string{"A", "B"}},
			{store.Bulk{Filter: filter, Expected: int64(size)}, "declined", []string{"b"}},
		} {
			change := func(r *feedback.Request) error {
				r.Apply(feedback.RequestChange{Status: &c.status, Tags: &c.tags})
				return nil
			}
			n, err := r.ChangeRequests(ctx, account.ID, c.bulk, feedback.Command(), change)
			for r.Unavailable(err) {
				n, err = r.ChangeRequests(ctx, account.ID, c.bulk, feedback.Command(), change)
			}
			if err != nil || n != size {
				t.Fatalf("%d changed, %v", n, err)
			}
		}
		done.Store(true)
		wg.Wait()
		if submitted[0].Load() == before {
			t.Error("nobody has submitted meanwhile")
		}
		if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
			t.Errorf("wrong counters: %v, %v", wrong, err)
		}
		for from, want := range map[string]int{
			"requests WHERE status = 'declined' AND version = 3": size,
			"request_tags WHERE tag = 'b' AND label = 'b'":       size,
			"request_tags":                                            size,
			"changes WHERE kind = 'request.updated'":                  2 * size,
			"requests WHERE status = 'opened' AND tags = '[]'":        int(submitted[0].Load() + submitted[1].Load()),
			"requests WHERE status = 'declined' AND tags = '[\"b\"]'": size,
		} {
			if n := r.Count(from); n != want {
				t.Errorf("%d %s, want %d", n, from, want)
			}
		}
	})
}

// TestBulkParts: many requests change although the caller leaves, except those that no longer fit when their turn comes.
// What others have changed meanwhile stays.
func TestBulkParts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app, gone := r.NewApp(account), r.NewApp(account)
		const size = 1_300
		requests := make([]feedback.Request, size)
		for i := range requests {
			requests[i] = feedback.NewRequest("T", "")
		}
		r.InsertRequests(app, requests)
		r.InsertRequests(gone, requests[:1])
		ids := r.IDs(app)
		last, tagged, merged := ids[size-1], ids[size-2], ids[size-3]
		by := feedback.Command()
		ctx, leave := context.WithCancel(ctx)
		meanwhile := func() {
			leave()
			_, err := r.ChangeRequest(t.Context(), account.ID, last, by, func(r *feedback.Request) error {
				r.Box = feedback.Bin
				return nil
			})
			_, tagErr := r.ChangeRequest(t.Context(), account.ID, tagged, by, func(r *feedback.Request) error {
				r.Tags = []string{"new"}
				return nil
			})
			_, mergeErr := r.MergeRequest(t.Context(), account.ID, merged, ids[0], by)
			if err := errors.Join(err, tagErr, mergeErr, r.DeleteApp(t.Context(), account.ID, gone.ID, by)); err != nil {
				t.Fatal(err)
			}
		}
		checked := 0
		n, err := r.ChangeRequests(ctx, account.ID, store.Bulk{IDs: append(ids, r.IDs(gone)...)}, by, func(r *feedback.Request) error {
			checked++
			if checked == size+1 {
				meanwhile()
			}
			if r.Box == feedback.Bin {
				return feedback.ErrRequestNotFound
			}
			r.Status, r.Tags = "planned", append(slices.Clone(r.Tags), "all")
			return nil
		})
		if err != nil || n != size-2 {
			t.Errorf("%d changed, %v, want %d", n, err, size-2)
		}
		for _, c := range []struct {
			id     feedback.ID
			status feedback.Status
			tags   []string
		}{
			{ids[0], "planned", []string{"all"}}, {last, "opened", nil}, {tagged, "planned", []string{"new", "all"}}, {merged, "duplicate", nil},
		} {
			now, err := r.Request(t.Context(), account.ID, c.id)
			if storetest.Except(err, feedback.ErrRequestNotFound) != nil || now.Status != c.status || !slices.Equal(now.Tags, c.tags) {
				t.Errorf("%v has the status %s and the tags %q, %v", c.id, now.Status, now.Tags, err)
			}
		}
		if n := r.Count("changes WHERE kind = 'request.updated' AND request_id IS NOT NULL"); n != size-2+1 {
			t.Errorf("%d changes are in the log", n)
		}
		if wrong, err := r.Recount(t.Context()); err != nil || len(wrong) > 0 {
			t.Errorf("wrong counters: %v, %v", wrong, err)
		}
	})
}

// TestBulkAllOrNone: if the change does not fit one of many requests, or one does not exist, none changes.
func TestBulkAllOrNone(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		r.InsertRequests(app, slices.Repeat([]feedback.Request{feedback.NewRequest("T", "")}, 1_300))
		ids := r.IDs(app)
		failed := errors.New("it does not fit")
		change := func(r *feedback.Request) error {
			if r.Status = "planned"; r.ID == ids[1_299] {
				return failed
			}
			return nil
		}
		for _, bulk := range []store.Bulk{{IDs: ids}, {Filter: index.Filter{Box: feedback.Live}, Expected: 1_300}} {
			if _, err := r.ChangeRequests(ctx, account.ID, bulk, feedback.Command(), change); !errors.Is(err, failed) {
				t.Errorf("%v, want the error of the change", err)
			}
		}
		unknown := slices.Concat(ids[:1_299], []feedback.ID{account.ID})
		_, err := r.ChangeRequests(ctx, account.ID, store.Bulk{IDs: unknown}, feedback.Command(), change)
		if !errors.Is(err, feedback.ErrRequestNotFound) {
			t.Errorf("%v, want that one was not found", err)
		}
		if n := r.Count("requests WHERE status = 'planned' OR version > 1"); n != 0 {
			t.Errorf("%d have changed", n)
		}
	})
}

// TestBulkExpectsAll: a filter that matches fewer requests than are expected, or more,
// changes none of them.
func TestBulkExpectsAll(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app, empty := r.NewApp(account), r.NewApp(account)
		r.Fill(app, 3)
		for _, c := range []struct {
			filter   index.Filter
			expected int64
			changed  int
			refused  bool
		}{
			{index.Filter{}, 0, 0, true},
			{index.Filter{}, 2, 0, true},
			{index.Filter{}, 4, 0, true},
			{index.Filter{AppID: &empty.ID}, 1, 0, true},
			{index.Filter{AppID: &empty.ID}, 0, 0, false},
			{index.Filter{Query: "nowhere"}, 1, 0, true},
			{index.Filter{Query: "nowhere"}, 0, 0, false},
			{index.Filter{}, 3, 3, false},
		} {
			c.filter.Box = feedback.Live
			bulk := store.Bulk{Filter: c.filter, Expected: c.expected}
			changed, err := r.ChangeRequests(ctx, account.ID, bulk, feedback.Command(), func(r *feedback.Request) error {
				r.Status = "planned"
				return nil
			})
			if errors.Is(err, feedback.ErrCountMismatch) != c.refused || err != nil && !c.refused || changed != c.changed {
				t.Errorf("%d expected: %d changed, %v, want %d", c.expected, changed, err, c.changed)
			}
			if n := r.Count("requests WHERE status = 'planned'"); n != c.changed {
				t.Errorf("%d expected: %d are different, want %d", c.expected, n, c.changed)
			}
		}
	})
}

// TestBulkKeepsOthersChanges: a bulk change waits for a change of one of its requests
// that is not committed yet, and changes what that has made of it. Only PostgreSQL lets
// two transactions write at once.
func TestBulkKeepsOthersChanges(t *testing.T) {
	r := storetest.NewRig(t, storetest.Place{Name: "postgres", Database: storetest.Postgres(t)})
	account := r.NewAccount("Acme")
	tag := func(name string) func(*feedback.Request) error {
		return func(r *feedback.Request) error {
			r.Tags = append(slices.Clone(r.Tags), name)
			return nil
		}
	}
	for name, bulk := range map[string]func(feedback.App, feedback.Request) store.Bulk{
		"ids": func(_ feedback.App, one feedback.Request) store.Bulk { return store.Bulk{IDs: []feedback.ID{one.ID}} },
		"filter": func(app feedback.App, _ feedback.Request) store.Bulk {
			return store.Bulk{Filter: index.Filter{Box: feedback.Live, AppID: &app.ID}, Expected: 1}
		},
	} {
		t.Run(name, func(t *testing.T) {
			app := r.NewApp(account)
			one := r.Fill(app, 1)
			saved, goOn := make(chan struct{}), make(chan struct{})
			slow := r.Watched(func(query string, _ []driver.NamedValue) {
				if strings.HasPrefix(query, "INSERT INTO account_seq") { // the row is saved, the commit comes next
					close(saved)
					<-goOn
				}
			})
			results := make(chan error, 2)
			go func() {
				_, err := slow.ChangeRequest(ctx, account.ID, one.ID, feedback.Command(), tag("first"))
				results <- err
			}()
			<-saved
			go func() {
				_, err := r.ChangeRequests(ctx, account.ID, bulk(app, one), feedback.Command(), tag("second"))
				results <- err
			}()
			untilBlocked(r)
			close(goOn)
			if err := errors.Join(<-results, <-results); err != nil {
				t.Fatal(err)
			}
			now, err := r.Request(ctx, account.ID, one.ID)
			if err != nil || !slices.Equal(now.Tags, []string{"first", "second"}) || now.Version != 3 {
				t.Errorf("version %d has the tags %q, %v", now.Version, now.Tags, err)
			}
			if n := r.Count("request_tags WHERE request_id = $1", one.ID); n != 2 {
				t.Errorf("the request is found by %d tags", n)
			}
		})
	}
}

// TestBulkOfMergedRequests: none of many requests changes when one of them is merged and
// would get another status; and where people count is settled when one goes to the bin.
func TestBulkOfMergedRequests(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		root, merged, alone := r.Fill(app, 1), r.Fill(app, 1), r.Fill(app, 1)
		if _, err := r.MergeRequest(ctx, account.ID, merged.ID, root.ID, feedback.Command()); err != nil {
			t.Fatal(err)
		}
		bulk := store.Bulk{IDs: []feedback.ID{merged.ID, alone.ID}}
		_, err := r.ChangeRequests(ctx, account.ID, bulk, feedback.Command(), func(r *feedback.Request) error {
			r.Status = "planned"
			return nil
		})
		if now, readErr := r.Request(ctx, account.ID, alone.ID); !errors.Is(err, feedback.ErrMerged) || readErr != nil || now.Version != 1 {
			t.Errorf("%v, and %+v, %v", err, now, readErr)
		}
		for box, votes := range map[feedback.Box]int64{feedback.Bin: 1, feedback.Live: 2} {
			bulk.IDs = []feedback.ID{merged.ID, root.ID}
			if box == feedback.Bin {
				bulk.IDs = bulk.IDs[:1]
			}
			if _, err := r.ChangeRequests(ctx, account.ID, bulk, feedback.Command(), func(r *feedback.Request) error {
				r.Box = box
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			now, err := r.Request(ctx, account.ID, root.ID)
			if err != nil || now.Votes != votes {
				t.Errorf("%d votes while the merged one lies in %s, %v, want %d", now.Votes, box, err, votes)
			}
		}
		if wrong, err := r.Recount(ctx); err != nil || len(wrong) > 0 {
			t.Errorf("wrong counters: %v, %v", wrong, err)
		}
	})
}
