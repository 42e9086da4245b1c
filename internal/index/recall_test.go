package index_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/search"
	"gatherkit/internal/store/storetest"
)

// leastGain is by how much similar requests must be better than a search for all words.
const leastGain = 0.5

// way is a way to find requests, and the least share of questions to which it must find the
// request that is meant: a little less than what was reached.
type way struct {
	name  string
	least float64
	ask   func(r *storetest.Rig, app feedback.App, question string) ([]titledScore, error)
}

// titledScore is a request that was found.
type titledScore struct {
	title string
	score float64
}

var (
	bySimilarity = way{"similar requests", 0.93, func(r *storetest.Rig, app feedback.App, question string) (found []titledScore, err error) {
		similar, err := r.Index.Similar(ctx, app.AccountID, index.Likeness{AppID: app.ID, Text: question, Limit: 5})
		for _, s := range similar {
			found = append(found, titledScore{s.Title, s.Score})
		}
		return found, err
	}}
	byTitles = way{"similar titles", 0.93, func(r *storetest.Rig, app feedback.App, question string) (found []titledScore, err error) {
		similar, err := r.Index.Similar(ctx, app.AccountID, index.Likeness{
			AppID: app.ID, Text: question, Shared: feedback.Statuses(), Titles: true, Limit: 5,
		})
		for _, s := range similar {
			found = append(found, titledScore{s.Title, s.Score})
		}
		return found, err
	}}
	byRelevance = way{"a list by relevance", 0.97, func(r *storetest.Rig, app feedback.App, question string) (found []titledScore, err error) {
		f, page := index.Filter{Box: feedback.Live, Query: question}, index.Page{Sort: index.Relevance, Limit: 5}
		rows, _, err := r.Index.Ranked(ctx, app.AccountID, f, page)
		for _, row := range rows {
			found = append(found, titledScore{row.Title, float64(row.Score)})
		}
		return found, err
	}}
)

// TestRecall measures how often the request that is meant is among the first five: for the
// questions of similar requests, and for those that people type into a search field, in ten
// languages. Both databases must answer the same.
func TestRecall(t *testing.T) {
	storetest.Measures(t)
	t.Run("similar", func(t *testing.T) { recall(t, "similar.tsv", bySimilarity, byTitles, byRelevance) })
	t.Run("questions", func(t *testing.T) { recall(t, "questions.tsv", byRelevance) })
}

func recall(t *testing.T, file string, ways ...way) {
	pairs := readPairs(t, file)
	requests := corpus(t, 20_000, pairs)
	plain := plainSearch(requests)
	answers := make([][][]titledScore, len(ways)) // of the database before
	storetest.EachInTurn(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		r.InsertRequests(app, requests)
		r.Analyze()
		r.IndexAll()
		for i, w := range ways {
			answers[i] = w.measure(t, r, app, pairs, plain, answers[i])
		}
	})
}

// measure asks the questions and returns the answers. They must be the same as those of the
// database before, if there are any.
func (w way) measure(
	t *testing.T, r *storetest.Rig, app feedback.App, pairs []pair, plain func(string) []string, before [][]titledScore,
) (answers [][]titledScore) {
	t.Helper()
	all, ours, theirs, missed := map[string]float64{}, map[string]float64{}, map[string]float64{}, []string{}
	for i, p := range pairs {
		answer, err := w.ask(r, app, p.question)
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, answer)
		if len(before) > i && !slices.Equal(answer, before[i]) {
			t.Errorf("%s: %s: the databases differ:\n%v\n%v", w.name, p.question, before[i], answer)
		}
		found := slices.ContainsFunc(answer, func(s titledScore) bool { return s.title == p.title })
		if !found {
			missed = append(missed, fmt.Sprintf("%s %s: %q finds %v and not %q", p.language, p.kind, p.question, answer, p.title))
		}
		byAll := slices.Contains(plain(p.question), p.title)
		for _, of := range []string{"all", p.language, p.kind} {
			all[of]++
			if found {
				ours[of]++
			}
			if byAll {
				theirs[of]++
			}
		}
	}
	for of, n := range all {
		t.Logf("%s: %-10s recall@5 %.3f, with all words %.3f", w.name, of, ours[of]/n, theirs[of]/n)
	}
	t.Logf("%s: not found:\n%s", w.name, strings.Join(missed, "\n"))
	if got := ours["all"] / all["all"]; got < w.least || got < theirs["all"]/all["all"]+leastGain {
		t.Errorf("%s: recall@5 is %.3f, with all words %.3f; want %.2f at least", w.name, got, theirs["all"]/all["all"], w.least)
	}
	return answers
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
