package index_test

import (
	"fmt"
	"slices"
	"strings"
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

// compare compares random answers about an account with its rows.
func (w *world) compare(t *rapid.T, of *tenant) {
	t.Helper()
	n := readNaive(w.Rig, of.ID)
	for range 2 {
		f := w.filter(t, of, n)
		page := index.Page{
			Sort:  rapid.SampledFrom([]index.Sort{index.Newest, index.Oldest, index.MostVoted, index.RecentlyUpdated}).Draw(t, "sort"),
			Limit: rapid.IntRange(1, 7).Draw(t, "limit"),
		}
		if rapid.IntRange(0, 3).Draw(t, "from a place on") == 0 && len(n.rows) > 0 {
			page.After = place(n.rows[rapid.IntRange(0, len(n.rows)-1).Draw(t, "after")].Request)
			page.After.Votes += int64(rapid.IntRange(0, 1).Draw(t, "votes then"))
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
	return at + feedback.Time(rapid.SampledFrom([]time.Duration{0, -time.Millisecond, time.Millisecond, -day, day}).Draw(t, "beside")/time.Microsecond)
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

// filter draws a filter with any of its fields, usually one that a certain request matches.
func (w *world) filter(t *rapid.T, of *tenant, n naive) index.Filter {
	var like *naiveRow
	if len(n.rows) > 0 && rapid.IntRange(0, 4).Draw(t, "any") > 0 {
		like = &n.rows[rapid.IntRange(0, len(n.rows)-1).Draw(t, "like")]
	}
	f := index.Filter{Box: rapid.SampledFrom([]feedback.Box{feedback.Live, feedback.Live, feedback.Quarantine, feedback.Bin}).Draw(t, "box")}
	if like != nil {
		f.Box = like.Box
	}
	few := rapid.SampledFrom([]int{0, 1, 1, 1, 2, 2, 3, 5, 8}).Draw(t, "fields")
	for range few {
		w.condition(t, of, n, like, &f)
	}
	if f.Query != "" && rapid.IntRange(0, 9).Draw(t, "outside of live ones") > 0 {
		f.Box = feedback.Live
	}
	return f
}

// condition draws a condition of a filter.
func (w *world) condition(t *rapid.T, of *tenant, n naive, like *naiveRow, f *index.Filter) {
	switch rapid.IntRange(0, 8).Draw(t, "field") {
	case 0:
		f.AppID = w.appID(t, of, like)
	case 1:
		f.Statuses = rapid.SliceOfNDistinct(rapid.SampledFrom(feedback.Statuses()), 1, 3, rapid.ID[feedback.Status]).Draw(t, "statuses")
		if like != nil && !slices.Contains(f.Statuses, like.Status) {
			f.Statuses[0] = like.Status
		}
	case 2:
		f.Tag = feedback.FoldTag(rapid.SampledFrom(append(naiveTags, "new", "unused")).Draw(t, "tag"))
		if like != nil && len(like.Tags) > 0 {
			f.Tag = feedback.FoldTag(like.Tags[0])
		}
	case 3:
		f.Unassigned, f.AssigneeID = false, w.user(t, of)
		if like != nil {
			f.AssigneeID = like.AssigneeID
		}
		f.Unassigned = f.AssigneeID == nil
	case 4:
		f.Source = rapid.SampledFrom(naiveSources).Draw(t, "source")
		if like != nil {
			f.Source = like.Source
		}
	case 5:
		f.CreatedAfter = new(w.moment(t, n))
		if like != nil && rapid.Bool().Draw(t, "then") {
			f.CreatedAfter = &like.CreatedAt
		}
	case 6:
		f.CreatedBefore = new(w.moment(t, n))
		if like != nil && rapid.Bool().Draw(t, "until then") {
			f.CreatedBefore = new(like.CreatedAt + 1000)
		}
	default: // twice as often as the others
		f.Query = query(t, like)
	}
}

// query draws up to three words, the last of which may be the beginning of one.
func query(t *rapid.T, like *naiveRow) string {
	from := append(slices.Clone(naiveWords), "nothing", "word", "%", "_", "…")
	if like != nil && len(like.words) > 0 {
		from = like.words
	}
	some := rapid.SliceOfN(rapid.SampledFrom(from), 1, 3).Draw(t, "query")
	last := []rune(some[len(some)-1])
	if rapid.Bool().Draw(t, "a prefix") {
		some[len(some)-1] = string(last[:rapid.IntRange(1, len(last)).Draw(t, "letters")])
	}
	return strings.Join(some, " ")
}

// TestNaiveLimits: of more tags and assignees than are shown, those are shown that have the
// most requests.
func TestNaiveLimits(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
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
			if _, err := r.AddRequest(ctx, account.ID, feedback.Command(), request); err != nil {
				t.Error(err)
			}
		})
		n := readNaive(r, account.ID)
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
			n.compareAll(t, f, index.Page{Sort: index.Newest, Limit: 100})
		}
		now := r.Clock.Now()
		n.compareStats(t, nil, feedback.At(now.Add(-day)), feedback.At(now.Add(day)))
	})
}
