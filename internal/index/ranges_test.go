package index_test

import (
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestRangesOfTime: whatever counts or lists the requests of a range of times has those
// that were created at its beginning, and not those at its end, to the millisecond.
func TestRangesOfTime(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app, other := r.NewApp(account), r.NewApp(account)
		first := r.Clock.Now()
		binned := r.Fill(other, 1)
		_, err := r.ChangeRequest(ctx, account.ID, binned.ID, feedback.Command(), func(q *feedback.Request) error {
			q.Box = feedback.Bin
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		const moments = 4 // at each of which one request comes
		for range moments {
			request := feedback.NewRequest("Dark mode", "")
			request.AppID, request.Source, request.Tags = app.ID, "widget", []string{"a"}
			if _, err := r.AddRequest(ctx, account.ID, feedback.Command(), request); err != nil {
				t.Fatal(err)
			}
			r.Clock.Move(time.Millisecond)
		}
		r.Clock.Move(time.Hour)
		r.Fill(other, 1)
		r.IndexAll()
		moment := func(i int) feedback.Time { return feedback.At(first.Add(time.Duration(i) * time.Millisecond)) }
		for _, dropped := range []bool{false, true} {
			if dropped { // then lists are read app by app
				r.Drop(other)
			}
			for from := -1; from <= moments; from++ {
				for to := from + 1; to <= moments+1; to++ {
					compareRange(r, account.ID, app.ID, moment(from), moment(to), int64(min(to, moments)-max(from, 0)))
				}
			}
		}
	})
}

// compareRange holds all that is said of a range against the number of its requests.
func compareRange(r *storetest.Rig, accountID, appID feedback.ID, from, to feedback.Time, want int64) {
	r.T.Helper()
	for name, f := range map[string]index.Filter{
		"all": {}, "an app": {AppID: &appID}, "a tag": {Tag: "a"}, "words": {Query: "dark"},
		"a status": {Statuses: []feedback.Status{feedback.Opened}},
	} {
		f.Box, f.CreatedAfter, f.CreatedBefore = feedback.Live, &from, &to
		for what, got := range tallies(r, accountID, f) {
			if got != want {
				r.T.Errorf("%s of %s from %v to %v: %d requests, want %d", what, name, from.Std(), to.Std(), got, want)
			}
		}
	}
	stats, err := r.Index.Stats(ctx, accountID, nil, from, to)
	var days, answers, tagged int64
	for _, d := range stats.ByDay {
		days += d.Requests
	}
	for _, a := range stats.ByAnswer {
		answers += a.Requests
	}
	for _, tag := range stats.ByTag {
		tagged += tag.Requests
	}
	if err != nil || stats.Total != want || days != want || answers != want || tagged != want {
		r.T.Errorf("stats from %v to %v: %+v, %v, want %d", from.Std(), to.Std(), stats, err, want)
	}
}

// tallies are how many requests each way to read a filter finds.
func tallies(r *storetest.Rig, accountID feedback.ID, f index.Filter) map[string]int64 {
	r.T.Helper()
	found := map[string]int64{}
	for _, sort := range orders {
		requests, total, err := r.Index.List(ctx, accountID, f, index.Page{Sort: sort, Limit: 10})
		if err != nil || !total.Exact {
			r.T.Fatal(total, err)
		}
		found["the total of "+string(sort)], found[string(sort)] = total.N, int64(len(requests))
	}
	exported, err := r.ExportPage(ctx, accountID, f, nil, 10)
	if err != nil {
		r.T.Fatal(err)
	}
	found["the export"] = int64(len(exported))
	facets, err := r.Index.Facets(ctx, accountID, f)
	if err != nil {
		r.T.Fatal(err)
	}
	for _, s := range facets.Statuses {
		found["the statuses' facets"] += s.Count
	}
	for _, a := range facets.Apps {
		found["the apps' facets"] += a.Count
	}
	found["the tags' facets"] = 0
	for _, tag := range facets.Tags {
		found["the tags' facets"] += tag.Count
	}
	bulk := store.Bulk{Filter: f, Expected: int64(len(exported))}
	_, err = r.ChangeRequests(ctx, accountID, bulk, feedback.Command(), func(*feedback.Request) error { return nil })
	found["a bulk change"] = int64(len(exported))
	if err != nil {
		found["a bulk change"] = -1
	}
	return found
}
