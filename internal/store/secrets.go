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

// Secret returns the secret of that name, which the first process to ask makes:
// it is the same for all processes on this database.
func (s *Store) Secret(ctx context.Context, name string) ([]byte, error) {
	fresh := make([]byte, secretBytes)
	if _, err := io.ReadFull(s.rand, fresh); err != nil {
		return nil, err
	}
	var secret []byte
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", name, fresh); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, "SELECT value FROM secrets WHERE name = $1", name).Scan(&secret)
	})
	if database.ReadOnly(err) { // a process's first write
		err = fmt.Errorf("the database cannot be written to, as its file, its folder or its disk is read-only: %w", err)
	}
	return secret, err
}
