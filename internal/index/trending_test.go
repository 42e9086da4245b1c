package index_test

import (
	"fmt"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestTrendingInManyApps: the requests of more apps than one statement reads are in one order.
func TestTrendingInManyApps(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		const apps = 130
		var voted []feedback.ID
		for range apps {
			app := r.NewApp(account)
			r.InsertRequests(app, []feedback.Request{feedback.NewRequest("Dark mode", ""), feedback.NewRequest("Export", "")})
			voted = append(voted, r.IDs(app)[0])
		}
		for i := range voted {
			r.Clock.Move(time.Hour)
			name := fmt.Sprint(i)
			ballot := store.Ballot{RequestID: voted[i*37%apps], Person: feedback.Person{Name: &name}, Source: "dashboard"}
			if _, err := r.Vote(ctx, account.ID, feedback.Command(), ballot); err != nil {
				t.Fatal(err)
			}
		}
		readNaive(r, account.ID).compareList(t, index.Filter{Box: feedback.Live}, index.Page{Sort: index.Trending, Limit: 40})
	})
}
