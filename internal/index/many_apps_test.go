package index_test

import (
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store/storetest"
)

// TestListsOfManyApps: the pages of a list have all of its requests, in its order, although one statement cannot merge the
// ranges of so many apps.
func TestListsOfManyApps(t *testing.T) {
	const apps = 70
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		for i := range apps + 1 {
			app := r.NewApp(account)
			requests := make([]feedback.Request, 6)
			for j := range requests {
				requests[j] = feedback.NewRequest("T", "")
				requests[j].Votes = int64((i + j) % 3)
			}
			requests[1].Status = "planned"
			requests[2].Box = feedback.Bin
			requests[3].Box, requests[3].Status = feedback.Quarantine, "declined"
			r.InsertRequests(app, requests)
			if i == apps {
				r.Drop(app) // so that the primary key is not read
			}
		}
		r.CountRequests()
		n := readNaive(r, account.ID)
		for _, f := range []index.Filter{
			{Box: feedback.Live},
			{Box: feedback.Bin},
			{Box: feedback.Quarantine},
			{Box: feedback.Live, Statuses: []feedback.Status{"planned", "opened", "planned"}},
		} {
			for _, sort := range orders {
				n.compareList(t, f, index.Page{Sort: sort, Limit: 50})
			}
		}
	})
}
