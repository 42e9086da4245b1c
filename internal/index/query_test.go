package index_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/search"
	"gatherkit/internal/store/storetest"
)

// queryWords are what requests are made of that are searched for.
var queryWords = []string{"dark", "Darker", "darkest", "mode", "model", "export", "exports", "CSV", "検索", "検索する", "Größe", "x", "100"}

// phrases returns requests of several words each.
func phrases(n int) []feedback.Request {
	random := rand.New(rand.NewPCG(1, 2))
	some := func(least, most int) string {
		var words []string
		for range least + random.IntN(most-least+1) {
			words = append(words, queryWords[random.IntN(len(queryWords))])
		}
		return strings.Join(words, " ")
	}
	requests := make([]feedback.Request, 0, n)
	for i := range n {
		r := feedback.NewRequest(some(1, 4), some(0, 3))
		r.Status = []feedback.Status{feedback.Opened, feedback.Status("planned")}[i%2]
		if i%10 == 0 { // too far back to be found by
			r.Description = strings.Repeat("word ", 24) + "dark mode"
		}
		requests = append(requests, r)
	}
	return requests
}

// found reports whether a request has all the words, the last as the beginning of one.
func found(r feedback.Request, query string) bool {
	has, terms := search.Words(r.Title, r.Description), search.Query(query)
	for i, term := range terms {
		if !slices.ContainsFunc(has, func(word string) bool {
			return word == term || i == len(terms)-1 && strings.HasPrefix(word, term)
		}) {
			return false
		}
	}
	return len(terms) > 0
}

// TestQueries: however rare its words are and whatever else is filtered, a query finds
// the requests that have them, on whatever pages and in whatever order.
func TestQueries(t *testing.T) {
	storetest.FewerChecks(t)
	storetest.EachInTurn(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		apps := []feedback.App{r.NewApp(account), r.NewApp(account), r.NewApp(account)}
		for i, app := range apps {
			for _, request := range phrases(40 * (i + 1)) {
				request.AppID, request.Source = app.ID, "dashboard"
				if i == 1 {
					request.Tags = []string{"T"}
				}
				if _, err := r.AddRequest(ctx, account.ID, feedback.Command(), request); err != nil {
					t.Fatal(err)
				}
			}
		}
		r.Drop(apps[0])
		everything, _, err := r.Index.List(ctx, account.ID, index.Filter{Box: feedback.Live}, index.Page{Sort: index.Newest, Limit: 1000})
		if err != nil || len(everything) != 200 {
			t.Fatalf("%d requests, %v", len(everything), err)
		}
		rapid.Check(t, func(t *rapid.T) {
			f := index.Filter{Box: feedback.Live, Query: strings.Join(rapid.SliceOfN(rapid.SampledFrom(append(queryWords, "da", "exp", "検", "nothing", "%", "_", "…")), 1, 4).Draw(t, "query"), " ")}
			if rapid.Bool().Draw(t, "of an app") {
				f.AppID = &apps[1+rapid.IntRange(0, 1).Draw(t, "app")].ID
			}
			f.Statuses = rapid.SampledFrom([][]feedback.Status{nil, nil, {feedback.Status("planned")}, {feedback.Opened, feedback.Status("planned")}}).Draw(t, "statuses")
			f.Tag = rapid.SampledFrom([]string{"", "", "t"}).Draw(t, "tag")
			f.Source = rapid.SampledFrom([]string{"", "", "dashboard", "widget"}).Draw(t, "source")
			page := index.Page{Sort: rapid.SampledFrom([]index.Sort{index.Newest, index.Oldest, index.MostVoted, index.RecentlyUpdated}).Draw(t, "sort"), Limit: rapid.IntRange(1, 60).Draw(t, "limit")}
			var want []string
			for _, one := range everything {
				if found(one, f.Query) && (f.AppID == nil || one.AppID == *f.AppID) && (f.Statuses == nil || slices.Contains(f.Statuses, one.Status)) &&
					(f.Tag == "" || len(one.Tags) > 0) && cmp.Or(f.Source, "dashboard") == "dashboard" {
					want = append(want, one.ID.String())
				}
			}
			if page.Sort == index.Oldest {
				slices.Reverse(want)
			}
			var got []string
			for {
				rows, total, err := r.Index.List(ctx, account.ID, f, page)
				if err != nil || total.N != int64(len(want)) || !total.Exact {
					t.Fatalf("%+v: %+v in all, want %d, %v", f, total, len(want), err)
				}
				for _, row := range rows {
					got = append(got, row.ID.String())
				}
				if len(rows) < page.Limit {
					break
				}
				last := rows[len(rows)-1]
				page.After = &index.Place{ID: last.ID, Votes: last.Votes, UpdatedAt: last.UpdatedAt}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%+v: found %v, want %v", f, got, want)
			}
		})
	})
}
