package index_test

import (
	"fmt"
	"slices"
	"strings"
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
	// leastRelevance is the least of a list in the order of relevance.
	leastRelevance = 0.97
)

// TestRecall measures how often the title that is meant is among the first five, of
// ours and of a search for requests that have all the words. Both databases must answer
// the same.
func TestRecall(t *testing.T) {
	if storetest.RaceDetector {
		t.Skip("make test measures without the race detector")
	}
	pairs := readPairs(t, "similar.tsv")
	requests := corpus(t, 20_000, pairs)
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

// TestRelevance measures how often the request that is meant is among the first five of a
// list in the order of relevance: for the questions of similar requests, and for those that
// people type into a search field, in ten languages. Both databases must answer the same.
func TestRelevance(t *testing.T) {
	if storetest.RaceDetector {
		t.Skip("make test measures without the race detector")
	}
	for _, file := range []string{"similar.tsv", "questions.tsv"} {
		t.Run(file, func(t *testing.T) { relevance(t, file) })
	}
}

func relevance(t *testing.T, file string) {
	pairs := readPairs(t, file)
	requests := corpus(t, 20_000, pairs)
	var answers [][]string // of the database before
	storetest.EachInTurn(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		r.InsertRequests(app, requests)
		r.IndexAll()
		found, missed := 0.0, []string{}
		for i, p := range pairs {
			f, page := index.Filter{Box: feedback.Live, Query: p.question}, index.Page{Sort: index.Relevance, Limit: 5}
			rows, _, err := r.Index.Ranked(ctx, app.AccountID, f, page)
			if err != nil {
				t.Fatal(err)
			}
			titles := []string{}
			for _, row := range rows {
				titles = append(titles, row.Title)
			}
			if slices.Contains(titles, p.title) {
				found++
			} else {
				missed = append(missed, fmt.Sprintf("%s %s: %q finds %q and not %q", p.language, p.kind, p.question, titles, p.title))
			}
			if i >= len(answers) {
				answers = append(answers, titles)
			} else if diff := cmp.Diff(answers[i], titles); diff != "" {
				t.Errorf("%s: the databases differ:\n%s", p.question, diff)
			}
		}
		recall := found / float64(len(pairs))
		t.Logf("recall@5 %.3f; not found:\n%s", recall, strings.Join(missed, "\n"))
		if recall < leastRelevance {
			t.Errorf("recall@5 is %.3f, want %.2f", recall, leastRelevance)
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
