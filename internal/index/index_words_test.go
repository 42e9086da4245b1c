package index_test

import (
	"database/sql/driver"
	"strings"
	"sync/atomic"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestIndexOfManyWords: requests with very many words are followed a few at a time, so
// that no transaction keeps others waiting, and all of them in the end.
func TestIndexOfManyWords(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		const n, words = 60, 199 // each two neighbors are a word
		for i := range n {
			var title strings.Builder
			for j := range words {
				title.WriteRune(rune(0x4e00 + (i*words+j*7)%0x5000))
			}
			if _, err := r.Submit(ctx, store.Submission{App: app, Request: feedback.NewRequest(title.String(), "")}); err != nil {
				t.Fatal(err)
			}
		}
		rounds, before := 0, 0
		for follower, more := r.Index.Follower(), true; more; rounds++ {
			var err error
			if more, err = follower.Step(ctx, index.Chunk, 1); err != nil {
				t.Fatal(err)
			}
			now := r.Count("index_words")
			if now-before > 2600 {
				t.Errorf("%d words were added at once", now-before)
			}
			before = now
		}
		if got := r.Count("index_documents"); got != n || rounds < 5 {
			t.Errorf("%d of %d requests are indexed, in %d rounds", got, n, rounds)
		}
		r.CheckIndex(t)
	})
}

// TestLastTag: a block whose last tag is taken away has no row of tags any more.
func TestLastTag(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		request, err := r.Submit(ctx, store.Submission{App: app, Request: feedback.NewRequest("Dark mode", "")})
		if err != nil {
			t.Fatal(err)
		}
		for _, tags := range [][]string{{"billing"}, {}, {"billing", "mobile"}, {"mobile"}, nil} {
			if _, err := r.ChangeRequest(ctx, app.AccountID, request.ID, feedback.Command(), func(r *feedback.Request) error {
				r.Tags = tags
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			r.IndexAll()
			r.CheckIndex(t)
		}
	})
}

// TestListsAreReadOnce: a search keeps the posting lists that it has read to count a word.
func TestListsAreReadOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		r.InsertRequests(app, distractors(t, 100))
		r.IndexAll()
		var readings atomic.Int64
		s := r.Watched(func(query string, _ []driver.NamedValue) {
			if strings.Contains(query, "CROSS JOIN index_postings") {
				readings.Add(1)
			}
		})
		found, err := s.Index.Similar(ctx, app.AccountID, index.Likeness{AppID: app.ID, Text: distractors(t, 1)[0].Title, Limit: 5})
		if err != nil || len(found) == 0 || readings.Load() != 1 {
			t.Errorf("%d requests in %d readings, %v", len(found), readings.Load(), err)
		}
	})
}
