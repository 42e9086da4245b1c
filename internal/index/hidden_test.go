package index_test

import (
	"database/sql/driver"
	"strings"
	"sync/atomic"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestFewHidden: a list without hidden requests has the same pages and totals whether few are hidden, so
// that it is read like a plain list, or many. It depends on those that the rest of the filter matches.
func TestFewHidden(t *testing.T) {
	const few = 256
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		app, other, dropped := r.NewApp(account), r.NewApp(account), r.NewApp(account)
		change := func(ids []feedback.ID, change func(*feedback.Request)) {
			_, err := r.ChangeRequests(ctx, account.ID, store.Bulk{IDs: ids}, feedback.Command(), func(r *feedback.Request) error {
				change(r)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		hide := func(r *feedback.Request) { r.Hidden = true }
		for _, in := range []feedback.App{app, other, dropped} {
			requests := make([]feedback.Request, few+60)
			for i := range requests {
				requests[i] = feedback.NewRequest("Dark mode", "")
				requests[i].Votes = int64(i * i % 5 % 3)
			}
			r.InsertRequests(in, requests)
		}
		ids, others := r.IDs(app), r.IDs(other)
		change(ids[:20], func(r *feedback.Request) { r.Status = "planned" })
		change(ids[20:30], func(r *feedback.Request) { r.Box = feedback.Bin })
		change(r.IDs(dropped), hide)
		r.Drop(dropped)

		var found atomic.Int64
		s := r.Watched(func(query string, _ []driver.NamedValue) {
			if strings.Contains(query, "index_") {
				found.Add(1)
			}
		})
		check := func(what string, f index.Filter, indexed bool) {
			t.Helper()
			f.Box, f.Hidden = feedback.Live, new(false)
			found.Store(0)
			if _, _, err := s.Index.List(ctx, account.ID, f, index.Page{Sort: index.Newest, Limit: 10}); err != nil {
				t.Fatal(err)
			}
			if read := found.Load() > 0; read != indexed {
				t.Errorf("%s: the list reads the index: %t", what, read)
			}
			n := readNaive(r, account.ID)
			for _, sort := range orders {
				n.compareList(t, f, index.Page{Sort: sort, Limit: 37})
				n.compareList(t, f, index.Page{Sort: sort, Limit: 37, Unchanged: new(feedback.At(r.Clock.Now()))})
			}
			n.compareExport(t, f, 100)
		}
		opened := []feedback.Status{feedback.Opened}
		inApp, everywhere := index.Filter{AppID: &app.ID}, index.Filter{}
		check("none are hidden", inApp, false)
		change(ids[10:few+20], hide) // ten of them are in the bin
		check("few are hidden", inApp, false)
		check("few are hidden in all apps", everywhere, false)
		change(others[:1], hide)
		check("many are hidden in all apps", everywhere, true)
		check("few are hidden in the app", inApp, false)
		change(ids[few+20:few+21], hide)
		check("many are hidden in the app", inApp, true)
		check("few are hidden in the status", index.Filter{AppID: &app.ID, Statuses: opened}, false)
		check("few are hidden in the other app", index.Filter{AppID: &other.ID}, false)
		r.IndexAll()
		check("many are hidden, and the index has all", inApp, true)
		change(ids[30:], hide)
		check("all but a few are hidden", inApp, true)
		change(ids[:10], hide)
		check("all are hidden", inApp, true)
	})
}
