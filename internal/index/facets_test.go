package index_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestFacetsAreTotals: whatever there is and whatever is chosen, each number is the total
// of the list with that value in the place of its own facet's, and nothing that has
// requests is left out.
func TestFacetsAreTotals(t *testing.T) {
	storetest.FewerChecks(t)
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		rapid.Check(t, func(t *rapid.T) {
			account := r.NewAccount("Acme " + rapid.StringMatching(`[a-z]{12}`).Draw(t, "account"))
			stranger := r.NewAccount("Other " + account.ID.String())
			users := []*feedback.ID{nil, r.UserOf(account), colleague(r, account)}
			apps := []feedback.App{r.NewApp(account), r.NewApp(account), r.NewApp(account), r.NewApp(stranger)}
			for range rapid.IntRange(0, 30).Draw(t, "requests") {
				r.Clock.Move(time.Duration(rapid.IntRange(0, 100).Draw(t, "later")) * time.Second)
				request := feedback.NewRequest(rapid.SampledFrom([]string{"Dark mode", "Darker", "Light"}).Draw(t, "title"), "")
				request.AppID, request.Status = rapid.SampledFrom(apps).Draw(t, "app").ID, rapid.SampledFrom(feedback.Settable()).Draw(t, "status")
				request.Source = rapid.SampledFrom([]string{"widget", "widget", "dashboard", "api"}).Draw(t, "source")
				request.Tags = feedback.CleanTags(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "A", "b", "ä", "Ä"}), 0, 3).Draw(t, "tags"))
				request.Box = rapid.SampledFrom([]feedback.Box{feedback.Live, feedback.Live, feedback.Live, feedback.Bin, feedback.Quarantine}).Draw(t, "box")
				owner := account
				if request.AppID == apps[3].ID {
					owner = stranger
				} else {
					request.AssigneeID = rapid.SampledFrom(users).Draw(t, "assignee")
				}
				if _, err := r.AddRequest(ctx, owner.ID, feedback.Command(), request); err != nil {
					t.Fatal(err)
				}
			}
			if _, _, err := r.Index.Follow(ctx, feedback.ID{}, rapid.IntRange(1, 40).Draw(t, "followed")); err != nil {
				t.Fatal(err)
			}
			if rapid.Bool().Draw(t, "delete") {
				r.Drop(apps[2])
			}
			f := index.Filter{Box: rapid.SampledFrom([]feedback.Box{feedback.Live, feedback.Live, feedback.Bin}).Draw(t, "in")}
			maybe := func(what string) bool { return rapid.IntRange(0, 3).Draw(t, what) == 0 }
			if maybe("one app") {
				f.AppID = &apps[0].ID
			}
			if maybe("statuses") {
				f.Statuses = rapid.SliceOfNDistinct(rapid.SampledFrom(feedback.Settable()), 1, 3, func(s feedback.Status) feedback.Status { return s }).Draw(t, "of statuses")
			}
			if maybe("a tag") {
				f.Tag = rapid.SampledFrom([]string{"a", "ä", "x"}).Draw(t, "of tags")
			}
			if maybe("an assignee") {
				f.AssigneeID = rapid.SampledFrom(users).Draw(t, "of assignees")
				f.Unassigned = f.AssigneeID == nil
			}
			if maybe("a source") {
				f.Source = rapid.SampledFrom([]string{"widget", "api", "import"}).Draw(t, "of sources")
			}
			if maybe("words") && f.Box == feedback.Live {
				f.Query = rapid.SampledFrom([]string{"dark", "mode dark"}).Draw(t, "of words")
			}
			if maybe("a time") {
				after := feedback.At(r.Clock.Now().Add(-10 * time.Minute))
				f.CreatedAfter = &after
			}
			compareFacets(r, t, account.ID, f, apps, users)
		})
	})
}

func colleague(r *storetest.Rig, account feedback.Account) *feedback.ID {
	r.T.Helper()
	_, user, err := r.AddUser(ctx, account.Name, store.NewUser{Email: "colleague-" + account.ID.String() + "@example.com", Name: "C", Role: feedback.RoleMember, PasswordHash: "hash"})
	if err != nil {
		r.T.Fatal(err)
	}
	return &user.ID
}

// compareFacets holds facets against the totals of lists.
func compareFacets(r *storetest.Rig, t *rapid.T, accountID feedback.ID, f index.Filter, apps []feedback.App, users []*feedback.ID) {
	facets, err := r.Index.Facets(ctx, accountID, f)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	note := func(what string, tally feedback.Tally) {
		if _, twice := got[what]; twice || !tally.Exact {
			t.Fatalf("%s of %+v: %+v", what, f, facets)
		}
		got[what] = tally.Count
	}
	for _, one := range facets.Apps {
		note("app "+one.AppID.String(), one.Tally)
	}
	for i, one := range facets.Statuses {
		note("status "+string(one.Status), one.Tally)
		if one.Status != feedback.Statuses()[i] {
			t.Fatalf("%s is not in its place", one.Status)
		}
	}
	for _, one := range facets.Boxes {
		note("box "+string(one.Box), one.Tally)
	}
	for _, one := range facets.Assignees {
		note("assignee "+one.AssigneeID, one.Tally)
	}
	for _, one := range facets.Sources {
		note("source "+one.Source, one.Tally)
	}
	for _, one := range facets.Tags {
		note("tag "+feedback.FoldTag(one.Tag), one.Tally)
	}
	known := 0
	check := func(what string, always bool, change func(*index.Filter)) {
		g := f
		change(&g)
		want := int64(0)
		if _, total, err := r.Index.List(ctx, accountID, g, index.Page{Sort: index.Newest, Limit: 1}); err == nil {
			want = total.N
		} else if !strings.HasPrefix(what, "app ") {
			t.Fatal(err)
		}
		n, shown := got[what]
		if n != want || shown != (always || want > 0) {
			t.Fatalf("%s: %d (shown: %v), want %d of %+v: %+v", what, n, shown, want, f, facets)
		}
		if shown {
			known++
		}
	}
	for _, app := range apps {
		check("app "+app.ID.String(), f.AppID != nil && *f.AppID == app.ID, func(f *index.Filter) { f.AppID = &app.ID })
	}
	for _, status := range feedback.Statuses() {
		check("status "+string(status), true, func(f *index.Filter) { f.Statuses = []feedback.Status{status} })
	}
	for _, box := range []feedback.Box{feedback.Live, feedback.Quarantine, feedback.Bin} {
		if f.Query == "" || box == feedback.Live {
			check("box "+string(box), true, func(f *index.Filter) { f.Box = box })
			continue
		}
		known++
		if got["box "+string(box)] != 0 {
			t.Fatal("words were found outside of live requests")
		}
	}
	for _, user := range users {
		name := feedback.Nobody
		if user != nil {
			name = user.String()
		}
		check("assignee "+name, user == nil || f.AssigneeID != nil && *f.AssigneeID == *user, func(f *index.Filter) { f.AssigneeID, f.Unassigned = user, user == nil })
	}
	for _, source := range []string{"widget", "dashboard", "api", "import"} {
		check("source "+source, f.Source == source, func(f *index.Filter) { f.Source = source })
	}
	for _, tag := range []string{"a", "b", "ä", "x"} {
		check("tag "+tag, f.Tag == tag, func(f *index.Filter) { f.Tag = tag })
	}
	if known != len(got) {
		t.Fatalf("%d of %d values are known: %+v", known, len(got), facets)
	}
}
