package index_test

import (
	"fmt"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store/storetest"
)

// TestRankedWithin: the best matches are among those of the filter, also before the index knows them, and their number is
// not exact if more requests have some of the words than are compared.
func TestRankedWithin(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		app := r.NewApp(r.NewAccount("Acme"))
		insert := func(n int, source string) {
			requests := make([]feedback.Request, n)
			for i := range requests {
				requests[i] = feedback.NewRequest(fmt.Sprintf("Calendar %s %d", source, i), "")
			}
			r.InsertRequests(app, requests)
			r.Exec("UPDATE requests SET source = $1 WHERE account_id = $2 AND title LIKE $3", source, app.AccountID, "Calendar "+source+"%")
		}
		check := func(source string, want int, exact bool) {
			t.Helper()
			f := index.Filter{Box: feedback.Live, Query: "calendar", Source: source}
			rows, total, err := r.Index.Ranked(ctx, app.AccountID, f, index.Page{Sort: index.Relevance, Limit: 1000})
			if err != nil || len(rows) != want || total != (index.Total{N: int64(want), Exact: exact}) {
				t.Errorf("%q: %d requests, %+v, want %d, exact %t, %v", source, len(rows), total, want, exact, err)
			}
			for _, row := range rows {
				if source != "" && row.Source != source {
					t.Errorf("%q: %s is of the source %s", source, row.Title, row.Source)
				}
			}
		}
		insert(500, "email")
		insert(12, "import")
		r.IndexAll()
		check("", 512, true)
		check("email", 500, true)
		check("import", 12, true)
		insert(7, "phone")
		check("phone", 7, true)
		check("import", 12, true)
		check("", 512, false)
	})
}
