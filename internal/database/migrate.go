package database

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// lockRest is how long a migration that did not get a lock lets others continue before it
// tries again.
const lockRest = time.Second

// migrate applies missing migrations, each in its own transaction and in one process at a
// time. It refuses a schema of a newer version of the program. A migration that needs a table
// which somebody reads, such as pg_dump, waits for it until ctx ends.
func (db *DB) migrate(ctx context.Context, migrations fs.FS, existing bool) (err error) {
	names, err := fs.Glob(migrations, "*.sql")
	if err != nil {
		return err
	}
	if existing {
		if err := db.checkExists(ctx); err != nil {
			return err
		}
	}
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // returns it to the pool
	for done, waited := false, 0; !done; {
		done, err = db.migrateNext(ctx, conn, migrations, names)
		if lockRefused(err) {
			if waited%10 == 0 {
				db.log.Warn("a migration waits for a table that somebody uses, such as pg_dump; it tries again every second", "error", err)
			}
			waited++
			select {
			case <-time.After(lockRest):
				continue
			case <-ctx.Done():
			}
		}
		if err != nil {
			return fmt.Errorf("migrate the database: %w", err)
		}
	}
	return nil
}

// checkExists returns ErrNoDatabase if no migration was ever applied.
func (db *DB) checkExists(ctx context.Context) error {
	var n int
	if err := db.writer.QueryRowContext(ctx, db.dialect.tables, "schema_version").Scan(&n); err != nil || n > 0 {
		return err
	}
	return fmt.Errorf("%w: it has no tables; check --database and --data", ErrNoDatabase)
}

// migrateNext applies the first missing migration and reports whether none was missing.
// It takes the lock for each one, because on SQLite the lock is the transaction.
func (db *DB) migrateNext(ctx context.Context, conn *sql.Conn, migrations fs.FS, names []string) (done bool, err error) {
	exec := func(statements ...string) {
		for _, statement := range statements {
			if err == nil {
				_, err = conn.ExecContext(ctx, statement)
			}
		}
	}
	version := 0
	exec(db.dialect.lock)
	if err != nil {
		return false, err
	}
	if db.dialect.unlock != "" {
		defer func() {
			if _, unlockErr := conn.ExecContext(context.WithoutCancel(ctx), db.dialect.unlock); err == nil {
				err = unlockErr
			}
		}()
		exec("BEGIN", db.dialect.impatient)
	}
	defer func() {
		if err != nil {
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		}
	}()
	exec(db.dialect.words.Replace("CREATE TABLE IF NOT EXISTS schema_version (version {int} NOT NULL, PRIMARY KEY (version)){strict}"))
	if err == nil {
		err = conn.QueryRowContext(ctx, "SELECT COALESCE(MAX(version), 0) FROM schema_version").Scan(&version)
	}
	switch {
	case err != nil:
		return false, err
	case version > len(names):
		return false, fmt.Errorf("the database has schema %d but this program knows %d; "+
			"start a newer version of gatherkit, or restore the backup from before the upgrade", version, len(names))
	case version < len(names):
		text, readErr := fs.ReadFile(migrations, names[version])
		if readErr != nil {
			return false, readErr
		}
		exec(statements(db.dialect.words.Replace(string(text)))...)
		exec(fmt.Sprintf("INSERT INTO schema_version (version) VALUES (%d)", version+1))
	}
	exec("COMMIT")
	return version >= len(names), err
}

// statements splits a migration, because each statement needs a call of its own.
func statements(text string) []string {
	var parts []string
	for part := range strings.SplitSeq(text, ";\n") {
		if strings.TrimSpace(part) != "" {
			parts = append(parts, part)
		}
	}
	return parts
}
