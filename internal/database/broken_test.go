package database

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// TestFullDiskFailsGroup: a member that finds the disk full may have undone the work of
// those before it. So nothing of the group is kept, and no member succeeds.
func TestFullDiskFailsGroup(t *testing.T) {
	db := openForTest(t)
	ctx := context.Background()
	var pages int
	if err := db.writer.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	room := func(pages int) {
		t.Helper()
		if err := db.writer.QueryRowContext(ctx, "PRAGMA max_page_count = "+strconv.Itoa(pages)).Scan(&pages); err != nil {
			t.Fatal(err)
		}
	}
	insert := func(name string, size int) transaction {
		return func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO secrets (name, value) VALUES ($1, $2)", name, make([]byte, size))
			return err
		}
	}
	names := func() (n int) {
		t.Helper()
		if err := db.reader.QueryRowContext(ctx, "SELECT COUNT(*) FROM secrets").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	room(pages)
	failed, err := db.writeGroup(ctx, struct{}{}, []write{{fn: insert("a", 1)}, {fn: insert("b", 1<<20)}, {fn: insert("c", 1)}})
	if failed != nil || codeOf(err)&0xff != sqlite3.SQLITE_FULL || !db.Unavailable(err) {
		t.Errorf("the group: %v, %v, want no results and that the disk is full", failed, err)
	}
	if n := names(); n != 0 {
		t.Errorf("%d members of the group were kept", n)
	}
	room(1 << 20)
	if err := db.Write(ctx, insert("d", 1<<20)); err != nil || names() != 1 {
		t.Errorf("with room again: %v, %d rows", err, names())
	}
}

// codeOf is SQLite's code of an error, 0 if it is none of SQLite's.
func codeOf(err error) int {
	var lite *sqlite.Error
	if errors.As(err, &lite) {
		return lite.Code()
	}
	return 0
}

// TestFatalCodes: the process must end when the file is not what was written, or a sync
// has failed; and when anything has failed while a transaction was being committed.
func TestFatalCodes(t *testing.T) {
	const never, commit, always = 0, 1, 2
	for code, when := range map[int]int{
		sqlite3.SQLITE_IOERR_FSYNC: always, sqlite3.SQLITE_IOERR_DIR_FSYNC: always,
		sqlite3.SQLITE_CORRUPT: always, sqlite3.SQLITE_CORRUPT_INDEX: always, sqlite3.SQLITE_NOTADB: always,
		sqlite3.SQLITE_IOERR: commit, sqlite3.SQLITE_IOERR_WRITE: commit, sqlite3.SQLITE_IOERR_READ: commit,
		sqlite3.SQLITE_FULL: never, sqlite3.SQLITE_BUSY: never, sqlite3.SQLITE_READONLY: never, sqlite3.SQLITE_INTERRUPT: never,
		sqlite3.SQLITE_CONSTRAINT_UNIQUE: never, sqlite3.SQLITE_NOMEM: never, sqlite3.SQLITE_ERROR: never, sqlite3.SQLITE_CANTOPEN: never,
	} {
		if fatalCode(code, false) != (when == always) || fatalCode(code, true) != (when >= commit) {
			t.Errorf("%d (%s) is %v, and %v while committing", code, sqlite.ErrorCodeString[code], fatalCode(code, false), fatalCode(code, true))
		}
	}
}

// failing is a database whose files can be damaged, and the errors that Fatal was called with.
type failing struct {
	*DB
	t    *testing.T
	told []error
	log  bytes.Buffer
}

func newFailing(t *testing.T) *failing {
	t.Helper()
	f := &failing{t: t}
	var err error
	f.DB, err = Open(context.Background(), Options{
		Folder: t.TempDir(), Migrations: migrations, Log: slog.New(slog.NewTextHandler(&f.log, nil)),
		Fatal: func(err error) { f.told = append(f.told, err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() }) // a damaged file may not close without an error
	if err := f.insert("before"); err != nil {
		t.Fatal(err)
	}
	var busy, pages, moved int
	err = f.writer.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
	if err != nil || busy != 0 {
		t.Fatal(busy, err)
	}
	return f
}

func (f *failing) insert(name string) error {
	return f.Write(context.Background(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO secrets (name, value) VALUES ($1, $2)", name, []byte{1})
		return err
	})
}

// swap replaces a file that the database has open by another one, in every descriptor.
func (f *failing) swap(suffix, other string, flags int) {
	f.t.Helper()
	opened, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		f.t.Fatal(err)
	}
	swapped := 0
	for _, link := range opened {
		target, err := os.Readlink(link)
		if err != nil || target != filepath.Join(f.folder, databaseFile+suffix) {
			continue
		}
		fd, err := strconv.Atoi(filepath.Base(link))
		if err != nil {
			f.t.Fatal(err)
		}
		to, err := syscall.Open(other, flags|syscall.O_CLOEXEC, 0)
		if err != nil {
			f.t.Fatal(err)
		}
		if err := errors.Join(syscall.Dup3(to, fd, syscall.O_CLOEXEC), syscall.Close(to)); err != nil {
			f.t.Fatal(err)
		}
		swapped++
	}
	if swapped == 0 {
		f.t.Fatalf("%s%s is not open", databaseFile, suffix)
	}
}

// wantBroken checks that the store has told the process to end, once,, and does nothing any more.
func (f *failing) wantBroken(err error, code int) {
	f.t.Helper()
	if codeOf(err) != code || !f.Unavailable(err) || len(f.told) != 1 || codeOf(f.told[0]) != code {
		f.t.Errorf("the error is %v, and the process was told %v, want one error %d", err, f.told, code)
	}
	err = f.Write(context.Background(), func(context.Context, *sql.Tx) error {
		f.t.Error("a transaction has begun on a broken disk")
		return nil
	})
	if !errors.Is(err, errBroken) || !f.Unavailable(err) || !errors.Is(f.Ping(context.Background()), errBroken) || len(f.told) != 1 {
		f.t.Errorf("after that: %v, and the process was told %v", err, f.told)
	}
}

// TestDiskFails: however SQLite reports that a disk has failed, nothing that may be lost
// is acknowledged, and the process ends.
func TestDiskFails(t *testing.T) {
	t.Run("sync", func(t *testing.T) {
		f := newFailing(t)
		f.swap("-wal", os.DevNull, syscall.O_RDWR) // which cannot be synced
		f.wantBroken(f.insert("lost"), sqlite3.SQLITE_IOERR_FSYNC)
		if strings.Contains(f.log.String(), "is damaged") {
			t.Errorf("the file, which may be as it was, is called damaged: %s", f.log.String())
		}
	})
	t.Run("commit", func(t *testing.T) {
		f := newFailing(t)
		f.swap("-wal", os.DevNull, syscall.O_RDONLY)
		f.wantBroken(f.insert("lost"), sqlite3.SQLITE_IOERR_WRITE)
	})
	t.Run("read", func(t *testing.T) { // what was written is as safe as before
		f := newFailing(t)
		if _, err := f.writer.ExecContext(context.Background(), "PRAGMA shrink_memory"); err != nil { // what was read before
			t.Fatal(err)
		}
		err := f.Write(context.Background(), func(ctx context.Context, tx *sql.Tx) error {
			f.swap("", f.folder, syscall.O_RDONLY) // a folder cannot be read like a file
			var n int
			return tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM votes").Scan(&n)
		})
		if codeOf(err) != sqlite3.SQLITE_IOERR_READ || !f.Unavailable(err) || len(f.told) != 0 {
			t.Errorf("the error is %v, and the process was told %v", err, f.told)
		}
	})
	t.Run("corrupt", func(t *testing.T) { // only a read has noticed
		f := newFailing(t)
		path := filepath.Join(f.folder, databaseFile)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range text[4096:] {
			text[4096+i] = 0xff
		}
		file, err := os.OpenFile(path, os.O_WRONLY, 0) // in place, as a disk does it
		if err != nil {
			t.Fatal(err)
		}
		_, err = file.Write(text)
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		var n int
		err = f.reader.QueryRowContext(context.Background(), "SELECT COUNT(*) FROM secrets").Scan(&n)
		if !f.Unavailable(err) {
			t.Errorf("%v is no reason to come again", err)
		}
		f.wantBroken(err, sqlite3.SQLITE_CORRUPT)
		if want := path + " is damaged or is not a database; restore"; !strings.Contains(f.log.String(), want) {
			t.Errorf("the log does not have %q: %s", want, f.log.String())
		}
	})
}
