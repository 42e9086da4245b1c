package index_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestScoresWhileBehind: scores do not depend on how far the index has followed the log. The words of requests that it has
// as they were before a change do not count twice.
func TestScoresWhileBehind(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app := r.NewApp(account)
		other := r.NewApp(account) // whose changed requests do not count for those of app
		for _, one := range []feedback.App{app, other} {
			insertWithWords(r, one, []feedback.Request{
				feedback.NewRequest("Dark mode", ""), feedback.NewRequest("Dark colors", ""), feedback.NewRequest("Mode of the day", ""),
				feedback.NewRequest("Calendar", ""), feedback.NewRequest("Colors of the calendar", ""),
			})
		}
		change := store.Bulk{IDs: append(r.IDs(app)[2:], r.IDs(other)[3:]...)}
		_, err := r.ChangeRequests(ctx, account.ID, change, feedback.Command(), func(r *feedback.Request) error {
			r.Status = "planned"
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		scores := func() (all []int64) {
			for _, query := range []string{"dark mode", "colors of the day", "calendar mode"} {
				found, _, err := r.Index.Ranked(ctx, account.ID, index.Filter{Box: feedback.Live, Query: query}, index.Page{Limit: 10})
				if err != nil || len(found) == 0 {
					t.Fatalf("%q: %v, %v", query, found, err)
				}
				for _, f := range found {
					all = append(all, f.Score)
				}
			}
			for _, text := range []string{"dark mode colors", "colors of the day"} {
				found, err := r.Index.Similar(ctx, account.ID, index.Likeness{AppID: app.ID, Text: text, Limit: 10})
				if err != nil || len(found) == 0 {
					t.Fatalf("similar to %q: %v, %v", text, found, err)
				}
				for _, f := range found {
					all = append(all, int64(1000*f.Score))
				}
			}
			return all
		}
		behind := scores()
		r.IndexAll()
		if diff := cmp.Diff(scores(), behind); diff != "" {
			t.Errorf("(-followed +behind):\n%s", diff)
		}
	})
}

// TestScoresOfSeveralApps: a request has the same score whether its app is searched or all apps.
func TestScoresOfSeveralApps(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		apps := []feedback.App{r.NewApp(account), r.NewApp(account)}
		for i, app := range apps {
			insertWithWords(r, app, []feedback.Request{
				feedback.NewRequest("Dark mode", ""), feedback.NewRequest("Dark colors", ""), feedback.NewRequest("Mode of the day", ""),
				feedback.NewRequest([]string{"Calendar", "Dark calendar"}[i], ""), feedback.NewRequest("Colors of the calendar", ""),
			})
		}
		planned := store.Bulk{IDs: append(r.IDs(apps[0])[:2], r.IDs(apps[1])[2:]...)}
		if _, err := r.ChangeRequests(ctx, account.ID, planned, feedback.Command(), func(r *feedback.Request) error {
			r.Status = "planned"
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		r.IndexAll()
		scores := func(appID *feedback.ID, into map[feedback.ID]int64) map[feedback.ID]int64 {
			f := index.Filter{Box: feedback.Live, Query: "dark mode calendar", AppID: appID, Statuses: []feedback.Status{"planned"}}
			found, _, err := r.Index.Ranked(ctx, account.ID, f, index.Page{Limit: 20})
			if err != nil || len(found) == 0 {
				t.Fatalf("%v, %v", found, err)
			}
			for _, f := range found {
				into[f.ID] = f.Score
			}
			return into
		}
		want := scores(&apps[1].ID, scores(&apps[0].ID, map[feedback.ID]int64{}))
		if diff := cmp.Diff(want, scores(nil, map[feedback.ID]int64{})); diff != "" {
			t.Errorf("(-each app +all):\n%s", diff)
		}
	})
}
