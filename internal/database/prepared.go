package database

import (
	"context"
	"database/sql/driver"
	"errors"
	"strconv"
	"strings"
	"sync"
)

// pgx keeps prepared statements on connections to PostgreSQL; this file does the same for
// SQLite. Preparing took a sixth of the time of a list and a fifth of the time of a
// submission.

// maxPrepared is how many statements a connection keeps. The longest, a group of 256
// submissions, takes about half a megabyte.
const maxPrepared = 128

// preparing is a connector whose connections keep their prepared statements.
type preparing struct {
	driver.Connector
	open *sync.RWMutex // read-locked by each connection until it is closed; then locked by DB.Close
}

func (p preparing) Connect(ctx context.Context) (driver.Conn, error) {
	if !p.open.TryRLock() {
		return nil, errors.New("the database is closed")
	}
	conn, err := p.Connector.Connect(ctx)
	if err != nil {
		p.open.RUnlock()
		return nil, err
	}
	return &preparedConn{conn.(liteConn), p.open, map[string]preparedStmt{}}, nil
}

// unnumbered replaces the placeholders of a statement, such as $1, by question marks, and returns their numbers,
// or nil if these are 1, 2, 3…. SQLite takes $1 for a name: it searches all names for each one that it reads, and for
// each value that it is given, which takes the square of their number.
func unnumbered(query string) (marked string, numbers []int) {
	var b strings.Builder
	var quote byte // that of the text or name that is being read, or 0
	written, inOrder := 0, true
	for i := 0; i < len(query); i++ {
		switch c := query[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '$':
			end := i + 1
			for end < len(query) && '0' <= query[end] && query[end] <= '9' {
				end++
			}
			n, err := strconv.Atoi(query[i+1 : end])
			if err != nil {
				continue // SQLite refuses it
			}
			numbers = append(numbers, n)
			inOrder = inOrder && n == len(numbers)
			b.WriteString(query[written:i] + "?")
			written = end
		}
	}
	if inOrder {
		numbers = nil
	}
	return b.String() + query[written:], numbers
}

// liteConn is a connection to SQLite.
type liteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

type liteStmt interface {
	driver.Stmt
	driver.StmtQueryContext
	driver.StmtExecContext
}

type preparedStmt struct {
	liteStmt
	numbers []int // those of its placeholders, unless they are 1, 2, 3…
}

// values returns the values of the placeholders. Without one of them, it returns what SQLite refuses.
func (s preparedStmt) values(args []driver.NamedValue) []driver.NamedValue {
	if s.numbers == nil {
		return args
	}
	values := make([]driver.NamedValue, len(s.numbers))
	for i, n := range s.numbers {
		if n < 1 || n > len(args) {
			return nil
		}
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: args[n-1].Value}
	}
	return values
}

// preparedConn is used by one goroutine at a time; database/sql guarantees that.
type preparedConn struct {
	liteConn
	open *sync.RWMutex           // as in preparing
	idle map[string]preparedStmt // by their text
}

// take returns a statement that is not used elsewhere until giveBack.
func (c *preparedConn) take(ctx context.Context, query string) (preparedStmt, error) {
	if stmt, ok := c.idle[query]; ok {
		delete(c.idle, query)
		return stmt, nil
	}
	marked, numbers := unnumbered(query)
	stmt, err := c.PrepareContext(ctx, marked)
	if err != nil {
		return preparedStmt{}, err
	}
	return preparedStmt{stmt.(liteStmt), numbers}, nil
}

// giveBack keeps a statement for the next use. It closes one that has failed, because its
// state is unknown.
func (c *preparedConn) giveBack(query string, stmt preparedStmt, err error) error {
	if _, twice := c.idle[query]; twice || err != nil {
		return stmt.Close()
	}
	if len(c.idle) >= maxPrepared {
		for text, old := range c.idle {
			delete(c.idle, text)
			if err := old.Close(); err != nil {
				return err
			}
			break
		}
	}
	c.idle[query] = stmt
	return nil
}

func (c *preparedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	stmt, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	result, err := stmt.ExecContext(ctx, stmt.values(args))
	if failed := c.giveBack(query, stmt, err); err == nil {
		err = failed
	}
	return result, err
}

func (c *preparedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	stmt, err := c.take(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(ctx, stmt.values(args))
	if err != nil {
		_ = c.giveBack(query, stmt, err) // the first error is the reason
		return nil, err
	}
	return &preparedRows{rows, c, query, stmt}, nil
}

func (c *preparedConn) Close() error {
	defer c.open.RUnlock()
	var err error
	for _, stmt := range c.idle {
		err = errors.Join(err, stmt.Close())
	}
	return errors.Join(err, c.liteConn.Close())
}

// preparedRows gives its statement back when it is closed.
type preparedRows struct {
	driver.Rows
	conn  *preparedConn
	query string
	stmt  preparedStmt
}

func (r *preparedRows) Close() error {
	err := r.Rows.Close()
	if failed := r.conn.giveBack(r.query, r.stmt, err); err == nil {
		err = failed
	}
	return err
}
