package main

import (
	"context"
	"database/sql"
	"fmt"
)

// seeds fill an app with so many requests in four statuses, with the ids of the
// two years before the service's own, and set its counters.
var seeds = map[string]string{
	"sqlite": `INSERT INTO requests (account_id, id, app_id, box, status, title, description, submitter_verified, tags, votes, comments, metadata, source, version, created_at, updated_at)
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %[1]d)
		SELECT unhex('%[2]s'), unhex(printf('%%012x7000%%04x%%012x', 1700000000000 + i * 60, 32768, i + %[4]d)), unhex('%[3]s'), 'live',
			CASE i %% 10 WHEN 0 THEN 'planned' WHEN 1 THEN 'declined' WHEN 2 THEN 'completed' ELSE 'opened' END,
			'Request number ' || i, 'What somebody would like to have, in a sentence or two, so that the row has its usual size.', 0, '[]', 1, 0, '{}', 'widget', 1,
			(1700000000000 + i * 60) * 1000, (1700000000000 + i * 60) * 1000 FROM n`,
	"pgx": `INSERT INTO requests (account_id, id, app_id, box, status, title, description, submitter_verified, tags, votes, comments, metadata, source, version, created_at, updated_at)
		SELECT CAST('%[2]s' AS uuid), CAST(lpad(to_hex(1700000000000 + i * 60), 12, '0') || '70008000' || lpad(to_hex(i + %[4]d), 12, '0') AS uuid), CAST('%[3]s' AS uuid), 'live',
			CASE i %% 10 WHEN 0 THEN 'planned' WHEN 1 THEN 'declined' WHEN 2 THEN 'completed' ELSE 'opened' END,
			'Request number ' || i, 'What somebody would like to have, in a sentence or two, so that the row has its usual size.', false, '[]', 1, 0, '{}', 'widget', 1,
			(1700000000000 + i * 60) * 1000, (1700000000000 + i * 60) * 1000 FROM generate_series(CAST(1 AS bigint), %[1]d) AS i`,
}

// seed adds requests to an app; salt keeps the ids of several seeds apart.
func seed(ctx context.Context, db *sql.DB, d database, accountID, appID string, n, salt int) error {
	statement := fmt.Sprintf(seeds[d.driver], n, bare(accountID), bare(appID), salt)
	if _, err := db.ExecContext(ctx, statement); err != nil {
		return fmt.Errorf("seed %d requests: %w", n, err)
	}
	return settle(ctx, db, d)
}

// settle makes the counters and the statistics those of the seed.
func settle(ctx context.Context, db *sql.DB, d database) error {
	if _, err := db.ExecContext(ctx, `INSERT INTO request_counts (account_id, app_id, box, status, n)
		SELECT account_id, app_id, box, status, COUNT(*) FROM requests WHERE box = 'live' GROUP BY account_id, app_id, box, status
		ON CONFLICT (account_id, app_id, box, status) DO UPDATE SET n = excluded.n`); err != nil {
		return fmt.Errorf("count the seed: %w", err)
	}
	if d.driver == "pgx" {
		if _, err := db.ExecContext(ctx, "VACUUM ANALYZE"); err != nil {
			return fmt.Errorf("analyze the seed: %w", err)
		}
	}
	return nil
}

// bare is a UUID's hexadecimal digits.
func bare(id string) string {
	digits := make([]byte, 0, 32)
	for i := range len(id) {
		if id[i] != '-' {
			digits = append(digits, id[i])
		}
	}
	return string(digits)
}
