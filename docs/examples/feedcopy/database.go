package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	_ "modernc.org/sqlite"
)

const tables = `
	CREATE TABLE IF NOT EXISTS requests (id TEXT PRIMARY KEY, app_id TEXT NOT NULL, record TEXT NOT NULL);
	CREATE INDEX IF NOT EXISTS requests_app ON requests (app_id);
	CREATE TABLE IF NOT EXISTS position (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL, event TEXT NOT NULL)`

// database is the copy.
type database struct{ *sql.DB }

// openDatabase opens a copy. With WAL, others can read it while the program writes.
func openDatabase(ctx context.Context, file string) (database, error) {
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)")
	if err != nil {
		return database{}, err
	}
	_, err = db.ExecContext(ctx, tables)
	return database{db}, err
}

// position is how far the log of changes was read: a number, and the id of the event with that number.
type position struct {
	number int64
	event  string // empty if it is not known
}

// position returns the position of the copy, or errNoPosition if nothing was copied yet.
func (db database) position(ctx context.Context) (at position, err error) {
	err = db.QueryRowContext(ctx, "SELECT number, event FROM position").Scan(&at.number, &at.event)
	if errors.Is(err, sql.ErrNoRows) {
		err = errNoPosition
	}
	return at, err
}

// insert stores a request, or replaces what was stored of it.
func insert(ctx context.Context, tx *sql.Tx, record json.RawMessage) error {
	_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO requests (id, app_id, record) VALUES ($1 ->> 'id', $1 ->> 'app_id', $1)",
		string(record))
	return err
}

// remove deletes a request.
func remove(ctx context.Context, tx *sql.Tx, id string) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM requests WHERE id = ?", id)
	return err
}

// removeApp deletes the requests of an app.
func removeApp(ctx context.Context, tx *sql.Tx, id string) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM requests WHERE app_id = ?", id)
	return err
}

// store stores the position.
func (p position) store(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO position (one, number, event) VALUES (1, ?, ?)", p.number, p.event)
	return err
}

// write runs do in a transaction.
func (db database) write(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}
