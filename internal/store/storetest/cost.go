package storetest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Cost is what it costs to run a statement.
type Cost struct {
	Worst float64 // with the worst plan that the service may use
	Best  float64 // with the best plan that is known
	Plan  string  // says what the worst plan is, and how to get the best one
}

// statements are the beginnings of statements that have plans.
var statements = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "WITH"}

// Measure runs a statement on its connection, in its transaction if there is one, and undoes what it did. It returns
// false for a statement without a plan.
//
// On PostgreSQL, the plans are the one for the values and the one for any values, which a connection may use from the
// sixth time on, and the best plan is among them and some others. It counts the rows and the blocks of all steps, because
// a block that is in memory costs about as much as a row.
//
// On SQLite there is one plan. Its cost is the processor time of this process in microseconds, without what else it does.
func Measure(at Place, conn *sql.Conn, query string, args []driver.NamedValue) (cost Cost, has bool, err error) {
	query = strings.TrimSpace(query)
	for _, s := range statements {
		has = has || strings.HasPrefix(query, s+" ")
	}
	if !has {
		return cost, false, nil
	}
	m := measured{conn: conn, query: query}
	for _, arg := range args {
		m.args = append(m.args, arg.Value)
	}
	if at.Name == "postgres" {
		cost = m.postgres()
	} else {
		cost = m.sqlite()
	}
	if m.err != nil {
		m.err = fmt.Errorf("%s: %w", query, m.err)
	}
	return cost, true, m.err
}

// measured is a statement that is measured, and the first error.
type measured struct {
	conn  *sql.Conn
	query string
	args  []any
	err   error
}

func (m *measured) exec(statement string) {
	if m.err == nil {
		_, m.err = m.conn.ExecContext(context.Background(), statement)
	}
}

// otherPlans are settings that make PostgreSQL choose other plans.
var otherPlans = []string{
	"enable_seqscan = off", "enable_bitmapscan = off", "enable_indexscan = off; SET LOCAL enable_indexonlyscan = off",
	"enable_hashjoin = off; SET LOCAL enable_mergejoin = off", "enable_nestloop = off", "enable_sort = off",
	"enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off", "join_collapse_limit = 1",
}

func (m *measured) postgres() Cost {
	end := "ROLLBACK TO SAVEPOINT measured; RELEASE SAVEPOINT measured"
	if _, none := m.conn.ExecContext(context.Background(), "SAVEPOINT measured"); none != nil {
		end = "ROLLBACK" // the statement has no transaction
		m.exec("BEGIN")
	}
	m.exec("SET LOCAL lock_timeout = 200") // another connection may wait for this one
	m.exec("PREPARE measured AS " + m.query)
	prepared := m.err == nil
	defer func() {
		failure := m.err
		m.err = nil
		m.exec(end)
		if prepared {
			m.exec("DEALLOCATE measured")
		}
		m.err = errors.Join(failure, m.err)
	}()
	run := func(settings string) (node postgresNode, ok bool) {
		m.exec("SAVEPOINT plan; SET LOCAL " + settings)
		if m.err != nil {
			return node, false
		}
		node, err := explain(m.conn, "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) "+execute("measured", m.args))
		m.exec("ROLLBACK TO SAVEPOINT plan; RELEASE SAVEPOINT plan")
		return node, err == nil
	}
	began := time.Now()
	worst, ok := run("plan_cache_mode = force_custom_plan")
	generic, also := run("plan_cache_mode = force_generic_plan")
	if m.err == nil && (!ok || !also) {
		m.err = errors.New("it fails in EXPLAIN")
	}
	best, by := min(worst.cost(), generic.cost()), "another value of plan_cache_mode"
	if generic.cost() > worst.cost() {
		worst = generic
	}
	// A plan that takes twice as long as these is not the best.
	most := fmt.Sprintf("statement_timeout = %d; SET LOCAL plan_cache_mode = force_custom_plan; SET LOCAL ",
		50+2*time.Since(began).Milliseconds())
	for _, settings := range otherPlans {
		if other, ok := run(most + settings); ok && other.cost() < best {
			best, by = other.cost(), settings
		}
	}
	return Cost{worst.cost(), best, fmt.Sprintf("%v\nbest: %s", worst, by)}
}

func (m *measured) sqlite() Cost {
	least := time.Hour
	for try := 0; try < 10 && least > time.Millisecond; try++ { // the garbage collector may run meanwhile
		m.exec("SAVEPOINT measured")
		if m.err != nil {
			break
		}
		before := ProcessorTime()
		m.err = m.drain()
		least = min(least, ProcessorTime()-before)
		m.exec("ROLLBACK TO SAVEPOINT measured; RELEASE SAVEPOINT measured")
	}
	cost := float64(least.Microseconds())
	return Cost{Worst: cost, Best: cost}
}

// drain runs the statement and reads all rows.
func (m *measured) drain() error {
	rows, err := m.conn.QueryContext(context.Background(), m.query, m.args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err below has what matters
	for rows.Next() {
	}
	return rows.Err()
}

// cost is the sum of the rows that all steps of a plan produce or drop, and the blocks that they read.
func (n postgresNode) cost() float64 { return n.Hit + n.Fetched + n.rows() }

func (n postgresNode) rows() float64 {
	sum := n.seen() * n.Loops
	for _, inner := range n.Plans {
		sum += inner.rows()
	}
	return sum
}

func (n postgresNode) seen() float64 { return n.Rows + n.Removed + n.Unjoined + n.Rechecked }

// String says which steps the plan has, and how many rows each of them sees how many times.
func (n postgresNode) String() string {
	text := n.Kind
	if n.Table != "" {
		text += " on " + n.Table
	}
	if n.Index != "" {
		text += " by " + n.Index
	}
	text += fmt.Sprintf(" %.0f × %.0f", n.seen(), n.Loops)
	if len(n.Plans) > 0 {
		inner := make([]string, len(n.Plans))
		for i, p := range n.Plans {
			inner[i] = p.String()
		}
		text += " (" + strings.Join(inner, ", ") + ")"
	}
	return text
}
