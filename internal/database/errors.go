package database

import (
	"context"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"gatherkit/internal/batch"
)

// Unavailable reports whether err says that the database, not the call, is in
// trouble, or that too much waits or the database is closing: another try may succeed.
// Every error that is not a refusal must be passed to it, because it also ends all
// writes when a read has found that the disk has failed.
func (db *DB) Unavailable(err error) bool {
	_ = db.broke(err, false)
	if db.closed.Load() || db.broken.Load() {
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
	if errors.As(err, &connect) { // whatever reason the server gives
		return true
	}
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		switch pg.Code[:2] {
		case "08", "53", "57", "58", "40": // connection, resources, operator, system error, lost races
			return true
		}
		return pg.Code == "25006" // read-only, like a standby
	}
	var network net.Error
	return errors.As(err, &network) || pgconn.SafeToRetry(err) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, errAway) || errors.Is(err, batch.ErrFull) || errors.Is(err, batch.ErrClosed) ||
		errors.Is(err, errBroken) || errors.Is(err, ErrStale)
}

// Answered reports whether err is the answer of a PostgreSQL server that runs. With Citus, the cause
// may be another server, and statements on other accounts may succeed.
func Answered(err error) bool {
	var pg *pgconn.PgError
	var connect *pgconn.ConnectError
	return errors.As(err, &pg) && !errors.As(err, &connect)
}

// raced reports whether PostgreSQL rolled a transaction back because of another one.
func raced(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}

// LockRefused reports whether a statement did not get a lock in the time that it may wait.
func LockRefused(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == "55P03"
}

// DataFault reports whether err was caused by the values of a statement, such as a
// duplicate key, so that other statements of its group can succeed without it.
func DataFault(err error) bool {
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		return lite.Code()&0xff == sqlite3.SQLITE_CONSTRAINT
	}
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (strings.HasPrefix(pg.Code, "22") || strings.HasPrefix(pg.Code, "23"))
}

// ReadOnly reports whether err says that SQLite may not write to its file.
func ReadOnly(err error) bool {
	var lite *sqlite.Error
	return errors.As(err, &lite) && lite.Code()&0xff == sqlite3.SQLITE_READONLY
}

// errDamaged is what the check of a SQLite database has found.
var errDamaged = errors.New("the check failed")

// Explain adds to an error what an operator can do about it, if the cause is the database's file, its owner or its
// certificate.
func (db *DB) Explain(err error) error {
	var lite *sqlite.Error
	var pg *pgconn.PgError
	switch {
	case errors.Is(err, errDamaged) || errors.As(err, &lite) && damagedCode(lite.Code()):
		path, pathErr := databasePath(db.folder)
		return errors.Join(fmt.Errorf("%s is damaged or is not a database; restore the latest backup as in docs/operating.md,"+
			" and check it with gatherkit verify: %w", path, err), pathErr)
	case isFull(err):
		return diskFull(db.folder, err)
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return fmt.Errorf("this machine does not know the authority that has signed PostgreSQL's certificate;"+
			" add sslrootcert with the path of the authority's certificate to the URL: %w", err)
	case errors.As(err, &pg) && pg.Code == "42501":
		return fmt.Errorf("the user in the URL must own the database and its tables;"+
			" run ALTER DATABASE … OWNER TO …, or restore the backup as that user with --no-owner: %w", err)
	}
	return err
}

// isFull reports whether err says that SQLite has no space to write.
func isFull(err error) bool {
	var lite *sqlite.Error
	return errors.As(err, &lite) && lite.Code()&0xff == sqlite3.SQLITE_FULL
}

// diskFull says which disk is full. It hides err, so that nobody explains it as an error of another database.
func diskFull(folder string, err error) error {
	return fmt.Errorf("the disk of %s is full: %v", folder, err) //nolint:errorlint // see above
}

// undoesGroup reports whether SQLite may have rolled back more than the
// statement that failed, so that the rest of the transaction cannot go on.
func undoesGroup(err error) bool {
	var lite *sqlite.Error
	return errors.As(err, &lite) && !DataFault(err)
}

// breaksFile reports whether a write to the SQLite file failed so that the content of the
// disk is unknown. Then the process must end: a second fsync on the same handle can
// report success for pages that were dropped ("Can Applications
// Recover from fsync Failures?", USENIX ATC 2020).
func breaksFile(err error, committing bool) bool {
	var lite *sqlite.Error
	return errors.As(err, &lite) && fatalCode(lite.Code(), committing)
}

func fatalCode(code int, committing bool) bool {
	if code&0xff == sqlite3.SQLITE_IOERR {
		return committing || code == sqlite3.SQLITE_IOERR_FSYNC || code == sqlite3.SQLITE_IOERR_DIR_FSYNC
	}
	return damagedCode(code)
}

// damagedCode reports whether SQLite found something else in its file than it has written.
func damagedCode(code int) bool {
	return code&0xff == sqlite3.SQLITE_CORRUPT || code&0xff == sqlite3.SQLITE_NOTADB
}
