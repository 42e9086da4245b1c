package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrNoBackup says that PostgreSQL has its own tool for backups.
var ErrNoBackup = errors.New("backup copies the SQLite file; " +
	"for PostgreSQL use pg_dump --format=custom --file=gatherkit.dump with the same database URL")

// Backup writes a consistent copy of the SQLite database to a new file while the service
// runs. The file gets its name only when it is complete, checked and durable. On
// PostgreSQL it returns ErrNoBackup.
func (db *DB) Backup(ctx context.Context, file string) (err error) {
	if db.writes == nil {
		return ErrNoBackup
	}
	if _, err := os.Stat(file); err == nil {
		return fmt.Errorf("%s exists already; give the backup a new name", file)
	}
	part := file + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := makeFile(part); err != nil { // SQLite fills an empty file
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(part)
		}
	}()
	if err := db.copyTo(ctx, part); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	if err := checkIntegrity(ctx, part); err != nil {
		return err
	}
	if err := syncFile(part); err != nil {
		return err
	}
	if err := os.Rename(part, file); err != nil {
		return err
	}
	return syncFile(filepath.Dir(file))
}

// copyTo copies one state of the database. It needs its own connection: readers refuse the
// statement, and the writer would make others wait.
func (db *DB) copyTo(ctx context.Context, file string) error {
	source, err := openSQLite(db.folder, false)
	if err != nil {
		return err
	}
	_, err = source.ExecContext(ctx, "VACUUM INTO $1", file)
	return errors.Join(err, source.Close())
}

func checkIntegrity(ctx context.Context, file string) error {
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // only read from
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&verdict); err != nil {
		return fmt.Errorf("check the backup: %w", err)
	}
	if verdict != "ok" {
		return fmt.Errorf("the backup is damaged: %s", verdict)
	}
	return nil
}

// syncFile makes a file or a folder's entries durable.
func syncFile(path string) error {
	f, err := os.Open(path) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
