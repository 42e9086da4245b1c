package index_test

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store/storetest"
)

// TestFarBehind: an index that is up to 2,048 changes behind gives exact answers, and one that
// is further behind says that they are not.
func TestFarBehind(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		r.IndexAll()
		n := 0
		insert := func(more int) {
			r.InsertRequests(app, distractors(t, more))
			n += more
		}
		check := func(exact bool) {
			t.Helper()
			f := index.Filter{Box: feedback.Live, Source: "widget"}
			rows, total, err := r.Index.List(ctx, app.AccountID, f, index.Page{Sort: index.Newest, Limit: 10})
			if err != nil || len(rows) != 10 || total.Exact != exact || exact != (total.N == int64(n)) {
				t.Errorf("%d of %d requests: %d, %+v, %v", len(rows), n, total.N, total, err)
			}
			facets, err := r.Index.Facets(ctx, app.AccountID, f)
			if err != nil || facets.Apps[0].Exact != exact || facets.Apps[0].Count != total.N {
				t.Errorf("facets of %d requests: %+v, %v", n, facets.Apps, err)
			}
			stats, err := r.Index.Stats(ctx, app.AccountID, nil, 0, feedback.At(r.Clock.Now()))
			if err != nil || stats.Exact != exact {
				t.Errorf("the tags of %d requests: %v, %v", n, stats.Exact, err)
			}
		}
		insert(2048)
		check(true)
		insert(2) // one more than are read to know that there are more
		check(false)
		r.IndexAll()
		check(true)
	})
}

// TestTailIsReadOnce: a search in many apps reads the end of the log once, and finds what is in it.
// Reading it for each of 50 apps took six seconds of a processor.
func TestTailIsReadOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		for range 5 {
			r.InsertRequests(r.NewApp(account), distractors(t, 10))
		}
		r.IndexAll()
		app := r.NewApp(account)
		r.InsertRequests(app, append(distractors(t, 10), feedback.NewRequest("Zeppelin mode", "")))
		var logs atomic.Int64
		s := r.Watched(func(query string, _ []driver.NamedValue) {
			if strings.Contains(query, "FROM changes") || strings.Contains(query, "answered_after, title, description") {
				logs.Add(1)
			}
		})
		f := index.Filter{Box: feedback.Live, Query: "zepelin mode"}
		found, total, err := s.Index.Ranked(ctx, account.ID, f, index.Page{Sort: index.Relevance, Limit: 10})
		if err != nil || len(found) == 0 || found[0].Title != "Zeppelin mode" || !total.Exact {
			t.Errorf("%+v, %+v, %v", found, total, err)
		}
		seen := map[feedback.ID]bool{}
		for _, r := range found {
			if seen[r.ID] {
				t.Errorf("%q is found twice", r.Title)
			}
			seen[r.ID] = true
		}
		if n := logs.Load(); n != 2 {
			t.Errorf("the log and its requests were read in %d statements", n)
		}
	})
}

// TestManyWordsWithABeginning: if more words begin with the last word of a query than are
// read, the total is not exact, and every request of the page matches.
func TestManyWordsWithABeginning(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		var requests []feedback.Request
		for i := range 300 {
			requests = append(requests, feedback.NewRequest(fmt.Sprintf("abcd%05d", i), ""), feedback.NewRequest(fmt.Sprintf("abxy%05d", i), ""))
		}
		r.InsertRequests(app, requests)
		r.IndexAll()
		for query, exact := range map[string]bool{"abc": false, "ab": true, "abcd0000": true} {
			f := index.Filter{Box: feedback.Live, Query: query}
			for _, sort := range []index.Sort{index.Newest, index.Oldest, index.MostVoted, index.Trending} {
				rows, total, err := r.Index.List(ctx, app.AccountID, f, index.Page{Sort: sort, Limit: 10})
				if err != nil || len(rows) == 0 || total.Exact != exact {
					t.Errorf("%s, %s: %d requests, %+v, %v", query, sort, len(rows), total, err)
				}
				for _, row := range rows {
					if !strings.HasPrefix(row.Title, query) {
						t.Errorf("%s, %s finds %s", query, sort, row.Title)
					}
				}
			}
			facets, err := r.Index.Facets(ctx, app.AccountID, f)
			if err != nil || facets.Apps[0].Exact != exact {
				t.Errorf("%s: facets %+v, %v", query, facets.Apps, err)
			}
		}
	})
}

// TestNoRangeBesideIDs: requests are read by their ids alone. With a range of ids as well, PostgreSQL
// scanned the range while a bulk change of old requests ran beside submissions, and compared each of
// a million requests with a thousand ids: 1.3 seconds a call. It does so only at that size, so the
// test is about the statement.
func TestNoRangeBesideIDs(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		r.IndexAll()
		r.InsertRequests(app, distractors(t, 50))
		var read atomic.Int64
		s := r.Watched(func(query string, _ []driver.NamedValue) {
			if !strings.Contains(query, "request_id IN (") && !strings.Contains(query, " id IN (") {
				return
			}
			read.Add(1)
			if strings.Contains(query, "BETWEEN") || strings.Contains(query, "id >") || strings.Contains(query, "id <") {
				t.Errorf("a range beside ids:\n%.200s", query)
			}
		})
		f := index.Filter{Box: feedback.Live, Source: "widget"}
		if _, _, err := s.Index.List(ctx, app.AccountID, f, index.Page{Sort: index.Newest, Limit: 10}); err != nil || read.Load() == 0 {
			t.Errorf("%d statements read requests by their ids, %v", read.Load(), err)
		}
	})
}
