package index_test

import (
	"fmt"
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store/storetest"
)

// TestPageMemory: a page of a search reads the long texts of no more requests than it has, however many match.
func TestPageMemory(t *testing.T) {
	storetest.EachInTurn(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		const limit, long, all = 31, 150, 750 // so few of all match that a search in any order sorts them
		requests := make([]feedback.Request, all)
		for i := range requests {
			requests[i] = feedback.NewRequest(fmt.Sprint("Other idea ", i), "")
			if i%(all/long) == 0 {
				requests[i] = feedback.NewRequest(fmt.Sprint("Common idea ", i), strings.Repeat("𝄞", 10_000))
				requests[i].Votes = int64(i * 7 % 500)
			}
		}
		insertWithWords(r, app, requests)
		shown := index.Filter{AppID: &app.ID, Box: feedback.Live, Query: "common ", Public: true}
		const row = 40_000
		for _, sort := range []index.Sort{index.MostVoted, index.Trending, index.RecentlyUpdated, index.Newest} {
			for _, c := range []struct {
				brief bool
				most  uint64
			}{{false, 4 * limit * row}, {true, 30 * row}} { // drivers copy a row a few times
				page := index.Page{Sort: sort, Limit: limit, Brief: c.brief}
				got := storetest.LeastAllocated(func() {
					found, total, err := r.Index.List(ctx, app.AccountID, shown, page)
					if err != nil || len(found) != limit || total.N != long {
						t.Fatalf("%d of %d, %v", len(found), total.N, err)
					}
				})
				t.Logf("%s, brief %t: %d bytes", sort, c.brief, got)
				if got > c.most {
					t.Errorf("%s, brief %t: a page takes %d bytes, want at most %d", sort, c.brief, got, c.most)
				}
			}
		}
	})
}

// TestBriefTexts: a brief page has no long texts, also if these decide which requests match.
func TestBriefTexts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		requests := make([]feedback.Request, 600) // with more words than a search reads
		for i := range requests {
			requests[i] = feedback.NewRequest(fmt.Sprintf("A%03d", i), fmt.Sprintf("Beginning%03d", i))
			requests[i].Votes = int64(i % 7)
		}
		insertWithWords(r, app, requests)
		for _, sort := range orders {
			page := index.Page{Sort: sort, Limit: 20}
			f := index.Filter{AppID: &app.ID, Box: feedback.Live, Query: "beginning"}
			full, total, err := r.Index.List(ctx, app.AccountID, f, page)
			if err != nil || total.Exact || len(full) == 0 {
				t.Fatalf("%d found, %v, %v", len(full), total, err)
			}
			page.Brief = true
			brief, _, err := r.Index.List(ctx, app.AccountID, f, page)
			if err != nil || len(brief) != len(full) {
				t.Fatalf("%d of %d, %v", len(brief), len(full), err)
			}
			for i := range brief {
				if brief[i].ID != full[i].ID || brief[i].Title != full[i].Title || full[i].Description == "" {
					t.Errorf("%s: %v is in the place of %v", sort, brief[i], full[i])
				}
				if brief[i].Description != "" {
					t.Errorf("%s: %s has a description", sort, brief[i].Title)
				}
			}
		}
	})
}
