package store

import (
	"context"
	"database/sql"
	"fmt"
	"io"

	"gatherkit/internal/database"
)

// secretBytes is the length of a secret.
const secretBytes = 32

// Secret returns the secret with the name, and generates it on the first call. All processes
// on the same database get the same secret.
func (s *Store) Secret(ctx context.Context, name string) ([]byte, error) {
	fresh := make([]byte, secretBytes)
	if _, err := io.ReadFull(s.rand, fresh); err != nil {
		return nil, err
	}
	var secret []byte
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", name, fresh)
		if err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, "SELECT value FROM secrets WHERE name = $1", name).Scan(&secret)
	})
	// This is the first write at the start of the service, if there is nothing to migrate. A disk
	// that the kernel has made read-only looks like any other until then.
	if database.ReadOnly(err) {
		err = fmt.Errorf("cannot write to the database: its file, folder or disk is read-only: %w", err)
	}
	return secret, err
}
