package storetest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
)

// Plans keeps the statements that a store sends to its database, and shows how the database
// runs them.
type Plans struct {
	*Rig
	watched  *store.Store
	settings string // sets what the store's connections have set of the planner, on PostgreSQL

	mu   sync.Mutex
	sent []Statement
}

// Statement is one that the store has sent, with its values.
type Statement struct {
	Query string
	Args  []any
}

// Node is a step of a plan. On SQLite Kind is the whole line and there is nothing else.
type Node struct {
	Kind, Index, Table string
	Read               float64 // rows, of a statement that was run
	Parents            []string
}

// Plans opens another store at the same place, whose statements are kept.
func (r *Rig) Plans() *Plans {
	r.T.Helper()
	p := &Plans{Rig: r}
	var reader *sql.DB
	p.watched, reader = r.watch(p.note)
	if r.At.Name == "postgres" {
		for _, name := range []string{"plan_cache_mode", "random_page_cost"} {
			var value string
			if err := reader.QueryRowContext(context.Background(), "SHOW "+name).Scan(&value); err != nil {
				r.T.Fatal(err)
			}
			p.settings += "SET " + name + " = " + value + ";"
		}
	}
	return p
}

func (p *Plans) note(query string, args []driver.NamedValue) {
	s := Statement{Query: query}
	for _, a := range args {
		s.Args = append(s.Args, a.Value)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent = append(p.sent, s)
}

// During returns the statements that a call sends.
func (p *Plans) During(call func(s *store.Store) error) []Statement {
	p.T.Helper()
	p.sent = nil
	if err := call(p.watched); err != nil {
		p.T.Fatal(err)
	}
	return p.sent
}

// Plan is how the database would run a statement.
func (p *Plans) Plan(s Statement) []Node {
	p.T.Helper()
	if p.At.Name == "postgres" {
		return p.explain("EXPLAIN (FORMAT JSON) "+s.Query, s.Args...).flat()
	}
	rows, err := p.Raw.QueryContext(context.Background(), "EXPLAIN QUERY PLAN "+s.Query, s.Args...)
	if err != nil {
		p.T.Fatalf("%s: %v", s.Query, err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	var nodes []Node
	for rows.Next() {
		var id, parent, unused int
		var n Node
		if err := rows.Scan(&id, &parent, &unused, &n.Kind); err != nil {
			p.T.Fatal(err)
		}
		nodes = append(nodes, n)
	}
	if err := rows.Err(); err != nil {
		p.T.Fatal(err)
	}
	return nodes
}

// RunPlan runs a statement on PostgreSQL. It returns the plan with the rows that were read.
func (p *Plans) RunPlan(s Statement) []Node {
	p.T.Helper()
	return p.explain("EXPLAIN (ANALYZE, FORMAT JSON) "+s.Query, s.Args...).flat()
}

// Blocks is how many blocks PostgreSQL reads to run a statement.
func (p *Plans) Blocks(s Statement) float64 {
	p.T.Helper()
	top := p.explain("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+s.Query, s.Args...)
	return top.Hit + top.Fetched
}

// SettledPlan is the plan that PostgreSQL uses when a connection has prepared a
// statement and run it a few times: it may be one that does not look at the values.
func (p *Plans) SettledPlan(s Statement) []Node {
	p.T.Helper()
	ctx, conn := context.Background(), p.conn()
	defer conn.Close() //nolint:errcheck // back to the pool
	if _, err := conn.ExecContext(ctx, "PREPARE asked AS "+s.Query); err != nil {
		p.T.Fatalf("%s: %v", s.Query, err)
	}
	var last postgresNode
	for range 7 { // the first five look at the values
		last = p.explainOn(conn, "EXPLAIN (FORMAT JSON) "+execute("asked", s.Args))
	}
	if _, err := conn.ExecContext(ctx, "DEALLOCATE asked"); err != nil {
		p.T.Fatal(err)
	}
	return last.flat()
}

// execute returns the text that executes a prepared statement on PostgreSQL.
func execute(name string, args []any) string {
	literals := make([]string, len(args))
	for i, arg := range args {
		literals[i] = quoted(arg)
	}
	if len(literals) == 0 {
		return "EXECUTE " + name
	}
	return "EXECUTE " + name + "(" + strings.Join(literals, ",") + ")"
}

// quoted returns a value as PostgreSQL reads it in a statement.
func quoted(arg any) string {
	switch arg := arg.(type) {
	case nil:
		return "NULL"
	case []byte:
		return fmt.Sprintf(`'\x%x'`, arg)
	case feedback.ID:
		return "'" + arg.String() + "'"
	case feedback.Time:
		return fmt.Sprint(int64(arg))
	case feedback.Day:
		return fmt.Sprint(int64(arg))
	}
	if v := reflect.ValueOf(arg); v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "NULL"
		}
		return quoted(v.Elem().Interface())
	}
	if valuer, ok := arg.(driver.Valuer); ok {
		value, err := valuer.Value()
		if err != nil {
			panic(err) // the values of the store are valid
		}
		return quoted(value)
	}
	return "'" + strings.ReplaceAll(fmt.Sprint(arg), "'", "''") + "'"
}

type postgresNode struct {
	Kind      string  `json:"Node Type"`
	Index     string  `json:"Index Name"`
	Table     string  `json:"Relation Name"`
	Rows      float64 `json:"Actual Rows"`
	Removed   float64 `json:"Rows Removed by Filter"`
	Unjoined  float64 `json:"Rows Removed by Join Filter"`
	Rechecked float64 `json:"Rows Removed by Index Recheck"`
	Loops     float64 `json:"Actual Loops"`
	Hit       float64 `json:"Shared Hit Blocks"`
	Fetched   float64 `json:"Shared Read Blocks"`
	Plans     []postgresNode
}

func (n postgresNode) flat(parents ...string) []Node {
	nodes := []Node{{n.Kind, n.Index, n.Table, (n.Rows + n.Removed) * n.Loops, parents}}
	for _, inner := range n.Plans {
		nodes = append(nodes, inner.flat(append(slices.Clone(parents), n.Kind)...)...)
	}
	return nodes
}

// conn returns a connection whose planner has the store's settings.
func (p *Plans) conn() *sql.Conn {
	p.T.Helper()
	conn, err := p.Raw.Conn(context.Background())
	if err != nil {
		p.T.Fatal(err)
	}
	if _, err := conn.ExecContext(context.Background(), p.settings); err != nil {
		p.T.Fatalf("%s: %v", p.settings, err)
	}
	return conn
}

func (p *Plans) explain(query string, args ...any) postgresNode {
	p.T.Helper()
	conn := p.conn()
	defer conn.Close() //nolint:errcheck // back to the pool
	return p.explainOn(conn, query, args...)
}

func (p *Plans) explainOn(conn *sql.Conn, query string, args ...any) postgresNode {
	p.T.Helper()
	top, err := explain(conn, query, args...)
	if err != nil {
		p.T.Fatalf("%.300s: %v", query, err)
	}
	return top
}

// explain returns the plan in the answer to EXPLAIN.
func explain(conn *sql.Conn, query string, args ...any) (postgresNode, error) {
	var text string
	if err := conn.QueryRowContext(context.Background(), query, args...).Scan(&text); err != nil {
		return postgresNode{}, err
	}
	var plans []struct{ Plan postgresNode }
	if err := json.Unmarshal([]byte(text), &plans); err != nil {
		return postgresNode{}, err
	}
	return plans[0].Plan, nil
}

// scans are the plans that walk over a table without asking an index where to begin.
var scans = regexp.MustCompile(`^SCAN (requests|changes|session_tokens|sessions|apps|api_keys|request_counts|a|c|t|s|r)\b`)

// CheckPlan holds a statement's plan, and on PostgreSQL the settled one, against what is
// asked of it: the table is reached through one of the indexes only.
func (p *Plans) CheckPlan(name string, s Statement, table string, indexes ...string) {
	p.T.Helper()
	plans := map[string][]Node{"": p.Plan(s)}
	if p.At.Name == "postgres" {
		plans["settled "] = p.SettledPlan(s)
	}
	for kind, nodes := range plans {
		found := false
		for _, n := range nodes {
			switch {
			case p.At.Name == "sqlite":
				if scans.MatchString(n.Kind) {
					p.T.Errorf("%s: the plan has %s", name, n.Kind)
				}
				for _, index := range indexes {
					found = found || strings.HasPrefix(n.Kind, "SEARCH") && strings.Contains(n.Kind+" ", index+" ")
				}
			case n.Kind == "Seq Scan":
				p.T.Errorf("%s: the %splan reads all of %s", name, kind, n.Table)
			case n.Kind == "Bitmap Index Scan":
				found = found || slices.Contains(indexes, n.Index)
			case n.Table == table && n.Index != "":
				found = true
				if !slices.Contains(indexes, n.Index) {
					p.T.Errorf("%s: the %splan reads %s by %s", name, kind, table, n.Index)
				}
			}
		}
		if !found {
			p.T.Errorf("%s: the %splan does not use %v:\n%s\n%v", name, kind, indexes, s.Query, nodes)
		}
	}
}
