package database

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// lockRest is how long a migration that did not get a lock lets others continue before it
// tries again.
const lockRest = time.Second

// blockersEvery is how often a migration looks what it waits for. It is shorter than a migration waits for a table.
const blockersEvery = 200 * time.Millisecond

// migrate applies missing migrations, each in its own transaction and in one process at a
// time. It refuses a schema of a newer version of the program. A migration that needs a table
// which somebody reads, such as pg_dump, waits for it until ctx ends. The log says how long each migration takes and
// what it waits for, unless the database is new.
func (db *DB) migrate(ctx context.Context, o Options) (err error) {
	names, err := fs.Glob(o.Migrations, "*.sql")
	if err != nil {
		return err
	}
	version, err := db.schema(ctx)
	if err != nil {
		return err
	}
	if o.Migrating == nil {
		o.Migrating = func() error { return nil }
	}
	log := db.log
	switch {
	case o.Existing && version == 0:
		return fmt.Errorf("%w: it has no tables; check --database and --data", ErrNoDatabase)
	case version == 0 || version >= len(names):
		log = slog.New(slog.DiscardHandler)
	default:
		if err := o.Migrating(); err != nil {
			return err
		}
	}
	log.Info("migrating the database", "from", version, "to", len(names))
	began := time.Now()
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // returns it to the pool
	defer db.watchBlockers(ctx, conn)()
	for done := false; !done; {
		done, err = db.migrateNext(ctx, conn, o, names, log)
		if LockRefused(err) {
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
	log.Info("the database is migrated", "ms", time.Since(began).Milliseconds())
	return nil
}

// watchBlockers logs which connections a migration waits for, until stop is called. SQLite has none.
func (db *DB) watchBlockers(ctx context.Context, migrating *sql.Conn) (stop func()) {
	if db.dialect.blockers == "" {
		return func() {}
	}
	var pid int
	if err := migrating.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
		return func() {} // the migration will fail as well, and report it
	}
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		logged := map[int]time.Time{}
		for tick := time.NewTicker(blockersEvery); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
				db.logBlockers(ctx, pid, logged)
			}
		}
	})
	return func() { cancel(); watching.Wait() }
}

// logBlockers logs what keeps a migration waiting, each connection at most every blockerRest.
func (db *DB) logBlockers(ctx context.Context, pid int, logged map[int]time.Time) {
	const blockerRest = 10 * time.Second
	blockers, err := All(ctx, db.reader, func(r Row) (b blocker, err error) {
		return b, r.Scan(&b.pid, &b.application, &b.state, &b.query)
	}, db.dialect.blockers, pid)
	if err != nil && ctx.Err() == nil {
		db.log.Warn("cannot find out what the migration waits for", "error", err)
	}
	for _, b := range blockers {
		if now := time.Now(); now.Sub(logged[b.pid]) >= blockerRest {
			logged[b.pid] = now
			db.log.Warn("a migration waits for another connection to the database; end it, or wait",
				"pid", b.pid, "application", b.application, "state", b.state, "query", b.query)
		}
	}
}

// blocker is a connection whose lock another one waits for.
type blocker struct {
	pid                       int
	application, state, query string
}

// schema returns how many migrations were applied.
func (db *DB) schema(ctx context.Context) (version int, err error) {
	var tables int
	err = db.writer.QueryRowContext(ctx, db.dialect.tables, "schema_version").Scan(&tables)
	if err != nil || tables == 0 {
		return 0, err
	}
	err = db.writer.QueryRowContext(ctx, lastMigration).Scan(&version)
	return version, err
}

const lastMigration = "SELECT COALESCE(MAX(version), 0) FROM schema_version"

// migrateNext applies the first missing migration and reports whether none was missing.
// It takes the lock for each one, because on SQLite the lock is the transaction.
func (db *DB) migrateNext(
	ctx context.Context, conn *sql.Conn, o Options, names []string, log *slog.Logger,
) (done bool, err error) {
	if err := db.lockMigrations(ctx, conn, o.Migrating); err != nil {
		return false, err
	}
	exec := func(statements ...string) {
		for _, statement := range statements {
			if err == nil {
				_, err = conn.ExecContext(ctx, statement)
			}
		}
	}
	version := 0
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
		err = conn.QueryRowContext(ctx, lastMigration).Scan(&version)
	}
	switch {
	case err != nil:
		return false, err
	case version > len(names):
		return false, fmt.Errorf("the database %s has schema %d but this program knows %d; "+
			"start a newer version of gatherkit, or restore the backup from before the upgrade", db.place, version, len(names))
	case version < len(names):
		text, readErr := fs.ReadFile(o.Migrations, names[version])
		if readErr != nil {
			return false, readErr
		}
		began := time.Now()
		exec(statements(db.dialect.words.Replace(string(text)))...)
		exec(fmt.Sprintf("INSERT INTO schema_version (version) VALUES (%d)", version+1), "COMMIT")
		if err == nil {
			log.Info("applied a migration", "migration", names[version], "ms", time.Since(began).Milliseconds())
		}
		return false, err
	}
	exec("COMMIT")
	return true, err
}

// lockMigrations waits until no other process migrates. It calls waiting if one does.
func (db *DB) lockMigrations(ctx context.Context, conn *sql.Conn, waiting func() error) error {
	if db.dialect.tryLock != "" {
		var locked bool
		if err := conn.QueryRowContext(ctx, db.dialect.tryLock).Scan(&locked); err != nil || locked {
			return err
		}
		if err := waiting(); err != nil {
			return err
		}
	}
	_, err := conn.ExecContext(ctx, db.dialect.lock)
	return err
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
