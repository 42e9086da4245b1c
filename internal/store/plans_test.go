package store_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// scans are the plans that walk over a table without asking an index where to begin.
var scans = regexp.MustCompile(`^SCAN (requests|changes|session_tokens|sessions|apps|api_keys|request_counts|a|c|t|s|r)\b`)

// cursorText is how a statement says where a range ends, by the id alone or by a row of
// columns that ends with it; beforeCursor is how a plan of SQLite says so.
var (
	cursorText   = regexp.MustCompile(`\bid\)? <`)
	beforeCursor = regexp.MustCompile(`\bid(<\?|\)<\()`)
)

// check holds a statement's plan, and on PostgreSQL the settled one, against what is
// asked of it: the table is reached through one of the indexes only.
func (b *big) check(name string, s statement, table string, indexes ...string) {
	b.t.Helper()
	plans := map[string][]node{"": b.plan(s)}
	if b.at.Name == "postgres" {
		plans["settled "] = b.settledPlan(s)
	}
	for kind, nodes := range plans {
		found := false
		for _, n := range nodes {
			switch {
			case b.at.Name == "sqlite":
				if scans.MatchString(n.kind) {
					b.t.Errorf("%s: the plan has %s", name, n.kind)
				}
				for _, index := range indexes {
					found = found || strings.HasPrefix(n.kind, "SEARCH") && strings.Contains(n.kind+" ", index+" ")
				}
			case n.kind == "Seq Scan":
				b.t.Errorf("%s: the %s plan reads all of %s", name, kind, n.table)
			case n.kind == "Bitmap Index Scan":
				found = found || slices.Contains(indexes, n.index)
			case n.table == table && n.index != "":
				found = true
				if !slices.Contains(indexes, n.index) {
					b.t.Errorf("%s: the %s plan reads %s by %s", name, kind, table, n.index)
				}
			}
		}
		if !found {
			b.t.Errorf("%s: the %s plan does not use %v:\n%s\n%v", name, kind, indexes, s.query, nodes)
		}
	}
}

// listForm is one form of the list of requests.
type listForm struct {
	name     string
	filter   index.Filter
	index    string
	branches int
}

func (b *big) forms() []listForm {
	app, small := b.apps[1].ID, b.apps[3].ID
	form := func(name, index string, app *feedback.ID, statuses ...feedback.Status) listForm {
		return listForm{name, index.Filter{AppID: app, Statuses: statuses, Box: feedback.Live}, index, max(1, len(statuses))}
	}
	return []listForm{
		form("all", "requests_box", nil),
		form("frequent status", "requests_status", nil, "opened"),
		form("rare status", "requests_status", nil, "declined"),
		form("statuses", "requests_status", nil, "completed", "declined", "opened", "planned"),
		form("app", "requests_app", &app),
		form("small app", "requests_app", &small),
		form("app, status", "requests_app_status", &app, "planned"),
		form("small app, status", "requests_app_status", &small, "declined"),
		form("app, statuses", "requests_app_status", &app, "opened", "declined"),
	}
}

// listed returns the statement of a page, after comparing what the store returned with
// what the plainest statement does.
func (b *big) listed(f index.Filter, page index.Page) statement {
	b.t.Helper()
	var got []feedback.Request
	var total index.Total
	sent := b.during(func(s *store.Store) (err error) {
		got, total, err = s.Index.List(ctx, b.account.ID, f, page)
		return err
	})
	args := []any{b.account.ID}
	where := " FROM requests JOIN apps a ON a.account_id = requests.account_id AND a.id = app_id AND deleted_at IS NULL WHERE requests.account_id = $1 AND box = 'live'"
	if f.AppID != nil {
		args = append(args, *f.AppID)
		where += fmt.Sprintf(" AND app_id = $%d", len(args))
	}
	if len(f.Statuses) > 0 {
		where += " AND status IN ('" + strings.Join(strs(f.Statuses), "','") + "')"
	}
	var all int64
	if err := b.raw.QueryRowContext(ctx, "SELECT COUNT(*)"+where, args...).Scan(&all); err != nil || all != total.N || !total.Exact {
		b.t.Fatalf("%d in all, want %d, %v", total.N, all, err)
	}
	order := " ORDER BY requests.id DESC"
	if page.Sort == index.Oldest {
		order = " ORDER BY requests.id"
	}
	if page.After != nil {
		args = append(args, page.After.ID)
		where += fmt.Sprintf(" AND requests.id %s $%d", map[bool]string{true: ">", false: "<"}[(page.Sort == index.Oldest)], len(args))
	}
	rows, err := b.raw.QueryContext(ctx, "SELECT requests.id"+where+order+fmt.Sprintf(" LIMIT %d", page.Limit), args...)
	if err != nil {
		b.t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	n := 0
	for ; rows.Next(); n++ {
		var want feedback.ID
		if err := rows.Scan(&want); err != nil {
			b.t.Fatal(err)
		}
		if n >= len(got) || got[n].ID != want {
			b.t.Fatalf("row %d of the page is not %s", n, want)
		}
	}
	if err := rows.Err(); err != nil || n != len(got) {
		b.t.Fatalf("%d rows, want %d, %v", len(got), n, err)
	}
	return sent[len(sent)-1]
}

func strs[T ~string](list []T) (out []string) {
	for _, s := range list {
		out = append(out, string(s))
	}
	return out
}

// checkPage holds the plan of a page against what is asked of it: each part of it is
// a range of the index that is read in its order, and never more than a page of it.
func (b *big) checkPage(name string, s statement, index string, branches, limit int) {
	b.t.Helper()
	b.check(name, s, "requests", index)
	if b.at.Name == "sqlite" {
		searches := 0
		for _, n := range b.plan(s) {
			if strings.HasPrefix(n.kind, "SEARCH") {
				searches++
			}
			// A merge sorts what its parts have given, which is at most a page each.
			if strings.Contains(n.kind, "TEMP B-TREE") && branches == 1 {
				b.t.Errorf("%s: the plan has %s", name, n.kind)
			}
			if cursorText.MatchString(s.query) && strings.HasPrefix(n.kind, "SEARCH") && !beforeCursor.MatchString(n.kind) {
				b.t.Errorf("%s: the plan does not begin at the cursor: %s", name, n.kind)
			}
		}
		if searches != branches {
			b.t.Errorf("%s: the plan has %d ranges, want %d", name, searches, branches)
		}
		return
	}
	for kind, nodes := range map[string][]node{"first": b.plan(s), "settled": b.settledPlan(s)} {
		ranges := 0
		for _, n := range nodes {
			if n.kind == "Sort" || n.kind == "Incremental Sort" {
				if branches == 1 || slices.Contains(n.parents, "Append") {
					b.t.Errorf("%s: the %s plan sorts a range", name, kind)
				}
			}
			if strings.HasPrefix(n.kind, "Index") {
				ranges++
				if !slices.Contains(n.parents, "Limit") {
					b.t.Errorf("%s: the %s plan reads a range without limit", name, kind)
				}
			}
			if strings.HasPrefix(n.kind, "Bitmap") {
				b.t.Errorf("%s: the %s plan reads all of a range: %s %s", name, kind, n.kind, n.index)
			}
		}
		if ranges != branches {
			b.t.Errorf("%s: the %s plan has %d ranges, want %d", name, kind, ranges, branches)
		}
	}
	read := 0.0
	for _, n := range b.postgresPlan("EXPLAIN (ANALYZE, FORMAT JSON) "+s.query, s.args...) {
		if strings.HasPrefix(n.kind, "Index") {
			read += n.read
		}
	}
	if most := float64(branches * limit); read > most {
		b.t.Errorf("%s: %v rows are read for a page of %d from %d ranges", name, read, limit, branches)
	}
}

// pages checks every page of every form: the first ones, and those of a deep cursor.
func (b *big) pages(form listForm) {
	b.t.Helper()
	const limit = 51
	var buffers [2]float64
	for i, after := range []*index.Place{nil, {ID: *b.deep()}} {
		for _, oldest := range []bool{false, true} {
			name := fmt.Sprintf("%s, oldest %v, deep %v", form.name, oldest, after != nil)
			s := b.listed(form.filter, index.Page{After: after, Sort: map[bool]index.Sort{false: index.Newest, true: index.Oldest}[oldest], Limit: limit})
			b.checkPage(name, s, form.index, form.branches, limit)
			if b.at.Name == "postgres" {
				p := b.explain(b.raw, "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+s.query, s.args...)
				buffers[i] += p.Hit + p.Read
			}
		}
	}
	if buffers[1] > 3*buffers[0] {
		b.t.Errorf("%s: the deep pages read %v blocks, the first ones %v", form.name, buffers[1], buffers[0])
	}
}

// deep is an id in the middle of a list.
func (b *big) deep() *feedback.ID {
	b.t.Helper()
	id := feedback.FirstIDAt(bigFirst.Add(bigTime / 2))
	return &id
}

// TestListPlans: every form of the list reads a page's worth of an index, on its first
// page and deep in the list, also while a deleted app is being purged.
func TestListPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := newBig(t, at)
		for _, form := range b.forms() {
			b.pages(form)
		}
		b.drop(b.apps[0]) // a third of all requests
		for _, form := range b.forms() {
			if form.filter.AppID == nil {
				form.name += ", while an app is being purged"
				form.branches *= len(b.apps) - 1
				form.index = map[string]string{"requests_box": "requests_app", "requests_status": "requests_app_status"}[form.index]
			}
			b.pages(form)
		}
		b.statements()
	})
}

// TestPlansOfYoungDatabase: in the first minute of a database PostgreSQL has not yet
// gathered statistics by itself, and the worker has it do so.
func TestPlansOfYoungDatabase(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := newBigOf(t, at, 10_000, 2000)
		if at.Name == "postgres" {
			b.exec("DELETE FROM pg_statistic")
			b.exec("UPDATE pg_class SET reltuples = -1, relpages = 0, relallvisible = 0 WHERE relnamespace = 'public'::regnamespace")
		}
		if err := b.Analyze(ctx); err != nil {
			t.Fatal(err)
		}
		for _, form := range b.forms() {
			b.checkPage(form.name, b.listed(form.filter, index.Page{Sort: index.Newest, Limit: 51}), form.index, form.branches, 51)
		}
		sent := b.during(func(s *store.Store) error {
			_, _, err := s.Submitted(ctx, store.Submission{App: b.apps[1], IdempotencyKey: "key"})
			return err
		})
		b.check("repeated submission", sent[len(sent)-1], "requests", "requests_idempotency")
	})
}

// statements checks what else is asked often or touches large tables.
func (b *big) statements() {
	b.t.Helper()
	primary := func(table string) string {
		switch {
		case b.at.Name == "postgres":
			return table + "_pkey"
		case table == "request_counts": // WITHOUT ROWID
			return "PRIMARY KEY"
		}
		return "INDEX sqlite_autoindex_" + table + "_1"
	}
	app := b.apps[1]
	id := *b.deep()
	token := feedback.NewToken(feedback.AccessToken, b.account.ID, rand.Reader)
	for _, c := range []struct {
		name, part string // of the statement that is meant
		table      string
		indexes    []string
		call       func(s *store.Store) error
	}{
		{"counters", "FROM apps a", "request_counts", []string{primary("request_counts")}, func(s *store.Store) error {
			_, _, err := s.Index.List(ctx, b.account.ID, index.Filter{Box: feedback.Live}, index.Page{Sort: index.Newest, Limit: 1})
			return err
		}},
		{"apps of the counters", "FROM apps a", "apps", []string{primary("apps")}, func(s *store.Store) error {
			_, _, err := s.Index.List(ctx, b.account.ID, index.Filter{Box: feedback.Live, AppID: &app.ID, Statuses: feedback.Statuses()}, index.Page{Sort: index.Newest, Limit: 1})
			return err
		}},
		{"session", "FROM session_tokens", "session_tokens", []string{primary("session_tokens")}, func(s *store.Store) error {
			_, err := s.Session(ctx, token)
			return only(err, feedback.ErrInvalidToken)
		}},
		{"repeated submission", "idempotency_key = ", "requests", []string{"requests_idempotency"}, func(s *store.Store) error {
			_, _, err := s.Submitted(ctx, store.Submission{App: app, IdempotencyKey: "key"})
			return err
		}},
		{"one request", "FROM requests", "requests", []string{primary("requests")}, func(s *store.Store) error {
			_, err := s.Request(ctx, b.account.ID, id)
			return only(err, feedback.ErrRequestNotFound)
		}},
		{"purged requests", "SELECT id FROM requests", "requests", []string{"requests_app"}, purge},
		{"their removal", "DELETE FROM requests", "requests", []string{primary("requests")}, purge},
		{"their history", "DELETE FROM changes", "changes", []string{"changes_request"}, purge},
		{"expired tokens", "DELETE FROM session_tokens", "session_tokens", []string{"session_tokens_expiry", primary("session_tokens")}, sweep},
		{"old idempotency keys", "UPDATE requests", "requests", []string{primary("requests")}, sweep},
	} {
		found := false
		for _, s := range b.during(c.call) {
			if strings.Contains(s.query, c.part) && b.ours(s) {
				b.check(c.name, s, c.table, c.indexes...)
				found = true
				break
			}
		}
		if !found {
			b.t.Errorf("%s: no statement has %q", c.name, c.part)
		}
	}
}

// ours reports whether a statement is about the account that has many rows.
func (b *big) ours(s statement) bool {
	var id feedback.ID
	err := id.Scan(s.args[0])
	if given, ok := s.args[0].(feedback.ID); ok {
		id, err = given, nil
	}
	return err == nil && id == b.account.ID
}

func purge(s *store.Store) error {
	_, err := s.Purge(ctx)
	return err
}

func sweep(s *store.Store) error { return s.Sweep(ctx) }

// only is err unless it is the refusal that is expected.
func only(err error, refusal *feedback.Error) error {
	if errors.Is(err, refusal) {
		return nil
	}
	return err
}
