package index_test

import (
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// settle gives one request in a hundred votes and changes, another an assignee, another
// came in by the dashboard, and another has a tag.
func settle(b *storetest.Big) feedback.ID {
	b.T.Helper()
	var user feedback.ID
	if err := b.Raw.QueryRowContext(ctx, "SELECT id FROM users WHERE account_id = $1 ORDER BY id", b.Acme.ID).Scan(&user); err != nil {
		b.T.Fatal(err)
	}
	set := func(change, ending string, args ...any) {
		b.T.Helper()
		if _, err := b.Raw.ExecContext(ctx, "UPDATE requests SET "+change+" WHERE idempotency_key LIKE '%"+ending+"'", args...); err != nil {
			b.T.Fatal(err)
		}
	}
	set("votes = length(idempotency_key), version = 2, updated_at = updated_at + length(idempotency_key)", "00")
	set("assignee_id = $1", "20", user)
	set("source = 'dashboard'", "40")
	b.Exec(`INSERT INTO request_tags (account_id, tag, request_id, label) SELECT account_id, 'tag' || substr(idempotency_key, 4, 3), id, 'T' FROM requests WHERE idempotency_key LIKE '%6' OR idempotency_key LIKE '%4'`)
	b.Exec(`INSERT INTO request_tags (account_id, tag, request_id, label) SELECT account_id, 'design', id, 'Design' FROM requests WHERE idempotency_key LIKE '%60'`)
	b.Analyze()
	return user
}

// checkLookUps checks a statement that counts what a word or a tag leads to: every request is
// looked up by its id.
func checkLookUps(b *storetest.Big, name string, s storetest.Statement) {
	b.T.Helper()
	if b.At.Name != "sqlite" || !strings.Contains(s.Query, " CROSS JOIN requests ") {
		return
	}
	for _, n := range b.Plan(s) {
		if strings.HasPrefix(n.Kind, "SEARCH requests") && !strings.Contains(n.Kind, " id=?") {
			b.T.Errorf("%s: the plan has %s", name, n.Kind)
		}
	}
}

// TestOtherListPlans: other orders and filters than those of every day read their own
// index, and not more of it than they need.
func TestOtherListPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := storetest.NewBig(t, at)
		user := settle(b)
		b.Analyze()
		app := b.AcmeApps[3].ID
		tags := map[string]string{"sqlite": "INDEX sqlite_autoindex_request_tags_1", "postgres": "request_tags_pkey"}[at.Name]
		byID := []string{"requests_box", "requests_app", "requests_status", "requests_app_status"}
		for _, c := range []struct {
			name    string
			filter  index.Filter
			sort    index.Sort
			table   string
			indexes []string
			read    float64 // pages' worth of rows at the most
		}{
			{"most voted", index.Filter{}, index.MostVoted, "requests", append(byID, "requests_voted"), 3},
			{"most voted of an app", index.Filter{AppID: &app}, index.MostVoted, "requests", append(byID, "requests_app_voted"), 3},
			{"most voted in a status", index.Filter{Statuses: []feedback.Status{"planned"}}, index.MostVoted, "requests", append(byID, "requests_voted"), 10},
			{"recently updated", index.Filter{}, index.RecentlyUpdated, "requests", append(byID, "requests_changed", "sqlite_autoindex_requests_1"), 3},
			{"recently updated of an app", index.Filter{AppID: &app}, index.RecentlyUpdated, "requests", append(byID, "requests_app_changed"), 3},
			{"assigned", index.Filter{AssigneeID: &user}, index.Newest, "requests", []string{"requests_assignee"}, 1},
			{"assigned in an app and status", index.Filter{AssigneeID: &user, AppID: &b.AcmeApps[1].ID, Statuses: []feedback.Status{"opened"}}, index.Newest, "requests", []string{"requests_assignee"}, 9},
			{"source", index.Filter{Source: "dashboard"}, index.Oldest, "requests", []string{"requests_source"}, 1},
			{"tag", index.Filter{Tag: "design"}, index.Newest, "request_tags", []string{tags}, 3},
		} {
			c.filter.Box = feedback.Live
			const limit = 51
			for _, after := range []*index.Place{nil, {ID: *b.Deep(), Votes: 8, UpdatedAt: feedback.At(b.Clock.Now())}} {
				sent := b.During(func(s *store.Store) error {
					_, _, err := s.Index.List(ctx, b.Acme.ID, c.filter, index.Page{Sort: c.sort, After: after, Limit: limit})
					return err
				})
				read := 0.0
				for _, s := range sent {
					if !strings.Contains(s.Query, "submitter_email") { // it counts
						checkLookUps(b, c.name+", its total", s)
						continue
					}
					b.CheckPlan(c.name, s, c.table, c.indexes...)
					if at.Name == "sqlite" {
						continue
					}
					for _, n := range b.RunPlan(s) {
						if strings.HasPrefix(n.Kind, "Index") && n.Table == c.table {
							read += n.Read
						}
					}
				}
				if read > c.read*limit {
					t.Errorf("%s, deep %v: %v rows are read for a page of %d", c.name, after != nil, read, limit)
				}
			}
		}
		for name, f := range map[string]index.Filter{"tag in an app": {AppID: &app}, "tag in a status": {Statuses: []feedback.Status{"opened"}}} {
			f.Box, f.Tag = feedback.Live, "design"
			for _, s := range b.During(func(s *store.Store) error {
				_, _, err := s.Index.List(ctx, b.Acme.ID, f, index.Page{Sort: index.Newest, Limit: 51})
				return err
			}) {
				checkLookUps(b, name, s)
			}
		}
	})
}
