package index_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/search"
	"gatherkit/internal/store"
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
		checkSearchPlans(r, app)
	})
}

// checkSearchPlans holds the plans of what the index is read, filled and purged with.
func checkSearchPlans(r *storetest.Rig, app feedback.App) {
	r.T.Helper()
	// With fewer words and apps, PostgreSQL may as well read all of a table.
	for range 7 {
		copyWords(r, app, r.NewApp(feedback.Account{ID: app.AccountID}))
	}
	var apps [][]any
	for i, other := 0, r.NewAccount("Other"); i < 2000; i++ {
		apps = append(apps, []any{other.ID, feedback.FirstIDAt(storetest.BigFirst.Add(time.Duration(i) * time.Millisecond)), "A", "gk", "{}", 1, 0, 0})
	}
	r.InsertRows("apps", "account_id, id, name, api_key, settings, version, created_at, updated_at", apps)
	r.Analyze()
	plans := r.Plans()
	primary := func(table string) string {
		switch {
		case r.At.Name == "postgres":
			return table + "_pkey"
		case table == "requests" || table == "indexed_requests" || table == "changes":
			return "INDEX sqlite_autoindex_" + table + "_1"
		}
		return "PRIMARY KEY"
	}
	submitted := func(s *store.Store) error {
		if _, err := s.Submit(ctx, store.Submission{App: app, Request: feedback.NewRequest("One more", "")}); err != nil {
			return err
		}
		_, _, err := s.Index.Follow(ctx, feedback.ID{}, index.Chunk)
		return err
	}
	edited := func(s *store.Store) error {
		id := r.IDs(app)[0]
		if _, err := s.ChangeRequest(ctx, app.AccountID, id, feedback.Command(), func(r *feedback.Request) error {
			r.Box = feedback.Bin
			return nil
		}); err != nil {
			return err
		}
		_, _, err := s.Index.Follow(ctx, feedback.ID{}, index.Chunk)
		return err
	}
	similar := func(s *store.Store) error {
		_, err := s.Index.Similar(ctx, app.AccountID, index.Likeness{AppID: app.ID, Text: "calendar of the invoice list", Limit: 5})
		return err
	}
	purged := func(s *store.Store) error {
		r.Drop(app)
		_, err := s.Purge(ctx)
		return err
	}
	for _, c := range []struct {
		name, part, table string
		call              func(*store.Store) error
	}{
		{"vocabulary", "SELECT word FROM word_counts", "word_counts", similar},
		{"counts", "SELECT word, n FROM word_counts", "word_counts", similar},
		{"postings", "AS word, id FROM request_words", "request_words", similar},
		{"titles", "SELECT id, app_id, box, title", "requests", similar},
		{"entries", "SELECT seq, request_id FROM changes", "changes", submitted},
		{"texts", "SELECT id, app_id, box, title, description", "requests", submitted},
		{"indexed", "FROM indexed_requests", "indexed_requests", submitted},
		{"present", "SELECT id FROM requests r", "requests", submitted},
		{"removed words", "DELETE FROM request_words", "request_words", edited},
		{"removed counts", "DELETE FROM word_counts", "word_counts", edited},
		{"purged words", "DELETE FROM request_words", "request_words", purged},
	} {
		found := false
		for _, s := range plans.During(c.call) {
			if strings.Contains(s.Query, c.part) && !found {
				plans.CheckPlan(c.name, s, c.table, primary(c.table))
				found = true
			}
		}
		if !found {
			r.T.Errorf("%s: no statement has %q", c.name, c.part)
		}
	}
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
