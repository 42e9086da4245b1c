package api

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// TestCostOfWords calls the operations that search for words with the longest texts, in an
// app full of words that strangers have made to be expensive.
func TestCostOfWords(t *testing.T) {
	storetest.Measures(t)
	const most = 200 // letters of a title or a query
	random := rand.New(rand.NewPCG(1, 2))
	text := func(word func() string) string {
		words := word()
		for next := word(); len(words)+1+len(next) <= most; next = word() {
			words += " " + next
		}
		return words
	}
	letters := func(of string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteByte(of[random.IntN(len(of))])
		}
		return b.String()
	}
	for name, word := range map[string]func() string{
		"words of common letters": func() string { return letters("aeiln", 5+random.IntN(2)) },
		"long words":              func() string { return strings.Repeat("a", 24) + letters("bcdefghi", 8) },
		"words with one stem":     func() string { return "calendar" + letters("abcdefghijklmnop", 4) },
	} {
		place := storetest.SQLite(t)
		s := newService(t, place)
		s.must("apps-update-settings", "owner", s.filled(`{"id":"{app}","settings":{"sharing":"all"}}`))
		app, err := s.store.AppByKey(t.Context(), s.names["key"])
		if err != nil {
			t.Fatal(err)
		}
		requests := make([]feedback.Request, 3600)
		for i := range requests {
			requests[i] = feedback.NewRequest(text(word), text(word))
		}
		(&storetest.Rig{Store: s.store, T: t, Clock: s.clock, Raw: place.Raw(t)}).InsertRequests(app, requests)
		s.index()
		for _, query := range []string{text(word), requests[0].Title, "calendar of the invoice list", "a"} {
			for operation, body := range map[string]string{
				"requests-list":           `{"query":%q}`,
				"requests-list relevance": `{"query":%q,"sort":"relevance"}`,
				"requests-list in an app": `{"query":%q,"sort":"relevance","app_id":"{app}","status":"opened"}`,
				"requests-facets":         `{"query":%q}`,
				"requests-similar":        `{"text":%q,"app_id":"{app}"}`,
				"widget-similar-requests": `{"text":%q}`,
			} {
				o, _, _ := strings.Cut(operation, " ")
				body = s.filled(fmt.Sprintf(body, query))
				call := func() {
					if got := s.call(o, credentialsOf(s.api.ops[o]), body); got.status != http.StatusOK {
						t.Errorf("%s %s: %d %s", o, body, got.status, got.body)
					}
				}
				call() // reads the vocabulary, which is kept for some time
				took := time.Hour
				for range 5 {
					took = min(took, cost(call))
				}
				t.Logf("%s: %s %.20q: %v", name, operation, query, took)
				if took > maxCost {
					t.Errorf("%s: %s %.20q: %v of processor time", name, operation, query, took)
				}
			}
		}
	}
}
