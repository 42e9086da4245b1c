package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/bits"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"gatherkit/internal/batch"
)

// This file alone knows which of the two databases is behind the store.

// databaseFile is the name of the SQLite file in the data folder.
const databaseFile = "gatherkit.db"

type dialect struct {
	// words are what the braces in the migrations stand for.
	words *strings.Replacer
	// lock lets one process migrate at a time. Where it does not begin the
	// transaction itself, unlock ends it.
	lock, unlock string
	numbered     bool // whether placeholders of long statements carry numbers
	// grown asks for the tables that hold more than twice the rows that the planner
	// knows of, and analyze has it look at one. SQLite's plans do without.
	grown, analyze string
}

var (
	sqliteDialect = dialect{
		words: strings.NewReplacer("{id}", "BLOB", "{bytes}", "BLOB", "{int}", "INTEGER", "{bool}", "INTEGER",
			"{nulls_first}", "", "{bytewise}", "", // as they are anyway
			"{strict}", " STRICT", "{keyed}", " STRICT, WITHOUT ROWID", "{counters}", " STRICT, WITHOUT ROWID"),
		lock: "BEGIN IMMEDIATE",
	}
	postgresDialect = dialect{
		// A lower fillfactor lets the busy counter rows be updated in place (HOT).
		words: strings.NewReplacer("{id}", "uuid", "{bytes}", "bytea", "{int}", "bigint", "{bool}", "boolean",
			"{nulls_first}", " NULLS FIRST", "{bytewise}", ` COLLATE "C"`,
			"{strict}", "", "{keyed}", "", "{counters}", " WITH (fillfactor=50)"),
		numbered: true,
		lock:     "SELECT pg_advisory_lock(7423001)", unlock: "SELECT pg_advisory_unlock(7423001)",
		grown: `SELECT quote_ident(s.relname) FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
			WHERE s.schemaname = current_schema() AND s.n_live_tup > 500 + 2 * GREATEST(c.reltuples, 0)`,
		analyze: "ANALYZE (SKIP_LOCKED) ",
	}
)

// connectTime is how long each host of the database's URL may take to let us in: with
// several, the next one is asked then.
const connectTime = 2 * time.Second

// maxPostgresConns is the most connections that one process opens, so that
// several replicas fit into PostgreSQL's default of 100.
const maxPostgresConns = 20

// placeholders is ($1,$2),($3,$4)… for so many rows of so many columns. SQLite
// gets (?,?),(?,?)…: it looks numbered ones up by name, in a list, which makes a
// statement with thousands of them take time in the square of their number.
func (d dialect) placeholders(rows, columns int) string {
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
			if d.numbered {
				b = strconv.AppendInt(append(b, '$'), int64(r*columns+c+1), 10)
			} else {
				b = append(b, '?')
			}
		}
		b = append(b, ')')
	}
	return string(b)
}

// powers cuts a list into pieces whose lengths are powers of two, up to that of the
// largest group: each length is a statement of its own, which connections keep prepared,
// and hundreds of them would take tens of megabytes.
func powers[T any](list []T) [][]T {
	var pieces [][]T
	for len(list) > 0 {
		n := min(maxSubmitGroup, 1<<(bits.Len(uint(len(list)))-1))
		pieces = append(pieces, list[:n])
		list = list[n:]
	}
	return pieces
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

// Unavailable reports whether err says that the database, not the call, is in
// trouble, or that the store is full or closing: another try may go through. As every
// error that is nobody's refusal comes by here, it also stops the store when a read
// has found that the disk has failed.
func (s *Store) Unavailable(err error) bool {
	_ = s.broke(err, false)
	if s.closed.Load() || s.broken.Load() {
		return true
	}
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		switch lite.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY,
			sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT:
			return true
		}
		return false
	}
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) { // whatever the server's reason is
		return true
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code[:2] {
		case "08", "53", "57", "58", "40": // connection, resources, operator, system error, lost races
			return true
		}
		return pg.Code == "25006" // read-only, as a standby is
	}
	var network net.Error
	return errors.As(err, &network) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, errAway) || errors.Is(err, batch.ErrFull) || errors.Is(err, batch.ErrClosed) || errors.Is(err, errBroken)
}

// raced reports whether PostgreSQL rolled a transaction back because of another one.
func raced(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}

// dataFault reports whether err lies in the data of one statement alone.
func dataFault(err error) bool {
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		return lite.Code()&0xff == sqlite3.SQLITE_CONSTRAINT
	}
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (strings.HasPrefix(pg.Code, "22") || strings.HasPrefix(pg.Code, "23"))
}

// readOnly reports whether SQLite may not write to its file.
func readOnly(err error) bool {
	var lite *sqlite.Error
	return errors.As(err, &lite) && lite.Code()&0xff == sqlite3.SQLITE_READONLY
}

// undoesGroup reports whether SQLite may have rolled back more than the
// statement that failed, so that the rest of the transaction cannot go on.
func undoesGroup(err error) bool {
	var lite *sqlite.Error
	return errors.As(err, &lite) && !dataFault(err)
}

// breaksFile reports whether a write to the SQLite file failed in a way after
// which nobody can know what is on the disk: the process must end, as a second
// fsync on the same handle can report success for pages that were dropped
// ("Can Applications Recover from fsync Failures?", USENIX ATC 2020).
func breaksFile(err error, committing bool) bool {
	var lite *sqlite.Error
	return errors.As(err, &lite) && fatalCode(lite.Code(), committing)
}

func fatalCode(code int, committing bool) bool {
	switch code & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return true
	case sqlite3.SQLITE_IOERR:
		return committing || code == sqlite3.SQLITE_IOERR_FSYNC || code == sqlite3.SQLITE_IOERR_DIR_FSYNC
	}
	return false
}
