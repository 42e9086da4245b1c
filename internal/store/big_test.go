package store_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// bigTime is how long it took the requests to come in, from bigFirst on: some are
// older than 30 days.
const bigTime = 8 * time.Hour

var bigFirst = time.Date(2025, 12, 1, 20, 0, 0, 0, time.UTC)

// big is an installation of some size: the statements that the store sends to it are
// kept, with their values.
type big struct {
	*rig
	watched *store.Store
	account feedback.Account
	apps    []feedback.App
	size    int // how many requests the account has
	others  int // how many accounts there are beside it

	mu   sync.Mutex
	sent []statement
}

type statement struct {
	query string
	args  []any
}

// newBig is an installation with 300,000 requests, which takes a while to fill: tests get
// copies of one. Of its five apps the last two have one request in a hundred each. As it
// is in life, the older requests are settled and the newer are not; and the newest are in
// the bin, as after a wave of spam.
func newBig(t *testing.T, at storetest.Place) *big {
	t.Helper()
	const size, others = 300_000, 2000
	bigTemplate.Copy(t, at, func(t *testing.T, at storetest.Place) { newBigOf(t, at, size, others) })
	b := unfilled(t, at, size, others)
	owner, err := b.Credentials(ctx, "acme@example.com")
	if err != nil {
		t.Fatal(err)
	}
	b.account = feedback.Account{ID: owner.AccountID, Name: "Acme"}
	if b.apps, _, err = b.Apps(ctx, b.account.ID, feedback.ID{}, 10); err != nil {
		t.Fatal(err)
	}
	b.watched = b.rig.watched(b.note)
	return b
}

var bigTemplate storetest.Template

func unfilled(t *testing.T, at storetest.Place, size, others int) *big {
	t.Helper()
	if raceDetector && at.Name == "sqlite" {
		// It takes SQLite minutes to fill the tables, and the plans are the same.
		size, others = size/20, others/20
	}
	return &big{rig: newRig(t, at), size: size, others: others}
}

// newBigOf is an installation of any size, filled behind the store's back.
func newBigOf(t *testing.T, at storetest.Place, size, others int) *big {
	t.Helper()
	b := unfilled(t, at, size, others)
	b.account = b.rig.account("Acme")
	for range 5 {
		b.apps = append(b.apps, b.app(b.account))
	}
	one := b.fill(b.apps[0], 1)
	series, unhex, mod := "generate_series(1, %d) AS i(n)", "decode(%s, 'hex')", "n %% %d"
	text := "encode(sha256(n::text::bytea), 'hex')"
	uuid := "(%s)::uuid"
	if at.Name == "sqlite" {
		series = "(WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < %d) SELECT n FROM i)"
		unhex, text, uuid = "unhex(%s)", "printf('%064x', n)", "unhex(%s)"
	}
	msOf := fmt.Sprintf("%d + n * %d", bigFirst.UnixMilli(), bigTime.Milliseconds()/int64(b.size))
	idOf := func(kind int) string { // a version 7 id that is as old as the n-th request
		if at.Name == "sqlite" {
			return fmt.Sprintf(uuid, fmt.Sprintf("printf('%%012x7%03x8%%015x', %s, n)", kind, msOf))
		}
		return fmt.Sprintf(uuid, fmt.Sprintf("lpad(to_hex(%s), 12, '0') || '7%03x8' || lpad(to_hex(n), 15, '0')", msOf, kind))
	}
	literal := func(id feedback.ID) string {
		if at.Name == "sqlite" {
			return "x'" + hex.EncodeToString(id[:]) + "'"
		}
		return "'" + id.String() + "'::uuid"
	}
	m := func(by int) string { return fmt.Sprintf(mod, by) }
	var apps strings.Builder
	for i, app := range b.apps {
		fmt.Fprintf(&apps, " WHEN %d THEN %s", i, literal(app.ID))
	}
	appOf := "CASE CASE WHEN " + m(100) + " = 0 THEN 3 WHEN " + m(100) + " = 1 THEN 4 ELSE " + m(3) + " END" + apps.String() + " END"
	statusOf := "CASE WHEN " + m(7) + " = 0 THEN 'planned' WHEN n > " + fmt.Sprint(b.size/3) + " THEN 'opened' WHEN " + m(4) + " = 0 THEN 'declined' ELSE 'completed' END"
	boxOf := "CASE WHEN n > " + fmt.Sprint(b.size-b.size/20) + " OR " + m(20) + " = 7 THEN 'bin' ELSE 'live' END"
	from := func(n int) string { return " FROM " + fmt.Sprintf(series, n) }
	hash := fmt.Sprintf(unhex, text)
	copied := `tags, votes, comments, metadata, source, version, submitter_verified`
	acme, soon := literal(b.account.ID), fmt.Sprint(int64(feedback.At(b.clock.Now())))
	statements := []string{
		`INSERT INTO accounts (account_id, name, created_at) SELECT ` + idOf(1) + `, 'Other', 0` + from(b.others),
		`INSERT INTO apps (account_id, id, name, api_key, settings, version, created_at, updated_at) SELECT ` + idOf(1) + `, ` + idOf(2) + `, 'A', 'gk', '{}', 1, 0, 0` + from(b.others),
		`INSERT INTO request_counts (account_id, app_id, box, status, n) SELECT ` + idOf(1) + `, ` + idOf(2) + `, 'live', 'opened', 0` + from(b.others),
		`INSERT INTO users (account_id, id, email, name, role, password_hash, created_at) SELECT ` + acme + `, ` + idOf(4) + `, 'E', 'N', 'viewer', 'hash', 0` + from(b.others),
		`INSERT INTO users (account_id, id, email, name, role, password_hash, created_at) SELECT ` + idOf(1) + `, ` + idOf(4) + `, 'E', 'N', 'viewer', 'hash', 0` + from(b.others),
		`INSERT INTO sessions (account_id, id, user_id, created_at) SELECT ` + idOf(1) + `, ` + idOf(3) + `, ` + idOf(4) + `, 0` + from(b.others),
		`INSERT INTO sessions (account_id, id, user_id, created_at) SELECT ` + acme + `, ` + idOf(3) + `, ` + idOf(4) + `, 0` + from(b.others),
		`INSERT INTO session_tokens (account_id, hash, session_id, kind, expires_at) SELECT ` + idOf(1) + `, ` + hash + `, ` + idOf(3) + `, 'access', ` + soon + ` + n` + from(b.others),
		`INSERT INTO session_tokens (account_id, hash, session_id, kind, expires_at) SELECT ` + acme + `, ` + hash + `, ` + idOf(3) + `, 'access', ` + soon + ` + n` + from(b.others),
		`INSERT INTO requests (account_id, id, app_id, box, status, title, description, idempotency_key, fingerprint, created_at, updated_at, ` + copied + `)
			SELECT ` + acme + `, i.id, i.app_id, i.box, i.status, 'T', 'D', CASE WHEN n % 2 = 0 THEN 'key' || n END, NULL, i.at, i.at, ` + copied + `
			FROM (SELECT n, (` + msOf + `) * 1000 AS at, ` + idOf(5) + ` AS id, ` + appOf + ` AS app_id, ` + boxOf + ` AS box, ` + statusOf + ` AS status` + from(b.size) + `) AS i
			JOIN requests ON account_id = ` + acme + ` AND requests.id = ` + literal(one.ID),
		`INSERT INTO changes (account_id, seq, at, kind, actor_kind, app_id, request_id)
			SELECT ` + acme + `, 1000 + n, 0, 'request.created', 'api_key', ` + literal(b.apps[0].ID) + `, ` + idOf(5) + from(b.size),
		`DELETE FROM request_counts WHERE account_id = ` + acme,
		`INSERT INTO request_counts (account_id, app_id, box, status, n)
			SELECT account_id, app_id, box, status, COUNT(*) FROM requests WHERE account_id = ` + acme + ` GROUP BY account_id, app_id, box, status`,
		`UPDATE account_seq SET last = 1000000 WHERE account_id = ` + acme,
		fmt.Sprintf(`INSERT INTO leases (name, holder, until, progress) VALUES ('worker', %s, 0, %d)`, acme, feedback.At(bigFirst.Add(4*time.Hour-10*time.Minute))),
	}
	b.withoutIndexes("requests", "changes", func() {
		for _, s := range statements {
			b.exec(s)
		}
	})
	b.analyze()
	b.watched = b.rig.watched(b.note)
	return b
}

// analyze lets PostgreSQL gather statistics. SQLite never has any: nothing asks it to.
func (b *big) analyze() {
	b.t.Helper()
	if b.at.Name == "postgres" {
		b.exec("ANALYZE")
	}
}

func (b *big) exec(query string) {
	b.t.Helper()
	if _, err := b.raw.ExecContext(ctx, query); err != nil {
		b.t.Fatalf("%.400s: %v", query, err)
	}
}

// withoutIndexes builds the indexes of two tables after they are filled, which takes a
// fraction of the time on SQLite.
func (b *big) withoutIndexes(one, other string, fill func()) {
	b.t.Helper()
	if b.at.Name != "sqlite" {
		fill()
		return
	}
	b.raw.SetMaxOpenConns(1)
	b.exec("PRAGMA synchronous = OFF")
	rows, err := b.raw.QueryContext(ctx, "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN ($1, $2)", one, other)
	if err != nil {
		b.t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	var drops, creates []string
	for rows.Next() {
		var name, create string
		if err := rows.Scan(&name, &create); err != nil {
			b.t.Fatal(err)
		}
		drops, creates = append(drops, "DROP INDEX "+name), append(creates, create)
	}
	if err := rows.Err(); err != nil {
		b.t.Fatal(err)
	}
	for _, drop := range drops {
		b.exec(drop)
	}
	fill()
	for _, create := range creates {
		b.exec(create)
	}
}

func (b *big) note(query string, args []driver.NamedValue) {
	s := statement{query: query}
	for _, a := range args {
		s.args = append(s.args, a.Value)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent = append(b.sent, s)
}

// during returns the statements that a call sends.
func (b *big) during(call func(s *store.Store) error) []statement {
	b.t.Helper()
	b.sent = nil
	if err := call(b.watched); err != nil {
		b.t.Fatal(err)
	}
	return b.sent
}

// node is a step of a plan. On SQLite kind is the whole line.
type node struct {
	kind, index, table string
	read               float64 // rows that an ANALYZE has seen
	parents            []string
}

// plan is how the database would run a statement.
func (b *big) plan(s statement) []node {
	b.t.Helper()
	if b.at.Name == "sqlite" {
		rows, err := b.raw.QueryContext(ctx, "EXPLAIN QUERY PLAN "+s.query, s.args...)
		if err != nil {
			b.t.Fatalf("%s: %v", s.query, err)
		}
		defer rows.Close() //nolint:errcheck // rows.Err below has what matters
		var nodes []node
		for rows.Next() {
			var id, parent, unused int
			var n node
			if err := rows.Scan(&id, &parent, &unused, &n.kind); err != nil {
				b.t.Fatal(err)
			}
			nodes = append(nodes, n)
		}
		if err := rows.Err(); err != nil {
			b.t.Fatal(err)
		}
		return nodes
	}
	return b.postgresPlan("EXPLAIN (FORMAT JSON) "+s.query, s.args...)
}

type postgresNode struct {
	Kind    string  `json:"Node Type"`
	Index   string  `json:"Index Name"`
	Table   string  `json:"Relation Name"`
	Rows    float64 `json:"Actual Rows"`
	Removed float64 `json:"Rows Removed by Filter"`
	Loops   float64 `json:"Actual Loops"`
	Hit     float64 `json:"Shared Hit Blocks"`
	Read    float64 `json:"Shared Read Blocks"`
	Plans   []postgresNode
}

func (p postgresNode) flat(parents ...string) []node {
	nodes := []node{{p.Kind, p.Index, p.Table, (p.Rows + p.Removed) * p.Loops, parents}}
	for _, inner := range p.Plans {
		nodes = append(nodes, inner.flat(append(slices.Clone(parents), p.Kind)...)...)
	}
	return nodes
}

// rowQueryer is a pool or a connection of it.
type rowQueryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func (b *big) explain(q rowQueryer, query string, args ...any) postgresNode {
	b.t.Helper()
	var text string
	if err := q.QueryRowContext(ctx, query, args...).Scan(&text); err != nil {
		b.t.Fatalf("%.300s: %v", query, err)
	}
	var plans []struct{ Plan postgresNode }
	if err := json.Unmarshal([]byte(text), &plans); err != nil {
		b.t.Fatal(err)
	}
	return plans[0].Plan
}

func (b *big) postgresPlan(query string, args ...any) []node {
	b.t.Helper()
	return b.explain(b.raw, query, args...).flat()
}

// settledPlan is the plan that PostgreSQL uses when a connection has prepared a
// statement and run it a few times: it may be one that does not look at the values.
func (b *big) settledPlan(s statement) []node {
	b.t.Helper()
	conn, err := b.raw.Conn(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // back to the pool
	var mode string
	if err := b.Reader().QueryRowContext(ctx, "SHOW plan_cache_mode").Scan(&mode); err != nil {
		b.t.Fatal(err)
	}
	literals := make([]string, len(s.args))
	for i, arg := range s.args {
		literals[i] = quoted(arg)
	}
	for _, statement := range []string{"SET plan_cache_mode = " + mode, "PREPARE asked AS " + s.query} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			b.t.Fatalf("%s: %v", statement, err)
		}
	}
	var last postgresNode
	for range 7 { // the first five look at the values
		last = b.explain(conn, "EXPLAIN (FORMAT JSON) EXECUTE asked("+strings.Join(literals, ",")+")")
	}
	if _, err := conn.ExecContext(ctx, "DEALLOCATE asked"); err != nil {
		b.t.Fatal(err)
	}
	return last.flat()
}

func quoted(arg any) string {
	switch arg := arg.(type) {
	case nil:
		return "NULL"
	case []byte:
		return fmt.Sprintf(`'\x%x'`, arg)
	case *feedback.ID:
		return "'" + arg.String() + "'"
	}
	return "'" + strings.ReplaceAll(fmt.Sprint(arg), "'", "''") + "'"
}
