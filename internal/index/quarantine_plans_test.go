package index_test

import (
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// TestQuarantinePlans: what lies in quarantine is listed by its own range of an index, be
// it little beside what is live, as on most days, or much, as after a wave of spam.
func TestQuarantinePlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := storetest.NewBig(t, at)
		app := b.AcmeApps[1].ID
		const limit = 51
		for _, c := range []struct{ name, which string }{{"little", "box = 'live' AND idempotency_key LIKE '%36'"}, {"much", "box = 'bin'"}} {
			b.Exec("UPDATE requests SET box = 'quarantine' WHERE " + c.which)
			b.CountRequests()
			b.Analyze()
			var apps int
			if err := b.Raw.QueryRowContext(ctx, "SELECT COUNT(*) FROM request_counts"+
				" WHERE account_id = $1 AND box = 'quarantine' AND status = 'opened'", b.Acme.ID).Scan(&apps); err != nil {
				t.Fatal(err)
			}
			for _, form := range []listForm{
				{"all", index.Filter{}, []string{"requests_aside"}, 1},
				{"app", index.Filter{AppID: &app}, ofApp, 2},
				{"status", index.Filter{Statuses: []feedback.Status{"opened"}}, ofStatus, apps},
				{"app, statuses", index.Filter{AppID: &app, Statuses: []feedback.Status{"opened", "planned"}}, ofStatus, 2},
			} {
				form.filter.Box = feedback.Quarantine
				for _, after := range []*index.Place{nil, {ID: *b.Deep()}} {
					var got []feedback.Request
					var total index.Total
					sent := b.During(func(s *store.Store) (err error) {
						got, total, err = s.Index.List(ctx, b.Acme.ID, form.filter, index.Page{Sort: index.Newest, After: after, Limit: limit})
						return err
					})
					name := c.name + ", " + form.name
					if len(got) == 0 || int64(len(got)) > total.N || !total.Exact {
						t.Fatalf("%s: %d of %+v", name, len(got), total)
					}
					for _, r := range got {
						if r.Box != feedback.Quarantine {
							t.Fatalf("%s: one that lies in %s", name, r.Box)
						}
					}
					checkPage(b, name, sent[len(sent)-1], form.indexes, form.branches, limit)
				}
			}
		}
	})
}
