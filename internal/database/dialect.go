package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"
)

// databaseFile is the name of the SQLite file in the data folder.
const databaseFile = "gatherkit.db"

type dialect struct {
	// words are what the braces in the migrations stand for.
	words *strings.Replacer
	// lock lets one process migrate at a time. Where it does not begin the
	// transaction itself, unlock ends it.
	lock, unlock string
	numbered     bool // whether placeholders of long statements carry numbers
	writeLanes   int
	// grown asks for the tables that hold more than twice the rows that the planner
	// knows of, and analyze has it look at one. SQLite's plans do without.
	grown, analyze string
}

var (
	sqliteDialect = dialect{
		words: strings.NewReplacer("{id}", "BLOB", "{bytes}", "BLOB", "{int}", "INTEGER", "{bool}", "INTEGER",
			"{nulls_first}", "", "{bytewise}", "", // as they are anyway
			"{strict}", " STRICT", "{keyed}", " STRICT, WITHOUT ROWID", "{counters}", " STRICT, WITHOUT ROWID"),
		lock:       "BEGIN IMMEDIATE",
		writeLanes: 1,
	}
	postgresDialect = dialect{
		// A lower fillfactor lets the busy counter rows be updated in place (HOT).
		words: strings.NewReplacer("{id}", "uuid", "{bytes}", "bytea", "{int}", "bigint", "{bool}", "boolean",
			"{nulls_first}", " NULLS FIRST", "{bytewise}", ` COLLATE "C"`,
			"{strict}", "", "{keyed}", "", "{counters}", " WITH (fillfactor=50)"),
		numbered:   true,
		writeLanes: 4,
		lock:       "SELECT pg_advisory_lock(7423001)", unlock: "SELECT pg_advisory_unlock(7423001)",
		grown: `SELECT quote_ident(s.relname) FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
			WHERE s.schemaname = current_schema() AND s.n_live_tup > 500 + 2 * GREATEST(c.reltuples, 0)`,
		analyze: "ANALYZE (SKIP_LOCKED) ",
	}
)

// WriteLanes is how many groups of writes are worth running at once: one on SQLite,
// where Write joins what comes together, and several on PostgreSQL.
func (db *DB) WriteLanes() int { return db.dialect.writeLanes }

// connectTime is how long each host of the database's URL may take to let us in: with
// several, the next one is asked then.
const connectTime = 2 * time.Second

// maxPostgresConns is the most connections that one process opens, so that
// several replicas fit into PostgreSQL's default of 100.
const maxPostgresConns = 20

// Placeholders is ($1,$2),($3,$4)… for so many rows of so many columns. SQLite
// gets (?,?),(?,?)…: it looks numbered ones up by name, in a list, which makes a
// statement with thousands of them take time in the square of their number.
func (db *DB) Placeholders(rows, columns int) string {
	b := make([]byte, 0, rows*columns*6)
	for r := range rows {
		if r > 0 {
			b = append(b, ',')
		}
		b = append(b, '(')
		for c := range columns {
			if c > 0 {
				b = append(b, ',')
			}
			if db.dialect.numbered {
				b = strconv.AppendInt(append(b, '$'), int64(r*columns+c+1), 10)
			} else {
				b = append(b, '?')
			}
		}
		b = append(b, ')')
	}
	return string(b)
}

func openPostgres(dsn string, log *slog.Logger) (*sql.DB, *link, error) {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		// pgx quotes the URL, which can hold a password.
		return nil, nil, errors.New("the database URL cannot be read; it looks like postgres://user:password@host:5432/name")
	}
	if config.ConnectTimeout == 0 || config.ConnectTimeout > connectTime {
		config.ConnectTimeout = connectTime
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "gatherkit"
	}
	link := newLink(config, log)
	config.DialFunc = link.dial
	// A server may be set up to acknowledge before a commit is durable; we are not. It
	// is set by a statement, as poolers refuse it among the start parameters.
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "SET synchronous_commit = on")
		return err
	}))
	db.SetMaxOpenConns(maxPostgresConns)
	db.SetMaxIdleConns(maxPostgresConns)
	db.SetConnMaxIdleTime(5 * time.Minute)
	return db, link, nil
}

// openSQLite opens the file for one writer, or for readers beside it.
func openSQLite(folder string, readers bool) (*sql.DB, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("the data folder cannot be created: %w", err)
	}
	pragmas := []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-16000)", "journal_size_limit(67108864)", "wal_autocheckpoint(0)"}
	if readers {
		pragmas = append(pragmas, "query_only(1)")
	}
	path, err := filepath.Abs(filepath.Join(folder, databaseFile))
	if err != nil {
		return nil, fmt.Errorf("the data folder cannot be found: %w", err)
	}
	if err := makeFile(path); err != nil {
		return nil, err
	}
	query := url.Values{"_pragma": pragmas, "_txlock": {"immediate"}}
	// The file URI keeps ? and # in a folder's name from being read as options.
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	connector, err := sqlite.NewConnector(dsn.String())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	db := sql.OpenDB(preparing{connector})
	conns := 1
	if readers {
		conns = max(4, 2*runtime.GOMAXPROCS(0))
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// makeFile makes the file of a new database, readable for nobody else; its log
// files follow it in that. One that exists, such as a backup that was copied back, is
// closed to others. It must not be opened here: closing it again would drop SQLite's
// locks (sqlite.org/howtocorrupt.html, 2.2).
func makeFile(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // in the operator's folder
	if errors.Is(err, fs.ErrExist) {
		return closeFiles(path)
	}
	if err != nil {
		return fmt.Errorf("the file cannot be created: %w", err)
	}
	return file.Close()
}

// closeFiles takes away what others than its owner may do to a database and its logs. It
// changes nothing where the process is not the owner or the file system has no modes:
// the log warns of an open folder at the start.
func closeFiles(path string) error {
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			err = os.Chmod(name, 0o600)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) &&
			!errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EROFS) {
			return fmt.Errorf("the file cannot be closed to others: %w", err)
		}
	}
	return nil
}
