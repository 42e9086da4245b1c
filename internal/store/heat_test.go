package store_test

import (
	"cmp"
	"database/sql/driver"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// heated is what the tables say of a request's heat.
type heated struct {
	id, counts feedback.ID // counts is the request for which its votes count, too
	box        string
	heat       int64
}

// checkHeat compares the heat of an app's requests with that of the votes that count for them, and the list with
// their heat.
func checkHeat(t rapid.TB, r *storetest.Rig, app feedback.App) {
	t.Helper()
	all, err := database.All(ctx, r.Raw, func(row database.Row) (h heated, err error) {
		var root *feedback.ID
		err = row.Scan(&h.id, &root, &h.box, &h.heat)
		if h.counts = h.id; root != nil && h.box != "bin" {
			h.counts = *root
		}
		return h, err
	}, "SELECT id, merged_into_id, box, heat FROM requests WHERE account_id = $1 AND app_id = $2", app.AccountID, app.ID)
	if err != nil {
		t.Fatal(err)
	}
	type vote struct {
		at    feedback.ID
		given feedback.Time
		by    string
	}
	votes, err := database.All(ctx, r.Raw, func(row database.Row) (v vote, err error) {
		err = row.Scan(&v.at, &v.by, &v.given)
		return v, err
	}, "SELECT request_id, person, created_at FROM votes WHERE account_id = $1 ORDER BY created_at", app.AccountID)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		people, latest, weight := map[string]bool{}, 0.0, 0.0
		for _, v := range votes {
			there := func(other heated) bool { return other.id == v.at && (other.id == one.id || other.counts == one.id) }
			if people[v.by] || !slices.ContainsFunc(all, there) {
				continue
			}
			people[v.by] = true
			before := latest
			latest = float64(v.given) / (7 * 24 * 60 * 60 * 1e6)
			weight = weight*math.Pow(2, before-latest) + 1
		}
		want := 0.0
		if weight > 0 {
			want = latest + math.Log2(weight)
		}
		if got := float64(one.heat) / (1 << 40); math.Abs(got-want) > 1.0/(1<<20) || (got == 0) != (want == 0) {
			t.Fatalf("the heat of %s, for which %d people voted: %v, want %v", one.id, len(people), got, want)
		}
	}
	live := slices.DeleteFunc(all, func(h heated) bool { return h.box != "live" })
	slices.SortFunc(live, func(a, b heated) int { return cmp.Or(cmp.Compare(b.heat, a.heat), b.id.Compare(a.id)) })
	page := index.Page{Sort: index.Trending, Limit: 2}
	for at := 0; ; at += page.Limit {
		listed, _, err := r.Index.List(ctx, app.AccountID, index.Filter{AppID: &app.ID, Box: feedback.Live}, page)
		if err != nil || len(listed) != min(page.Limit, len(live)-at) {
			t.Fatalf("the list has %d requests at %d of %d, %v", len(listed), at, len(live), err)
		}
		for i, got := range listed {
			if got.ID != live[at+i].id {
				t.Fatalf("the list has %s at %d, want %s", got.ID, at+i, live[at+i].id)
			}
		}
		if len(listed) < page.Limit {
			return
		}
		last := listed[len(listed)-1]
		page.After = &index.Place{ID: last.ID, Heat: last.Heat}
	}
}

// TestHeat: a vote counts half as much as one that was given a week later, so that the latest votes decide, also after
// others were taken back. The submitter's vote counts from the day of the request on, as soon as there is another vote.
func TestHeat(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		vote := func(id feedback.ID, name string, remove bool) {
			t.Helper()
			ballot := store.Ballot{RequestID: id, Person: feedback.Person{Name: &name}, Source: "dashboard", Remove: remove}
			if _, err := r.Vote(ctx, account.ID, feedback.Command(), ballot); err != nil {
				t.Fatal(err)
			}
		}
		order := func(what string, want ...feedback.Request) {
			t.Helper()
			checkHeat(t, r, app)
			listed, _, err := r.Index.List(ctx, account.ID, index.Filter{Box: feedback.Live}, index.Page{Sort: index.Trending, Limit: 10})
			if err != nil || len(listed) != len(want) {
				t.Fatal(len(listed), err)
			}
			for i := range want {
				if listed[i].ID != want[i].ID {
					t.Errorf("%s: the list has %s at %d, want %s", what, listed[i].Title, i, want[i].Title)
				}
			}
		}
		week := 7 * 24 * time.Hour
		loved := r.Fill(app, 1)
		for i := range 6 {
			vote(loved.ID, fmt.Sprint(i), false)
		}
		r.Clock.Move(week + time.Hour)
		fresh := r.Fill(app, 1)
		vote(fresh.ID, "a", false)
		ignored := r.Fill(app, 1)
		order("seven votes weigh more than two in the next week", loved, fresh, ignored)
		r.Clock.Move(week)
		vote(fresh.ID, "b", false)
		order("another week later", fresh, loved, ignored)
		vote(fresh.ID, "b", true)
		order("without the latest vote", loved, fresh, ignored)
		r.Clock.Move(time.Hour)
		latest := r.Fill(app, 1)
		order("a new one", loved, fresh, latest, ignored)
		vote(ignored.ID, "nobody", true)
		order("nothing has changed", loved, fresh, latest, ignored)
	})
}

// TestHeatOfManyVotes: heat stays precise while it changes vote by vote, and when a vote is removed beside which the
// others hardly count.
func TestHeatOfManyVotes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		wanted := r.Fill(app, 1)
		vote := func(i int, remove bool) {
			name := fmt.Sprint(i)
			ballot := store.Ballot{RequestID: wanted.ID, Person: feedback.Person{Name: &name}, Source: "dashboard", Remove: remove}
			if _, err := r.Vote(ctx, account.ID, feedback.Command(), ballot); err != nil {
				t.Error(err)
			}
		}
		storetest.Crowd(400, func(i int) { vote(i, false) })
		for i := range 60 {
			r.Clock.Move(time.Hour)
			vote(400+i, false)
			vote(i, true)
		}
		checkHeat(t, r, app)
		for _, later := range []time.Duration{3, 20, 100} { // weeks
			for range 20 {
				r.Clock.Move(later * 7 * 24 * time.Hour)
				vote(1000, false)
				checkHeat(t, r, app)
				vote(1000, true)
				checkHeat(t, r, app)
			}
		}
	})
}

// TestVotesUpdateRequestsOnce: the heat is saved with the number of votes, at the first vote for a request and later.
func TestVotesUpdateRequestsOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		id := r.Fill(r.NewApp(account), 1).ID
		var updates atomic.Int64
		s := r.Watched(func(query string, _ []driver.NamedValue) {
			if strings.HasPrefix(query, "UPDATE requests") {
				updates.Add(1)
			}
		})
		for _, remove := range []bool{false, true} {
			for _, name := range []string{"a", "b", "c"} {
				updates.Store(0)
				ballot := store.Ballot{RequestID: id, Person: feedback.Person{Name: &name}, Source: "dashboard", Remove: remove}
				if _, err := s.Vote(ctx, account.ID, feedback.Command(), ballot); err != nil || updates.Load() != 1 {
					t.Errorf("the vote of %s, removed %t: %d updates, %v", name, remove, updates.Load(), err)
				}
			}
		}
	})
}

// TestRecountRepairsHeat: the heat of votes that a version without it has counted comes with the next vote, or with a
// recount, which says nothing of it.
func TestRecountRepairsHeat(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		one, other := r.Fill(app, 1), r.Fill(app, 1)
		for _, id := range []feedback.ID{one.ID, other.ID} {
			for _, name := range []string{"a", "b"} {
				ballot := store.Ballot{RequestID: id, Person: feedback.Person{Name: &name}, Source: "dashboard"}
				if _, err := r.Vote(ctx, account.ID, feedback.Command(), ballot); err != nil {
					t.Fatal(err)
				}
			}
		}
		r.Exec("UPDATE requests SET heat = 0")
		name := "c"
		ballot := store.Ballot{RequestID: one.ID, Person: feedback.Person{Name: &name}, Source: "dashboard"}
		if votes, err := r.Vote(ctx, account.ID, feedback.Command(), ballot); err != nil || votes != 4 {
			t.Fatal(votes, err)
		}
		changes := r.Count("changes")
		wrong, err := r.Recount(ctx)
		if err != nil || len(wrong) > 0 || r.Count("changes") != changes {
			t.Errorf("the recount says %+v, %v", wrong, err)
		}
		checkHeat(t, r, app)
	})
}
