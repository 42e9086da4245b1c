package index_test

import (
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store/storetest"
)

// TestMeant: a suggestion has the query's words, or the most similar ones that requests
// have, each once.
func TestMeant(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		other := r.NewApp(r.NewAccount("Globex"))
		insertWithWords(r, other, []feedback.Request{feedback.NewRequest("Watches", "")})
		insertWithWords(r, app, []feedback.Request{
			feedback.NewRequest("Darkmode", ""), feedback.NewRequest("Call for an invoice", ""), feedback.NewRequest("A calendar", ""),
		})
		for query, want := range map[string]string{
			"":                 "",
			"😀":                "",
			"darkmode invoice": "", // which no request has together
			"unheard":          "",
			"wacthes":          "", // but other accounts
			"invioce calendra": "invoice calendar",
			"Invioce, please":  "invoice please",
			"dark mode":        "darkmode",
			"invioce calen":    "invoice calen", // which may become calendar
			"invioce cal":      "invoice cal",
		} {
			got, err := r.Index.Meant(ctx, app.AccountID, index.Filter{Box: feedback.Live, Query: query})
			if err != nil || got != want {
				t.Errorf("%q: %q, %v, want %q", query, got, err, want)
			}
		}
	})
}
