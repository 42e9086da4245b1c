package index_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store/storetest"
)

// soon is far longer than an answer takes, and far shorter than one that reads each request
// once for each other one.
const soon = 5 * time.Second

// filled is a rig with an app of many requests, each with the title and the tags that fill
// returns. The index has followed them.
func filled(t *testing.T, at storetest.Place, size int, fill func(i int) (title string, tags []string)) (*storetest.Rig, feedback.App) {
	t.Helper()
	if !freshAtOnce {
		t.Skip("this does not end")
	}
	r := storetest.NewRig(t, at)
	app := r.NewApp(r.NewAccount("Acme"))
	requests := make([]feedback.Request, size)
	for i := range requests {
		title, tags := fill(i)
		requests[i] = feedback.NewRequest(title, "")
		requests[i].Tags = tags
	}
	r.InsertRequests(app, requests)
	r.IndexAll()
	r.Analyze()
	return r, app
}

// bounded calls a function with a context that ends soon.
func bounded(t *testing.T, what string, call func(context.Context) error) {
	t.Helper()
	limited, stop := context.WithTimeout(ctx, soon)
	defer stop()
	if err := call(limited); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// TestFacetsOfAFrequentWord: the facets of a word that most requests of a large app have.
func TestFacetsOfAFrequentWord(t *testing.T) {
	storetest.EachInTurn(t, func(t *testing.T, at storetest.Place) {
		const size, frequent = 12_000, 9093
		r, app := filled(t, at, size, func(i int) (string, []string) {
			title := fmt.Sprint("Other ", i)
			if i*7919%size < frequent {
				title = fmt.Sprint("Export ", i)
			}
			return title, []string{fmt.Sprint("tag ", i%40)}
		})
		f := index.Filter{AppID: &app.ID, Box: feedback.Live, Query: "export"}
		bounded(t, "facets", func(ctx context.Context) error {
			facets, err := r.Index.Facets(ctx, app.AccountID, f)
			if err != nil {
				return err
			}
			all := feedback.Tally{Count: frequent, Exact: true}
			if facets.Apps[0].Tally != all || facets.Statuses[0].Tally != all || facets.Boxes[0].Tally != all ||
				facets.Assignees[0].Tally != all || facets.Sources[0].Tally != all || len(facets.Tags) != 30 || !facets.Tags[0].Exact {
				t.Errorf("%+v", facets)
			}
			return nil
		})
	})
}

// TestListsOfAFrequentTag: lists by a tag that very many requests have, together with a time
// or with a word that some of them have.
func TestListsOfAFrequentTag(t *testing.T) {
	storetest.EachInTurn(t, func(t *testing.T, at storetest.Place) {
		const size, tagged, every = 30_000, 25_000, 6
		r, app := filled(t, at, size, func(i int) (string, []string) {
			title, tags := fmt.Sprint("Other ", i), []string{"beside"}
			if i%every == 0 {
				title = fmt.Sprint("Export ", i)
			}
			if i < tagged {
				tags = []string{"frequent"}
			}
			return title, tags
		})
		after := feedback.At(storetest.BigFirst.Add(1000 * time.Millisecond))
		first, _, err := r.Index.List(ctx, app.AccountID, index.Filter{Box: feedback.Live}, index.Page{Sort: index.Oldest, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		before := int64(after-first[0].ID.Time()) / 1000 // how many requests are older: they came a millisecond apart
		for name, c := range map[string]struct {
			filter index.Filter
			want   int64
		}{
			"a time": {index.Filter{Tag: "frequent", CreatedAfter: &after}, tagged - before},
			"a word": {index.Filter{Tag: "frequent", Query: "export"}, (tagged + every - 1) / every},
		} {
			c.filter.Box = feedback.Live
			for _, sort := range []index.Sort{index.Newest, index.Oldest, index.MostVoted, index.RecentlyUpdated} {
				bounded(t, name+", "+string(sort), func(ctx context.Context) error {
					requests, total, err := r.Index.List(ctx, app.AccountID, c.filter, index.Page{Sort: sort, Limit: 51})
					if err == nil && (len(requests) != 51 || total != index.Total{N: c.want, Exact: true}) {
						t.Errorf("%s, %s: %d requests, %+v in all, want %d", name, sort, len(requests), total, c.want)
					}
					return err
				})
			}
		}
	})
}
