package index_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/search"
	"gatherkit/internal/store/storetest"
)

// leastRecall is a little less than what was reached, and leastGain how much better that
// is than a search for all words.
const (
	leastRecall = 0.93
	leastGain   = 0.5
)

// TestRecall measures how often the title that is meant is among the first five, of
// ours and of a search for requests that have all the words. Both databases must answer
// the same.
func TestRecall(t *testing.T) {
	if storetest.RaceDetector {
		t.Skip("make test measures without the race detector")
	}
	requests, pairs := corpus(t, 20_000), readPairs(t)
	plain := plainSearch(requests)
	var answers [][]feedback.Similar // of the database before
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		r.InsertRequests(app, requests)
		r.IndexAll()
		all, ours, theirs := map[string]float64{}, map[string]float64{}, map[string]float64{}
		for i, p := range pairs {
			similar, err := r.Index.Similar(ctx, app.AccountID, index.Likeness{AppID: app.ID, Text: p.question, Limit: 5})
			if err != nil {
				t.Fatal(err)
			}
			found := slices.ContainsFunc(similar, func(s feedback.Similar) bool { return s.Title == p.title })
			for _, of := range []string{"all", p.language, p.kind} {
				all[of]++
				if found {
					ours[of]++
				}
				if slices.Contains(plain(p.question), p.title) {
					theirs[of]++
				}
			}
			if i >= len(answers) {
				answers = append(answers, similar)
			} else if diff := cmp.Diff(answers[i], similar); diff != "" {
				t.Errorf("%s: the databases differ:\n%s", p.question, diff)
			}
		}
		for of, n := range all {
			t.Logf("%-10s recall@5 %.3f, with all words %.3f", of, ours[of]/n, theirs[of]/n)
		}
		if got := ours["all"] / all["all"]; got < leastRecall || got < theirs["all"]/all["all"]+leastGain {
			t.Errorf("recall@5 is %.3f, with all words %.3f", got, theirs["all"]/all["all"])
		}
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
