package database

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5"
)

var errPooled = errors.New("a connection pooler before PostgreSQL gives each transaction another session; " +
	"set its pool_mode to session, or connect directly")

// checkSession refuses a pooler that pools transactions, such as PgBouncer with pool_mode = transaction. There, what is
// set for a session holds for the transactions of others instead: commits could be acknowledged before they are
// durable, two processes could migrate at once, and prepared statements are missing.
func checkSession(ctx context.Context, db *sql.DB) error {
	first, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer first.Close() //nolint:errcheck // goes back to the pool
	second, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer second.Close() //nolint:errcheck // goes back to the pool
	mark := rand.Text()
	// No prepared statements, because a pooler may lose them.
	read := func(conn *sql.Conn) (found string, err error) {
		const query = "SELECT COALESCE(current_setting('gatherkit.session', true), '')"
		err = conn.QueryRowContext(ctx, query, pgx.QueryExecModeExec).Scan(&found)
		return found, err
	}
	exec := func(conn *sql.Conn, statement string) error {
		_, err := conn.ExecContext(ctx, statement, pgx.QueryExecModeExec)
		return err
	}
	if err := exec(first, "SET gatherkit.session = '"+mark+"'"); err != nil {
		return err
	}
	// The pooler gives the transaction the session that was used last, which the first connection then has no longer.
	if err := exec(second, "BEGIN"); err != nil {
		return err
	}
	other, err := read(second)
	own := mark
	if err == nil && other != mark {
		own, err = read(first)
	}
	if err = errors.Join(err, exec(second, "ROLLBACK")); err == nil && (other == mark || own != mark) {
		err = errPooled
	}
	return err
}
