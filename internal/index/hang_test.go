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
	r := storetest.NewRig(t, at)
	app := r.NewApp(r.NewAccount("Acme"))
	requests := make([]feedback.Request, size)
	for i := range requests {
		title, tags := fill(i)
		requests[i] = feedback.NewRequest(title, "")
		requests[i].Tags = tags
	}
	r.InsertRequests(app, requests)
	r.Analyze()
	if err := r.Index.FollowAll(ctx, index.MaxChunk); err != nil {
		t.Fatal(err)
	}
	return r, app
}

// bounded calls a function with a context that ends soon.
func bounded(t *testing.T, what string, call func(context.Context) error) {
	t.Helper()
	limited, stop := context.WithTimeout(ctx, soon)
	defer stop()
	if err := call(limited); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// TestFacetsOfAFrequentWord: the facets of a word that most requests of a large app have.
func TestFacetsOfAFrequentWord(t *testing.T) {
	storetest.Proof(t)
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

const tagged = 25_000

// filledTag is an app of requests of which the first 25,000 have the tag "frequent", and one in
// six has the word "export".
func filledTag(t *testing.T, at storetest.Place) (*storetest.Rig, feedback.App) {
	t.Helper()
	return filled(t, at, tagged+tagged/5, func(i int) (string, []string) {
		title, tags := fmt.Sprint("Other ", i), []string{"beside"}
		if i%6 == 0 {
			title = fmt.Sprint("Export ", i)
		}
		if i < tagged {
			tags = []string{"frequent"}
		}
		return title, tags
	})
}

// compareLists reads the first page in each order, and compares the total.
func compareLists(t *testing.T, r *storetest.Rig, app feedback.App, f index.Filter, want int64) {
	t.Helper()
	f.Box, f.Tag = feedback.Live, "frequent"
	for _, sort := range orders {
		bounded(t, string(sort), func(ctx context.Context) error {
			requests, total, err := r.Index.List(ctx, app.AccountID, f, index.Page{Sort: sort, Limit: 51})
			if err == nil && (len(requests) != 51 || total != index.Total{N: want, Exact: true}) {
				t.Errorf("%s: %d requests, %+v in all, want %d", sort, len(requests), total, want)
			}
			return err
		})
	}
}

// TestFrequentTagSince: lists of a frequent tag from a time on.
func TestFrequentTagSince(t *testing.T) {
	storetest.Proof(t)
	storetest.EachInTurn(t, func(t *testing.T, at storetest.Place) {
		r, app := filledTag(t, at)
		requests, _, err := r.Index.List(ctx, app.AccountID, index.Filter{Box: feedback.Live}, index.Page{Sort: index.Oldest, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		after := requests[0].ID.Time() + 1_000_000 // the requests came a millisecond apart
		compareLists(t, r, app, index.Filter{CreatedAfter: &after}, tagged-1000)
	})
}

// TestFrequentTagWithAWord: lists of a frequent tag together with a word.
func TestFrequentTagWithAWord(t *testing.T) {
	storetest.Proof(t)
	storetest.EachInTurn(t, func(t *testing.T, at storetest.Place) {
		r, app := filledTag(t, at)
		compareLists(t, r, app, index.Filter{Query: "export"}, (tagged+5)/6)
	})
}
