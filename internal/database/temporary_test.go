package database_test

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"testing"

	"gatherkit/internal/store/storetest"
)

// sortIn names the data folder for TestLargeSort, which TestWithoutTemporaryFolder runs.
const sortIn = "GATHERKIT_TEST_SORT_IN"

// TestLargeSort sorts more than SQLite keeps in memory.
func TestLargeSort(t *testing.T) {
	folder := os.Getenv(sortIn)
	if folder == "" {
		folder = t.TempDir()
	}
	db := open(t, storetest.Place{Folder: folder})
	const rows = 300_000
	var n, first int
	err := db.Reader().QueryRowContext(t.Context(), `WITH RECURSIVE numbers (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM numbers WHERE x < $1)
		SELECT COUNT(*), MIN(place) FROM (SELECT ROW_NUMBER() OVER (ORDER BY hex(randomblob(100))) AS place FROM numbers)`, rows).Scan(&n, &first)
	if n != rows || first != 1 || err != nil {
		t.Errorf("%d rows, the first is %d, %v", n, first, err)
	}
}

// TestTemporaryFolderOfOperator: SQLite uses the folder in SQLITE_TMPDIR.
func TestTemporaryFolderOfOperator(t *testing.T) {
	folder := t.TempDir()
	log := storetest.Strace(t, "TestLargeSort", []string{"SQLITE_TMPDIR=" + folder}, "-e", "trace=open,openat")
	if !strings.Contains(log, folder+"/etilqs_") {
		t.Error("SQLite does not use the folder")
	}
}

// TestWithoutTemporaryFolder: SQLite needs no folder for temporary files but the data folder, also
// if its name has a quotation mark. strace makes SQLite believe that the process may write to no other.
func TestWithoutTemporaryFolder(t *testing.T) {
	folder := t.TempDir() + "/it's here"
	calls := "access,faccessat,faccessat2"
	storetest.Strace(t, "TestLargeSort", []string{sortIn + "=" + folder, "TMPDIR=/nowhere", "SQLITE_TMPDIR="},
		"-P", "/tmp", "-P", "/var/tmp", "-P", "/usr/tmp", "-P", ".", "-e", "trace="+calls, "-e", "inject="+calls+":error=EACCES")
}

// TestLargeUndo changes more pages in a statement that can fail than SQLite keeps for it in memory by default.
func TestLargeUndo(t *testing.T) {
	db := open(t, storetest.Place{Folder: t.TempDir()})
	err := db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		for _, statement := range []string{
			"CREATE TABLE numbers (n INTEGER NOT NULL UNIQUE, text BLOB) STRICT",
			`INSERT INTO numbers WITH RECURSIVE numbers (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM numbers WHERE x < 3000)
				SELECT x, zeroblob(400) FROM numbers`,
		} {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Write(t.Context(), func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE numbers SET n = n + 10000")
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestUndoInMemory: what a write may have to undo is not written to a temporary file.
func TestUndoInMemory(t *testing.T) {
	if log := storetest.Strace(t, "TestLargeUndo", nil, "-e", "trace=open,openat"); strings.Contains(log, "etilqs_") {
		t.Error("SQLite makes a temporary file")
	}
}
