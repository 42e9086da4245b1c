package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestTagsOfIndex: the index and the rows of tags give the same list, page by page: of several spellings, of
// requests in the bin, of a deleted app, and before and after changes are indexed.
func TestTagsOfIndex(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app, gone, bin := r.NewApp(account), r.NewApp(account), r.NewApp(account)
		tagged := func(n int, box feedback.Box, tags ...string) (requests []feedback.Request) {
			for i := range n {
				request := feedback.NewRequest(fmt.Sprint("T", i), "")
				request.Tags, request.Box = tags, box
				requests = append(requests, request)
			}
			return requests
		}
		r.InsertRequests(app, append(tagged(3, feedback.Live, "API", "Zoë"), tagged(2, feedback.Live, "api", "Ärger")...))
		r.InsertRequests(bin, tagged(2, feedback.Bin, "api", "binned"))
		r.InsertRequests(gone, tagged(2, feedback.Live, "api", "deleted"))
		r.Drop(gone)
		compare := func(when string) {
			t.Helper()
			after := ""
			for page := range 10 {
				got, total, err := r.Tags(ctx, account.ID, after, 2)
				if err != nil {
					t.Fatal(err)
				}
				want, wantTotal, err := r.CountTags(ctx, account.ID, after, 2)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" || total != wantTotal || total != 3 && when != "changed" {
					t.Errorf("%s, page %d: %d of %d tags %s", when, page, total, wantTotal, diff)
				}
				if len(want) == 0 {
					break
				}
				after = feedback.Fold(want[len(want)-1].Tag)
			}
		}
		compare("not indexed")
		r.IndexAll()
		compare("indexed")
		id := r.IDs(app)[0]
		tags := []string{"new", "API"}
		if _, err := r.ChangeRequest(ctx, account.ID, id, feedback.Command(), func(request *feedback.Request) error {
			request.Apply(feedback.RequestChange{Tags: &tags})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		compare("changed")
		for _, sent := range r.Plans().During(func(s *store.Store) error {
			_, _, err := s.Tags(ctx, account.ID, "", 2)
			return err
		}) {
			if strings.Contains(sent.Query, "request_tags") {
				t.Errorf("the tags of all requests are read: %s", sent.Query)
			}
		}
	})
}
