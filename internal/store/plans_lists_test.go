package store_test

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
func (b *big) settle() feedback.ID {
	b.t.Helper()
	var user feedback.ID
	if err := b.raw.QueryRowContext(ctx, "SELECT id FROM users WHERE account_id = $1 ORDER BY id", b.account.ID).Scan(&user); err != nil {
		b.t.Fatal(err)
	}
	set := func(change, ending string, args ...any) {
		b.t.Helper()
		if _, err := b.raw.ExecContext(ctx, "UPDATE requests SET "+change+" WHERE idempotency_key LIKE '%"+ending+"'", args...); err != nil {
			b.t.Fatal(err)
		}
	}
	set("votes = length(idempotency_key), version = 2, updated_at = updated_at + length(idempotency_key)", "00")
	set("assignee_id = $1", "20", user)
	set("source = 'dashboard'", "40")
	b.exec(`INSERT INTO request_tags (account_id, tag, request_id, label) SELECT account_id, 'tag' || substr(idempotency_key, 4, 3), id, 'T' FROM requests WHERE idempotency_key LIKE '%6' OR idempotency_key LIKE '%4'`)
	b.exec(`INSERT INTO request_tags (account_id, tag, request_id, label) SELECT account_id, 'design', id, 'Design' FROM requests WHERE idempotency_key LIKE '%60'`)
	b.analyze()
	return user
}

// looksUp checks a statement that counts what a word or a tag leads to: every request is
// looked up by its id.
func (b *big) looksUp(name string, s statement) {
	b.t.Helper()
	if b.at.Name != "sqlite" || !strings.Contains(s.query, " CROSS JOIN requests ") {
		return
	}
	for _, n := range b.plan(s) {
		if strings.HasPrefix(n.kind, "SEARCH requests") && !strings.Contains(n.kind, " id=?") {
			b.t.Errorf("%s: the plan has %s", name, n.kind)
		}
	}
}

// TestOtherListPlans: other orders and filters than those of every day read their own
// index, and not more of it than they need.
func TestOtherListPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := newBig(t, at)
		user := b.settle()
		b.analyze()
		app := b.apps[3].ID
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
			{"assigned in an app and status", index.Filter{AssigneeID: &user, AppID: &b.apps[1].ID, Statuses: []feedback.Status{"opened"}}, index.Newest, "requests", []string{"requests_assignee"}, 9},
			{"source", index.Filter{Source: "dashboard"}, index.Oldest, "requests", []string{"requests_source"}, 1},
			{"tag", index.Filter{Tag: "design"}, index.Newest, "request_tags", []string{tags}, 3},
		} {
			c.filter.Box = feedback.Live
			const limit = 51
			for _, after := range []*index.Place{nil, {ID: *b.deep(), Votes: 8, UpdatedAt: feedback.At(b.clock.Now())}} {
				sent := b.during(func(s *store.Store) error {
					_, _, err := s.Index.List(ctx, b.account.ID, c.filter, index.Page{Sort: c.sort, After: after, Limit: limit})
					return err
				})
				read := 0.0
				for _, s := range sent {
					if !strings.Contains(s.query, "submitter_email") { // it counts
						b.looksUp(c.name+", its total", s)
						continue
					}
					b.check(c.name, s, c.table, c.indexes...)
					if at.Name == "sqlite" {
						continue
					}
					for _, n := range b.postgresPlan("EXPLAIN (ANALYZE, FORMAT JSON) "+s.query, s.args...) {
						if strings.HasPrefix(n.kind, "Index") && n.table == c.table {
							read += n.read
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
			for _, s := range b.during(func(s *store.Store) error {
				_, _, err := s.Index.List(ctx, b.account.ID, f, index.Page{Sort: index.Newest, Limit: 51})
				return err
			}) {
				b.looksUp(name, s)
			}
		}
	})
}
