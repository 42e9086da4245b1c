package index_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// cursorText is how a statement says where a range ends, by the id alone or by a row of
// columns that ends with it; beforeCursor is how a plan of SQLite says so.
var (
	cursorText   = regexp.MustCompile(`\bid\)? <`)
	beforeCursor = regexp.MustCompile(`\bid(<\?|\)<\()`)
)

// listForm is one form of the list of requests.
type listForm struct {
	name     string
	filter   index.Filter
	indexes  []string
	branches int
}

// The indexes of lists that are merged from ranges.
var (
	ofStatus = []string{"requests_app_status"}
	ofApp    = []string{"requests_app_status", "requests_triaged"}
)

// primaryKey is the name of the index of the requests' primary key in plans.
func primaryKey(at storetest.Place) string {
	if at.Name == "postgres" {
		return "requests_pkey"
	}
	return "sqlite_autoindex_requests_1"
}

// listForms returns forms of the list. apps is how many apps of the account have requests.
func listForms(b *storetest.Big, apps int) []listForm {
	app, small := b.AcmeApps[1].ID, b.AcmeApps[3].ID
	form := func(name string, app *feedback.ID, statuses ...feedback.Status) listForm {
		indexes, branches := ofStatus, len(statuses)
		if branches == 0 {
			indexes, branches = ofApp, 2
		}
		if app == nil {
			branches *= apps
		}
		return listForm{name, index.Filter{AppID: app, Statuses: statuses, Box: feedback.Live}, indexes, branches}
	}
	rare := form("rare status", nil, "declined")
	rare.branches-- // one app has none
	return []listForm{
		rare,
		form("all", nil),
		form("frequent status", nil, "opened"),
		form("statuses", nil, "completed", "declined", "opened", "planned"),
		form("app", &app),
		form("small app", &small),
		form("app, status", &app, "planned"),
		form("small app, status", &small, "declined"),
		form("app, statuses", &app, "opened", "declined"),
	}
}

// listed returns the statement of a page, after comparing what the store returned with
// what the plainest statement does.
func listed(b *storetest.Big, f index.Filter, page index.Page) storetest.Statement {
	b.T.Helper()
	var got []feedback.Request
	var total index.Total
	sent := b.During(func(s *store.Store) (err error) {
		got, total, err = s.Index.List(ctx, b.Acme.ID, f, page)
		return err
	})
	args := []any{b.Acme.ID}
	where := " FROM requests JOIN apps a ON a.account_id = requests.account_id AND a.id = app_id AND deleted_at IS NULL" +
		" WHERE requests.account_id = $1 AND box = 'live'"
	if f.AppID != nil {
		args = append(args, *f.AppID)
		where += fmt.Sprintf(" AND app_id = $%d", len(args))
	}
	if len(f.Statuses) > 0 {
		where += " AND status IN ('" + strings.Join(strs(f.Statuses), "','") + "')"
	}
	var all int64
	if err := b.Raw.QueryRowContext(ctx, "SELECT COUNT(*)"+where, args...).Scan(&all); err != nil || all != total.N || !total.Exact {
		b.T.Fatalf("%d in all, want %d, %v", total.N, all, err)
	}
	order := " ORDER BY requests.id DESC"
	if page.Sort == index.Oldest {
		order = " ORDER BY requests.id"
	}
	if page.After != nil {
		args = append(args, page.After.ID)
		where += fmt.Sprintf(" AND requests.id %s $%d", map[bool]string{true: ">", false: "<"}[(page.Sort == index.Oldest)], len(args))
	}
	rows, err := b.Raw.QueryContext(ctx, "SELECT requests.id"+where+order+fmt.Sprintf(" LIMIT %d", page.Limit), args...)
	if err != nil {
		b.T.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	n := 0
	for ; rows.Next(); n++ {
		var want feedback.ID
		if err := rows.Scan(&want); err != nil {
			b.T.Fatal(err)
		}
		if n >= len(got) || got[n].ID != want {
			b.T.Fatalf("row %d of the page is not %s", n, want)
		}
	}
	if err := rows.Err(); err != nil || n != len(got) {
		b.T.Fatalf("%d rows, want %d, %v", len(got), n, err)
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
func checkPage(b *storetest.Big, name string, s storetest.Statement, by []string, branches, limit int) {
	b.T.Helper()
	b.CheckPlan(name, s, "requests", by...)
	if b.At.Name == "sqlite" {
		searches, merges := 0, 0
		for _, n := range b.Plan(s) {
			if strings.HasPrefix(n.Kind, "MERGE (UNION ALL)") {
				merges++
			}
			if strings.HasPrefix(n.Kind, "SEARCH") {
				searches++
			}
			if strings.Contains(n.Kind, "TEMP B-TREE") {
				b.T.Errorf("%s: the plan has %s", name, n.Kind)
			}
			if cursorText.MatchString(s.Query) && strings.HasPrefix(n.Kind, "SEARCH") && !beforeCursor.MatchString(n.Kind) {
				b.T.Errorf("%s: the plan does not begin at the cursor: %s", name, n.Kind)
			}
		}
		if searches != branches || merges != branches-1 {
			b.T.Errorf("%s: the plan has %d ranges and %d merges, want %d", name, searches, merges, branches)
		}
		return
	}
	for kind, nodes := range map[string][]storetest.Node{"first": b.Plan(s), "settled": b.SettledPlan(s)} {
		ranges := 0
		for _, n := range nodes {
			if n.Kind == "Sort" || n.Kind == "Incremental Sort" {
				if branches == 1 || slices.Contains(n.Parents, "Append") {
					b.T.Errorf("%s: the %s plan sorts a range", name, kind)
				}
			}
			if strings.HasPrefix(n.Kind, "Index") {
				ranges++
				if !slices.Contains(n.Parents, "Limit") {
					b.T.Errorf("%s: the %s plan reads a range without limit", name, kind)
				}
			}
			if strings.HasPrefix(n.Kind, "Bitmap") {
				b.T.Errorf("%s: the %s plan reads all of a range: %s %s", name, kind, n.Kind, n.Index)
			}
		}
		if ranges != branches {
			b.T.Errorf("%s: the %s plan has %d ranges, want %d", name, kind, ranges, branches)
		}
	}
	read := 0.0
	for _, n := range b.RunPlan(s) {
		if strings.HasPrefix(n.Kind, "Index") {
			read += n.Read
		}
	}
	if most := float64(branches * limit); read > most {
		b.T.Errorf("%s: %v rows are read for a page of %d from %d ranges", name, read, limit, branches)
	}
}

// checkPages checks every page of every form: the first ones, and those of a deep cursor.
func checkPages(b *storetest.Big, form listForm) {
	b.T.Helper()
	const limit = 51
	var blocks [2]float64
	for i, after := range []*index.Place{nil, {ID: *b.Deep()}} {
		for _, oldest := range []bool{false, true} {
			name := fmt.Sprintf("%s, oldest %v, deep %v", form.name, oldest, after != nil)
			page := index.Page{After: after, Sort: map[bool]index.Sort{false: index.Newest, true: index.Oldest}[oldest], Limit: limit}
			s := listed(b, form.filter, page)
			checkPage(b, name, s, form.indexes, form.branches, limit)
			if b.At.Name == "postgres" {
				blocks[i] += b.Blocks(s)
			}
		}
	}
	if blocks[1] > 3*blocks[0] {
		b.T.Errorf("%s: the deep pages read %v blocks, the first ones %v", form.name, blocks[1], blocks[0])
	}
}

// TestListPlans: every form of the list reads a page's worth of an index, on its first
// page and deep in the list, also while a deleted app is being purged.
func TestListPlans(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := storetest.NewBig(t, at)
		for _, form := range listForms(b, len(b.AcmeApps)) {
			checkPages(b, form)
		}
		b.Drop(b.AcmeApps[0]) // a third of all requests
		for _, form := range listForms(b, len(b.AcmeApps)-1) {
			form.name += ", while an app is being purged"
			checkPages(b, form)
		}
		checkCounters(b)
	})
}

// TestListsOfNearlyAll: a list that leaves out few requests of the account walks the primary key.
func TestListsOfNearlyAll(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		b := storetest.NewBig(t, at)
		b.Exec("UPDATE requests SET box = CASE WHEN idempotency_key LIKE '%4322' THEN 'bin' ELSE 'live' END, status = 'opened'")
		b.CountRequests()
		b.Analyze()
		for _, filter := range []index.Filter{{}, {Statuses: []feedback.Status{"opened"}}} {
			filter.Box = feedback.Live
			checkPages(b, listForm{fmt.Sprint(filter.Statuses), filter, []string{primaryKey(at)}, 1})
		}
		b.Drop(b.AcmeApps[0]) // a third of all requests
		checkPages(b, listForm{"while an app is being purged", index.Filter{Box: feedback.Live}, ofApp, 2 * (len(b.AcmeApps) - 1)})
	})
}

// checkCounters holds the plan of the statement by which a list learns how many requests
// there are, if the counters know it.
func checkCounters(b *storetest.Big) {
	b.T.Helper()
	counts, apps := "request_counts_pkey", "apps_pkey"
	if b.At.Name == "sqlite" {
		counts, apps = "PRIMARY KEY", "INDEX sqlite_autoindex_apps_1"
	}
	for _, c := range []struct {
		name, table, index string
		filter             index.Filter
	}{
		{"counters", "request_counts", counts, index.Filter{}},
		{"apps of the counters", "apps", apps, index.Filter{AppID: &b.AcmeApps[1].ID, Statuses: feedback.Statuses()}},
	} {
		c.filter.Box = feedback.Live
		sent := b.During(func(s *store.Store) error {
			_, _, err := s.Index.List(ctx, b.Acme.ID, c.filter, index.Page{Sort: index.Newest, Limit: 1})
			return err
		})
		i := slices.IndexFunc(sent, func(s storetest.Statement) bool { return strings.Contains(s.Query, "FROM apps a") })
		if i < 0 {
			b.T.Fatalf("%s: no statement reads them", c.name)
		}
		b.CheckPlan(c.name, sent[i], c.table, c.index)
	}
}

// TestPlansOfYoungDatabase: in the first minute of a database PostgreSQL has not yet
// gathered statistics by itself, and the worker has it do so.
func TestPlansOfYoungDatabase(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		size := 10_000
		if at.Name == "sqlite" {
			size = 100_000 // some more, because lists of a few hundred requests walk the primary key
		}
		b := storetest.NewBigOf(t, at, size, 2000)
		if at.Name == "postgres" {
			b.Exec("DELETE FROM pg_statistic")
			b.Exec("UPDATE pg_class SET reltuples = -1, relpages = 0, relallvisible = 0 WHERE relnamespace = 'public'::regnamespace")
		}
		db, err := database.Open(ctx, database.Options{
			URL: at.Database, Folder: at.Folder, Migrations: os.DirFS("../store/migrations"), Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(db.Analyze(ctx), db.Close()); err != nil { // as the worker does
			t.Fatal(err)
		}
		for _, form := range listForms(b, len(b.AcmeApps)) {
			checkPage(b, form.name, listed(b, form.filter, index.Page{Sort: index.Newest, Limit: 51}), form.indexes, form.branches, 51)
		}
		sent := b.During(func(s *store.Store) error {
			_, _, err := s.Submitted(ctx, store.Submission{App: b.AcmeApps[1], IdempotencyKey: "key"})
			return err
		})
		b.CheckPlan("repeated submission", sent[len(sent)-1], "requests", "requests_idempotency")
	})
}
