package main

import (
	"context"
	"database/sql"
	"fmt"
)

// seedColumns are the columns that a seed fills.
const seedColumns = `account_id, id, app_id, box, status, title, description, submitter_verified,
	tags, votes, comments, metadata, source, version, created_at, updated_at`

// seeds are statements that fill an app with requests in four statuses. Their ids are from
// the two years before those that the service generates.
var seeds = map[string]string{
	"sqlite": `INSERT INTO requests (` + seedColumns + `)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %[1]d)
		SELECT unhex('%[2]s'), unhex(printf('%%012x7000%%04x%%012x', 1700000000000 + i * 60, 32768, i + %[4]d)), unhex('%[3]s'), 'live',
			CASE i %% 10 WHEN 0 THEN 'planned' WHEN 1 THEN 'declined' WHEN 2 THEN 'completed' ELSE 'opened' END,
			'Request number ' || i, 'What somebody would like to have, in a sentence or two, so that the row has its usual size.', 0,
			'[]', 1, 0, '{}', 'widget', 1,
			(1700000000000 + i * 60) * 1000, (1700000000000 + i * 60) * 1000 FROM n`,
	"pgx": `INSERT INTO requests (` + seedColumns + `)
		SELECT CAST('%[2]s' AS uuid),
			CAST(lpad(to_hex(1700000000000 + i * 60), 12, '0') || '70008000' || lpad(to_hex(i + %[4]d), 12, '0') AS uuid),
			CAST('%[3]s' AS uuid), 'live',
			CASE i %% 10 WHEN 0 THEN 'planned' WHEN 1 THEN 'declined' WHEN 2 THEN 'completed' ELSE 'opened' END,
			'Request number ' || i, 'What somebody would like to have, in a sentence or two, so that the row has its usual size.', false,
			'[]', 1, 0, '{}', 'widget', 1,
			(1700000000000 + i * 60) * 1000, (1700000000000 + i * 60) * 1000 FROM generate_series(CAST(1 AS bigint), %[1]d) AS i`,
}

// seed adds n requests to an app. Seeds with a different salt have different ids.
func seed(ctx context.Context, db *sql.DB, d database, accountID, appID string, n, salt int) error {
	statement := fmt.Sprintf(seeds[d.driver], n, bare(accountID), bare(appID), salt)
	if _, err := db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("cannot seed %d requests: %w", n, err)
	}
	return settle(ctx, db, d)
}

// settle updates the counters of requests and the database's statistics after a seed.
func settle(ctx context.Context, db *sql.DB, d database) error {
	if _, err := db.ExecContext(ctx, `INSERT INTO request_counts (account_id, app_id, box, status, n)
		SELECT account_id, app_id, box, status, COUNT(*) FROM requests WHERE box = 'live' GROUP BY account_id, app_id, box, status
		ON CONFLICT (account_id, app_id, box, status) DO UPDATE SET n = excluded.n`); err != nil {
		return fmt.Errorf("cannot update the counters: %w", err)
	}
	return vacuum(ctx, db, d)
}

// vacuum updates PostgreSQL's statistics, and removes what earlier statements left.
func vacuum(ctx context.Context, db *sql.DB, d database) error {
	if d.driver != "pgx" {
		return nil
	}
	if _, err := db.ExecContext(ctx, "VACUUM ANALYZE"); err != nil {
		return fmt.Errorf("cannot update the statistics: %w", err)
	}
	return nil
}

// bare returns the hexadecimal digits of a UUID.
func bare(id string) string {
	digits := make([]byte, 0, 32)
	for i := range len(id) {
		if id[i] != '-' {
			digits = append(digits, id[i])
		}
	}
	return string(digits)
}
