package index_test

import (
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store/storetest"
)

// TestSpellings: a request is found by each search, however its words are written.
func TestSpellings(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		queries := map[string][]string{
			"Karanlık tema":             {"KARANLIK", "karanlik tema", "tema karan"},
			"IŞIK kapalı":               {"ışık", "isik kapali"},
			"Mørk skrift":               {"mork", "MØRK skrift"},
			"تحـــديث النظام":           {"تحديث", "النِّظام"},
			"Ge\u00adsamt\u00adkonzept": {"gesamtkonzept", "Gesamt"},
			"배경색상변경":                    {"색상", "배경", "경"},
			"🚀 ship it":                 {"🚀", "ship 🚀"},
			"Support for C++":           {"c++", "support C"},
			"Broken in v2.10.1":         {"v2.10", "V2.10.1"},
			"שָׁלוֹם לכולם":             {"שלום", "לכולמ"},
		}
		for title := range queries {
			insertWithWords(r, app, []feedback.Request{feedback.NewRequest(title, "")})
		}
		for title, all := range queries {
			for _, query := range all {
				filter := index.Filter{Box: feedback.Live, Query: query}
				list, _, err := r.Index.List(ctx, app.AccountID, filter, index.Page{Sort: index.Newest, Limit: 5})
				if err != nil || len(list) != 1 || list[0].Title != title {
					t.Errorf("a list by %q: %v, want %q", query, list, title)
				}
				facets, err := r.Index.Facets(ctx, app.AccountID, filter)
				if err != nil || len(facets.Apps) != 1 || facets.Apps[0].Count != 1 {
					t.Errorf("facets by %q: %+v, %v", query, facets, err)
				}
				best, _, err := r.Index.List(ctx, app.AccountID, filter, index.Page{Sort: index.Relevance, Limit: 5})
				if err != nil || len(best) == 0 || best[0].Title != title {
					t.Errorf("the best by %q: %v, want %q", query, best, title)
				}
				similar, err := r.Index.Similar(ctx, app.AccountID, index.Likeness{AppID: app.ID, Text: query, Limit: 5})
				if err != nil || len(similar) == 0 || similar[0].Title != title {
					t.Errorf("similar to %q: %v, want %q", query, similar, title)
				}
			}
		}
	})
}
