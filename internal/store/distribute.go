package store

import (
	"context"

	"gatherkit/internal/database"
)

// shards keep all rows of an account on one machine. Log-ins, API keys and download links are
// looked up before the account is known, so these tables are distributed by their own keys. What
// remains has a few rows for the whole installation.
var shards = database.Shards{
	Root:  "accounts",
	Local: []string{"installation", "leases", "mail_server", "schema_version", "secrets", "setup_tokens"},
}

// Distribute distributes the tables of a PostgreSQL database with Citus by account. See
// database.DB.Distribute.
func (s *Store) Distribute(ctx context.Context, dryRun bool) (statements []string, err error) {
	return s.db.Distribute(ctx, shards, dryRun)
}
