package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"modernc.org/sqlite"

	"gatherkit/internal/access"
	"gatherkit/internal/deadline"
)

// databaseFile is the name of the SQLite file in the data folder.
const databaseFile = "gatherkit.db"

// dialect is what differs between the two databases in SQL.
type dialect struct {
	// words replace the names in braces in the migrations.
	words *strings.Replacer
	// lock keeps other processes from migrating at the same time, until unlock. On
	// SQLite it begins the transaction, whose end unlocks. tryLock reports whether nobody else had the lock.
	lock, tryLock, unlock string
	// impatient bounds how long a statement of a migration waits for a table. Meanwhile,
	// every other call that needs the table waits behind it.
	impatient  string
	tables     string // counts the tables with a name
	columns    string // selects the tables and their columns, with their types and places in the primary key, or 0
	blockers   string // selects the connections that a connection waits for; SQLite has no such list
	writeLanes int    // see WriteLanes
	readLanes  int    // see ReadLanes
	partRows   int    // see PartRows
	merges     bool   // see Merged
	// grown selects the tables that have more than twice the rows that the planner
	// assumes; analyze updates one. SQLite's plans need no statistics.
	grown, analyze string
}

var (
	sqliteDialect = dialect{
		words: strings.NewReplacer("{id}", "BLOB", "{bytes}", "BLOB", "{int}", "INTEGER", "{bool}", "INTEGER",
			"{nulls_first}", "", "{bytewise}", "", // SQLite's defaults
			"{strict}", " STRICT", "{keyed}", " STRICT, WITHOUT ROWID", "{packed}", " STRICT, WITHOUT ROWID",
			"{counters}", " STRICT, WITHOUT ROWID", "{postgres}", "-- "),
		lock:   "BEGIN IMMEDIATE",
		tables: "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = $1",
		columns: "SELECT m.name, c.name, c.type, c.pk FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'" +
			" AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.cid",
		writeLanes: 1,
		partRows:   128,
		merges:     true,
		readLanes:  max(4, 2*runtime.GOMAXPROCS(0)),
	}
	postgresDialect = dialect{
		// A lower fillfactor lets the busy counter rows be updated in place (HOT).
		words: strings.NewReplacer("{id}", "uuid", "{bytes}", "bytea", "{int}", "bigint", "{bool}", "boolean",
			"{nulls_first}", " NULLS FIRST", "{bytewise}", ` COLLATE "C"`,
			"{strict}", "", "{keyed}", "", "{packed}", " WITH (fillfactor=70)", "{counters}", " WITH (fillfactor=50)",
			"{postgres}", ""),
		tables: "SELECT COUNT(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = $1",
		columns: `SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
				COALESCE((SELECT k.n FROM unnest(i.indkey) WITH ORDINALITY AS k (number, n) WHERE k.number = a.attnum), 0)
			FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
			JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
			WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname, a.attnum`,
		writeLanes: 4,
		partRows:   1000,
		readLanes:  (maxPostgresConns - spareConns) / 2,
		blockers: "SELECT a.pid, COALESCE(a.application_name, ''), COALESCE(a.state, ''), LEFT(COALESCE(a.query, ''), 200)" +
			" FROM unnest(pg_blocking_pids($1)) AS b (pid) JOIN pg_stat_activity a ON a.pid = b.pid ORDER BY a.pid",
		impatient: "SET LOCAL lock_timeout = '500ms'",
		lock:      "SELECT pg_advisory_lock(7423001)",
		tryLock:   "SELECT pg_try_advisory_lock(7423001)",
		unlock:    "SELECT pg_advisory_unlock(7423001)",
		grown: `SELECT quote_ident(s.relname) FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
			WHERE s.schemaname = current_schema() AND s.n_live_tup > 500 + 2 * GREATEST(c.reltuples, 0)`,
		analyze: "ANALYZE (SKIP_LOCKED) ",
	}
)

// WriteLanes is how many groups of writes are worth running at once: one on SQLite,
// where Write joins concurrent transactions itself, and several on PostgreSQL.
func (db *DB) WriteLanes() int { return db.dialect.writeLanes }

// PartRows is how many rows a transaction of WritePart should change: on SQLite, all other writes wait for it, and on
// PostgreSQL those that need the same locks.
func (db *DB) PartRows() int { return db.dialect.partRows }

// ReadLanes is how many calls of one kind may read at once. There are connections for two kinds, those of users and of
// visitors, and some are left to what takes no lane: looking up who calls, and the worker.
func (db *DB) ReadLanes() int { return db.dialect.readLanes }

// spareConns are the connections without a lane.
const spareConns = 4

// connectTime is how long one host of the database's URL may take to accept a
// connection before the next host is tried.
var connectTime = deadline.Of(2 * time.Second)

// maxPostgresConns is the most connections that one process opens, so that
// several replicas fit into PostgreSQL's default of 100.
const maxPostgresConns = 20

// parsePostgres reads the URL of a PostgreSQL database. Its errors do not contain the URL, which can hold a password.
func parsePostgres(dsn string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(dsn)
	if file, ok := errors.AsType[*fs.PathError](err); ok { // such as that of sslrootcert
		return nil, fmt.Errorf("the database URL names a file that cannot be read: %w", file)
	}
	if err != nil {
		return nil, errors.New("the database URL cannot be read; it looks like postgres://user:password@host:5432/name")
	}
	return config, nil
}

// openPostgres opens the connections to PostgreSQL.
func (db *DB) openPostgres() error {
	config, err := parsePostgres(db.url)
	if err != nil {
		return err
	}
	if config.ConnectTimeout == 0 || config.ConnectTimeout > connectTime {
		config.ConnectTimeout = connectTime
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "gatherkit"
	}
	db.place = config.Database + " on " + config.Host
	db.link = newLink(config, db.log)
	config.DialFunc = db.link.dial
	open := func(conns int, more string) *sql.DB {
		// A server may by default acknowledge a commit before it is durable. A statement
		// changes that, because poolers refuse this setting among the start parameters. Compiling a
		// statement (JIT) takes 30 ms and more, and no statement here takes so long that this pays off. The planner
		// by default takes a block out of order for four times as dear as the next one, which disks with heads are;
		// it then sorts all comments of a request for the first page of them.
		settings := func(ctx context.Context, conn *pgx.Conn) error {
			_, err := conn.Exec(ctx, "SET synchronous_commit = on; SET jit = off; SET random_page_cost = 1.1"+more)
			return err
		}
		pool := stdlib.OpenDB(*config, stdlib.OptionBeforeConnect(db.link.logIn), stdlib.OptionAfterConnect(settings))
		pool.SetMaxOpenConns(conns)
		pool.SetMaxIdleConns(conns)
		pool.SetConnMaxIdleTime(5 * time.Minute)
		return pool
	}
	db.writer = open(maxPostgresConns-1, "")
	db.together = open(1, "; SET lock_timeout = '100ms'")
	return nil
}

// checkEncoding refuses a PostgreSQL database that is not in UTF-8. It would store texts, but
// a dump that is restored into another database could not be read or would be damaged.
func checkEncoding(ctx context.Context, db *sql.DB) error {
	var encoding string
	if err := db.QueryRowContext(ctx, "SHOW server_encoding").Scan(&encoding); err != nil {
		return err
	}
	if encoding != "UTF8" {
		return fmt.Errorf("the database is encoded in %s; create it with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0", encoding)
	}
	return nil
}

// databasePath returns the absolute path of the SQLite file in a folder.
func databasePath(folder string) (string, error) {
	path, err := filepath.Abs(filepath.Join(folder, databaseFile))
	if err != nil {
		return "", fmt.Errorf("the data folder cannot be found: %w", err)
	}
	return path, nil
}

// makeDatabase creates the folder and the file of a new database, and checks that this process may
// use those that exist.
func makeDatabase(folder string, existing bool) error {
	path, err := databasePath(folder)
	if err != nil {
		return err
	}
	if err := access.CheckFolder(folder); err != nil {
		advice := "name a folder, such as ./data"
		if filepath.Base(folder) == databaseFile {
			advice = "name its folder, " + filepath.Dir(filepath.Dir(path))
		}
		return fmt.Errorf("%w; %s", err, advice)
	}
	if _, err := os.Stat(path); existing && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w in %s; name the folder that has it", ErrNoDatabase, folder)
	}
	if err := access.Check(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("the data folder cannot be created: %w", err)
	}
	if err := makeFile(path); err != nil {
		return err
	}
	return access.Check(path, path+"-wal", path+"-shm")
}

// openSQLite opens the file for one writer, or for readers beside it. Large sorts use temporary files
// in the data folder, because /tmp may be small, and is missing in a container of only this program.
// SQLite has its own copy of the environment, so a pragma names the folder.
func (db *DB) openSQLite(readers bool) (*sql.DB, error) {
	pragmas := []string{
		"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
		"cache_size(-16000)", "journal_size_limit(67108864)", "wal_autocheckpoint(0)",
	}
	if readers {
		pragmas = append(pragmas, "query_only(1)")
	}
	path, err := databasePath(db.folder)
	if err != nil {
		return nil, err
	}
	if os.Getenv("SQLITE_TMPDIR") == "" {
		pragmas = append(pragmas, "temp_store_directory('"+strings.ReplaceAll(filepath.Dir(path), "'", "''")+"')")
	}
	query := url.Values{"_pragma": pragmas, "_txlock": {"immediate"}}
	// In a file URI, ? and # in a folder's name are not taken for options.
	dsn := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	connector, err := sqlite.NewConnector(dsn.String())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	pool := sql.OpenDB(preparing{connector, &db.open})
	conns := 1
	if readers {
		conns = 2*sqliteDialect.readLanes + spareConns
	}
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	return pool, nil
}

// makeFile creates the file of a new database, which only its owner can read; SQLite gives
// its log files the same mode. If the file exists, such as a restored backup, makeFile
// takes the access of others away. It must not open that file: closing it would drop
// SQLite's locks (sqlite.org/howtocorrupt.html, 2.2).
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

// closeFiles takes the access of everyone but the owner to a database and its logs away.
// It changes nothing if the process is not the owner or the file system has no modes:
// the service logs a warning about an open folder when it starts.
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
