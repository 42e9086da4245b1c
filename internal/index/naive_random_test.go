package index_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store/storetest"
)

// TestNaive: whatever was changed, and however far the index has followed, each list, total,
// facet and statistic is what reading all rows gives.
func TestNaive(t *testing.T) {
	storetest.FewerChecks(t)
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r, cases, done := storetest.NewRig(t, at), 0, map[string]int{}
		rapid.Check(t, func(t *rapid.T) {
			cases++
			w := newWorld(r, done)
			defer w.forget()
			changes := w.changes()
			for _, of := range w.tenants {
				for range rapid.IntRange(0, 4).Draw(t, "to begin with") {
					if err := w.create(t, of); err != nil {
						t.Fatal(err)
					}
				}
			}
			changes[""] = func(t *rapid.T) {
				if rapid.IntRange(0, 5).Draw(t, "compare") == 0 {
					w.compare(t, w.tenants[rapid.IntRange(0, 1).Draw(t, "account")])
				}
			}
			t.Repeat(changes)
			for _, of := range w.tenants {
				w.compare(t, of)
			}
		})
		for name, n := range done {
			if n == 0 && cases >= 30 {
				t.Errorf("%q was never done", name)
			}
		}
	})
}

// orders are all but that of relevance.
var orders = []index.Sort{index.Newest, index.Oldest, index.MostVoted, index.Trending, index.RecentlyUpdated}

// compare compares random answers about an account with its rows.
func (w *world) compare(t *rapid.T, of *tenant) {
	t.Helper()
	n := readNaive(w.Rig, of.ID)
	for range 2 {
		f := w.filter(t, of, n)
		page := index.Page{
			Sort:  rapid.SampledFrom(orders).Draw(t, "sort"),
			Limit: rapid.IntRange(1, 7).Draw(t, "limit"),
		}
		if rapid.IntRange(0, 3).Draw(t, "from a place on") == 0 && len(n.rows) > 0 {
			page.After = place(n.rows[rapid.IntRange(0, len(n.rows)-1).Draw(t, "after")].Request)
			page.After.Votes += int64(rapid.IntRange(0, 1).Draw(t, "votes then"))
			page.After.Heat *= int64(rapid.IntRange(0, 1).Draw(t, "warm then"))
		}
		if rapid.IntRange(0, 3).Draw(t, "unchanged") == 0 {
			page.Unchanged = new(w.moment(t, n))
		}
		n.compareAll(t, f, page)
	}
	from := w.moment(t, n)
	n.compareStats(t, w.appID(t, of, nil), from, max(w.moment(t, n), from+1000))
}

// moment is about the time of a change, or of a request.
func (w *world) moment(t *rapid.T, n naive) feedback.Time {
	at := feedback.At(w.moments[rapid.IntRange(0, len(w.moments)-1).Draw(t, "moment")])
	if len(n.rows) > 0 && rapid.Bool().Draw(t, "of a request") {
		at = n.rows[rapid.IntRange(0, len(n.rows)-1).Draw(t, "which")].CreatedAt
	}
	beside := rapid.SampledFrom([]time.Duration{0, -time.Millisecond, time.Millisecond, -day, day}).Draw(t, "beside")
	return at + feedback.Time(beside/time.Microsecond)
}

// appID is an app of the account or, rarely, of the other one, or nil.
func (w *world) appID(t *rapid.T, of *tenant, like *naiveRow) *feedback.ID {
	switch rapid.IntRange(0, 9).Draw(t, "whose app") {
	case 0:
		foreign := w.tenants[0].apps[0].ID
		if of == w.tenants[0] {
			foreign = w.tenants[1].apps[0].ID
		}
		return &foreign
	case 1, 2, 3, 4:
		return new(w.app(t, of).ID)
	}
	if like != nil {
		return &like.AppID
	}
	return nil
}

// TestNaiveLimits: of more tags and assignees than are shown, those are shown that have the
// most requests.
func TestNaiveLimits(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app, other := r.NewApp(account), r.NewApp(account)
		var users [][]any
		var ids []feedback.ID
		for i := range 231 {
			ids = append(ids, feedback.FirstIDAt(storetest.BigFirst.Add(time.Duration(i)*time.Millisecond)))
			users = append(users, []any{account.ID, ids[i], fmt.Sprint(i, "@example.com"), "U", "member", "hash", 0})
		}
		r.InsertRows("users", "account_id, id, email, name, role, password_hash, created_at", users)
		storetest.Crowd(260, func(i int) {
			request := feedback.NewRequest("Dark mode", "")
			request.AppID, request.AssigneeID, request.Source = app.ID, &ids[i%230], "api" // the last user has none
			request.Tags = feedback.CleanTags([]string{fmt.Sprint("Tag ", i%110), fmt.Sprint("tag ", i*i%115), fmt.Sprint("TAG ", i%7)})
			if i%20 == 0 {
				request.AssigneeID, request.Box = nil, feedback.Bin
			}
			if i%13 == 0 {
				request.AppID = other.ID
			}
			if _, err := r.AddRequest(ctx, account.ID, feedback.Command(), request); err != nil {
				t.Error(err)
			}
		})
		n := readNaive(r, account.ID)
		var filters []index.Filter
		for _, f := range []index.Filter{
			{},
			{AppID: &app.ID},
			{Unassigned: true},
			{AssigneeID: &ids[1]},
			{AssigneeID: &ids[229]},
			{AssigneeID: &ids[230]},
			{Tag: "tag 0"},
			{Tag: "tag 109"},
			{Tag: "unused"},
			{Query: "mode dar"},
			{Query: "dark", Tag: "tag 109"},
		} {
			f.Box = feedback.Live
			filters = append(filters, f)
		}
		now := r.Clock.Now()
		for range 2 { // before the index knows them, and afterwards
			for _, f := range filters {
				n.compareAll(t, f, index.Page{Sort: index.Newest, Limit: 100})
			}
			for _, app := range []*feedback.ID{nil, &app.ID} {
				n.compareStats(t, app, feedback.At(now.Add(-day)), feedback.At(now.Add(day)))
			}
			r.IndexAll()
		}
	})
}
