package database

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"gatherkit/internal/durable"
)

// Backup writes a consistent copy of the database to a folder while the service runs: with SQLite
// the checked file gatherkit.db, and with PostgreSQL gatherkit.dump, which pg_dump writes for
// pg_restore. If it fails, it may leave an incomplete file behind.
func (db *DB) Backup(ctx context.Context, folder string) error {
	if db.writes == nil {
		return db.dump(ctx, filepath.Join(folder, "gatherkit.dump"))
	}
	file := filepath.Join(folder, databaseFile)
	if err := makeFile(file); err != nil { // SQLite fills an empty file
		return err
	}
	if err := db.copyTo(ctx, file); isFull(err) {
		return diskFull(folder, err)
	} else if err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	if err := checkFile(ctx, file); err != nil {
		return fmt.Errorf("the backup is damaged, so check the disk: %v", err) //nolint:errorlint // Explain would blame the database
	}
	return durable.Sync(file)
}

// dump runs pg_dump.
func (db *DB) dump(ctx context.Context, file string) error {
	address, password, err := splitPassword(db.url)
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, "pg_dump", "--format=custom", "--file="+file, "--dbname="+address) //nolint:gosec // no shell
	command.Env = append(os.Environ(), "PGPASSWORD="+password)
	output, err := command.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%w; install PostgreSQL's client, such as with apt-get install postgresql-client", err)
	}
	if err != nil {
		return fmt.Errorf("pg_dump failed: %w: %s", err, bytes.TrimSpace(output))
	}
	return durable.Sync(file)
}

// splitPassword returns a URL without its password, and the password. Other users of the machine
// can read the arguments of a process, but not its environment.
func splitPassword(address string) (without, password string, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", "", errors.New("the database's URL is invalid")
	}
	query := u.Query()
	password = query.Get("password")
	if own, set := u.User.Password(); set {
		password = own
		u.User = url.User(u.User.Username())
	}
	query.Del("password")
	u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // libpq takes a + literally
	return u.String(), password, nil
}

// withoutLogin returns a URL without its user and password.
func withoutLogin(address string) (string, error) {
	address, _, err := splitPassword(address)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	u.User = nil
	query := u.Query()
	query.Del("user")
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// copyTo copies one state of the database. It needs its own connection: readers refuse the
// statement, and the writer would make others wait.
func (db *DB) copyTo(ctx context.Context, file string) error {
	source, err := db.openSQLite(false)
	if err != nil {
		return err
	}
	_, err = source.ExecContext(ctx, "VACUUM INTO $1", file)
	return errors.Join(err, source.Close())
}

// checkFile returns an error if the SQLite database in a file is damaged.
func checkFile(ctx context.Context, file string) error {
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // only read from
	return checkIntegrity(ctx, db)
}

func checkIntegrity(ctx context.Context, db *sql.DB) error {
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return fmt.Errorf("%w: %s", errDamaged, verdict)
	}
	return nil
}

// Check reads the whole SQLite database and returns an error if it is damaged. On PostgreSQL it
// does nothing: use pg_amcheck.
func (db *DB) Check(ctx context.Context) error {
	if db.writes == nil {
		return nil
	}
	return checkIntegrity(ctx, db.reader)
}
