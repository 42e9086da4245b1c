package index_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestStatsAreTotals: whatever there is, each number is the total of the list with the
// same filter, and they add up.
func TestStatsAreTotals(t *testing.T) {
	storetest.FewerChecks(t)
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		counted := 0
		rapid.Check(t, func(t *rapid.T) {
			account := r.NewAccount("Acme " + rapid.StringMatching(`[a-z]{12}`).Draw(t, "account"))
			stranger := r.NewAccount("Other " + account.ID.String())
			apps := []feedback.App{r.NewApp(account), r.NewApp(account), r.NewApp(account), r.NewApp(stranger)}
			times := []time.Time{r.Clock.Now().Add(-day), r.Clock.Now()}
			for i := range rapid.IntRange(0, 30).Draw(t, "requests") {
				r.Clock.Move(time.Duration(rapid.IntRange(0, 20*3600).Draw(t, "later")) * time.Second)
				times = append(times, r.Clock.Now())
				app := rapid.SampledFrom(apps).Draw(t, "app")
				request := feedback.NewRequest("T", "")
				request.AppID, request.Status = app.ID, rapid.SampledFrom(feedback.Settable()).Draw(t, "status")
				request.Tags = feedback.CleanTags(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "A", "b", "ä", "Ä"}), 0, 3).Draw(t, "tags"))
				request.Box = rapid.SampledFrom([]feedback.Box{feedback.Live, feedback.Live, feedback.Bin, feedback.Quarantine}).Draw(t, "box")
				if _, err := r.AddRequest(ctx, app.AccountID, feedback.Command(), request); err != nil {
					t.Fatal(i, err)
				}
			}
			if rapid.Bool().Draw(t, "delete") {
				r.Drop(apps[2])
			}
			moment := rapid.Custom(func(t *rapid.T) feedback.Time {
				at := rapid.SampledFrom(times).Draw(t, "at")
				return feedback.At(at.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "beside")) * time.Millisecond))
			})
			from := moment.Draw(t, "from")
			to := max(moment.Draw(t, "to"), from+1000)
			var app *feedback.ID
			if rapid.Bool().Draw(t, "of one app") {
				app = &apps[0].ID
			}
			if compareStats(r, t, account, app, from, to) > 0 {
				counted++
			}
		})
		if counted == 0 {
			t.Error("there was never anything to count")
		}
	})
}

// compareStats holds the stats of a range against the totals of lists, and returns how many
// requests there are.
func compareStats(r *storetest.Rig, t *rapid.T, account feedback.Account, app *feedback.ID, from, to feedback.Time) int64 {
	stats, err := r.Index.Stats(ctx, account.ID, app, from, to)
	if err != nil || !stats.TagsExact {
		t.Fatal(stats, err)
	}
	total := func(f index.Filter) int64 {
		f.Box = feedback.Live
		if f.AppID == nil {
			f.AppID = app
		}
		if f.CreatedAfter == nil {
			f.CreatedAfter, f.CreatedBefore = &from, &to
		}
		_, total, err := r.Index.List(ctx, account.ID, f, index.Page{Sort: index.Newest, Limit: 1})
		if err != nil || !total.Exact {
			t.Fatal(total, err)
		}
		return total.N
	}
	check := func(what string, got, want int64) {
		if got != want {
			t.Fatalf("%s from %v to %v: %d, want %d: %+v", what, from.Std(), to.Std(), got, want, stats)
		}
	}
	check("total", stats.Total, total(index.Filter{}))
	var byStatus, byDay, byApp int64
	for i, s := range stats.ByStatus {
		check(string(s.Status), s.Requests, total(index.Filter{Statuses: []feedback.Status{s.Status}}))
		if byStatus += s.Requests; s.Status != feedback.Statuses()[i] {
			t.Fatalf("%s is not in its place", s.Status)
		}
	}
	var byAnswer int64
	for _, a := range stats.ByAnswer {
		byAnswer += a.Requests
	}
	check("answers", byAnswer, stats.Total)
	next := from.Std()
	for _, d := range stats.ByDay {
		end := next.Truncate(day).Add(day)
		if end.After(to.Std()) {
			end = to.Std()
		}
		after, before := feedback.At(next), feedback.At(end)
		check(d.Day, d.Requests, total(index.Filter{CreatedAfter: &after, CreatedBefore: &before}))
		if byDay += d.Requests; d.Day != next.Format(time.DateOnly) {
			t.Fatalf("%s in the place of %v", d.Day, next)
		}
		next = end
	}
	check("days", feedback.At(next).Std().UnixMicro(), to.Std().UnixMicro())
	for _, a := range stats.ByApp {
		check("app", a.Requests, total(index.Filter{AppID: &a.AppID}))
		byApp += a.Requests
	}
	for _, n := range []int64{byStatus, byDay, byApp} {
		check("sum", n, stats.Total)
	}
	for _, tag := range []string{"a", "b", "ä"} {
		i := slices.IndexFunc(stats.ByTag, func(t feedback.Tag) bool { return feedback.FoldTag(t.Tag) == tag })
		n := int64(0)
		if i >= 0 {
			n = stats.ByTag[i].Requests
		}
		check(tag, n, total(index.Filter{Tag: tag}))
	}
	if !slices.IsSortedFunc(stats.ByTag, func(a, b feedback.Tag) int { return int(b.Requests - a.Requests) }) {
		t.Fatalf("%+v is not sorted", stats.ByTag)
	}
	return stats.Total
}

// TestStatsPlans: requests are counted by indexes that have all that is asked, and no
// more of them is read than the range has; and many requests are counted right.
func TestStatsPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := storetest.NewBig(t, at)
		settle(b)
		b.Exec("UPDATE requests SET answered_after = 1 WHERE idempotency_key LIKE '%0'")
		b.Analyze()
		if at.Name == "postgres" { // as autovacuum does; else the index alone does not say which rows are there
			b.Exec("VACUUM requests")
		}
		from, to := feedback.At(storetest.BigFirst.Add(storetest.BigTime/2)), feedback.At(storetest.BigFirst.Add(storetest.BigTime))
		whole := feedback.At(storetest.BigFirst.Add(-300 * day))
		for _, deleted := range []bool{false, true} {
			if deleted {
				b.Drop(b.AcmeApps[3])
			}
			for _, app := range []*feedback.ID{nil, &b.AcmeApps[1].ID} {
				var got feedback.Stats
				sent := b.During(func(s *store.Store) (err error) {
					got, err = s.Index.Stats(ctx, b.Acme.ID, app, from, to)
					return err
				})
				for _, s := range sent {
					switch {
					case strings.Contains(s.Query, "c.status, ("):
						b.CheckPlan("statuses", s, "requests", "requests_app_status")
					case strings.Contains(s.Query, "answered_after"):
						b.CheckPlan("answers", s, "requests", "requests_answered")
					case strings.Contains(s.Query, "SELECT (SELECT"):
						b.CheckPlan("days", s, "requests", map[bool][]string{true: {"requests_box", "requests_app"}, false: {"requests_app"}}[app == nil]...)
					default:
						continue
					}
					checkIndexOnly(b, s, strings.Contains(s.Query, "r.app_id NOT IN"))
				}
				stats, err := b.Index.Stats(ctx, b.Acme.ID, app, whole, to)
				outside := map[bool]int64{true: 1}[app == nil] // the one of which the others are copies
				f := index.Filter{Box: feedback.Live, AppID: app}
				_, total, listErr := b.Index.List(ctx, b.Acme.ID, f, index.Page{Sort: index.Newest, Limit: 1})
				if err != nil || listErr != nil || stats.Total+outside != total.N || got.Total >= stats.Total || got.Total == 0 {
					t.Errorf("%d and %d of %d, %v, %v", got.Total, stats.Total, total.N, err, listErr)
				}
			}
		}
	})
}

// checkIndexOnly holds that no statement reads a request, unless it must know whose it is.
func checkIndexOnly(b *storetest.Big, s storetest.Statement, reads bool) {
	b.T.Helper()
	for _, n := range b.Plan(s) {
		searched := strings.Contains(n.Kind, " requests ") || strings.Contains(n.Kind, " r USING")
		if !reads && (searched && !strings.Contains(n.Kind, "COVERING") || n.Table == "requests" && n.Kind != "Index Only Scan") {
			b.T.Errorf("the plan reads requests by %s %s:\n%s", n.Kind, n.Index, s.Query)
		}
	}
}
