package store_test

import (
	"slices"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/search"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestRecall measures how often the title that is meant is among the first five, of
// ours and of a search for requests that have all the words.
func TestRecall(t *testing.T) {
	requests := corpus(t, 20_000)
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := newRig(t, at)
		app := r.app(r.account("Acme"))
		began := time.Now()
		r.stored(app, requests)
		t.Logf("stored in %v", time.Since(began))
		began = time.Now()
		r.index()
		t.Logf("indexed in %v", time.Since(began))
		ours, plain := map[string]int{}, map[string]int{}
		all := map[string]int{}
		all2 := plainSearch(requests)
		var took []time.Duration
		for i, p := range readPairs(t) {
			began := time.Now()
			similar, err := r.Similar(ctx, app.AccountID, store.Likeness{AppID: app.ID, Text: p.question, Limit: 5})
			took = append(took, time.Since(began))
			if err != nil {
				t.Fatal(err)
			}
			half := []string{"even", "odd"}[i%2]
			for _, key := range []string{"", p.language, p.kind, half} {
				all[key]++
				if slices.ContainsFunc(similar, func(s feedback.Similar) bool { return s.Title == p.title }) {
					ours[key]++
				} else if key == "" {
					t.Logf("%s %q: %q not in %v", half, p.question, p.title, similar)
				}
				if slices.Contains(all2(p.question), p.title) {
					plain[key]++
				}
			}
		}
		for key, n := range all {
			t.Logf("%-10s ours %.3f, plain %.3f", key, float64(ours[key])/float64(n), float64(plain[key])/float64(n))
		}
		slices.Sort(took)
		t.Logf("p50 %v, p99 %v, max %v", took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
	})
}

// plainSearch is a search for the newest requests that have all the words.
func plainSearch(requests []feedback.Request) func(question string) []string {
	has := map[string]map[int]bool{}
	for i, r := range requests {
		for _, word := range search.Words(r.Title, r.Description) {
			if has[word] == nil {
				has[word] = map[int]bool{}
			}
			has[word][i] = true
		}
	}
	return func(question string) (titles []string) {
		terms := search.Terms(question)
		for i := len(requests) - 1; i >= 0 && len(titles) < 5; i-- {
			if !slices.ContainsFunc(terms, func(term string) bool { return !has[term][i] }) {
				titles = append(titles, requests[i].Title)
			}
		}
		return titles
	}
}
