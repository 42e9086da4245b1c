package main

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"gatherkit/internal/feedback"
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
	if d.driver == "pgx" {
		if _, err := db.ExecContext(ctx, "VACUUM ANALYZE"); err != nil {
			return fmt.Errorf("cannot update the statistics: %w", err)
		}
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

// seedTexts adds n requests to the account, with their changes, which the index processes. It
// adds inApp of them to one app, evenly spread, and the rest to another, and returns some of
// the titles in the first app. existing is the number of requests that were seeded before.
func (r rig) seedTexts(ctx context.Context, s *speech, app, others string, inApp, n, existing int) ([]string, error) {
	account, appIDs, err := r.ids(ctx, app, others)
	if err != nil {
		return nil, err
	}
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // it does nothing after a commit
	var last int
	err = tx.QueryRowContext(ctx, "UPDATE account_seq SET last = last + $1 WHERE account_id = $2 RETURNING last", n, account).Scan(&last)
	if err != nil {
		return nil, err
	}
	var titles []string
	seeded := 0 // in the app
	for from := 0; from < n; from += seedChunk {
		var requests, changes [][]any
		for i := from; i < min(from+seedChunk, n); i++ {
			id, title, appID := feedback.FirstIDAt(time.UnixMilli(1_600_000_000_000+int64(existing+i))), s.say(3, 8), appIDs[1]
			if seeded < (i+1)*inApp/n {
				if appID = appIDs[0]; seeded%(1+inApp/500) == 0 {
					titles = append(titles, title)
				}
				seeded++
			}
			requests = append(requests, []any{
				account, id, appID, "live", "opened", title, s.say(8, 30), false, "[]", 1, 0, "{}", "widget", 1, 0, 0,
			})
			changes = append(changes, []any{account, last - n + i + 1, 0, "request.created", "api_key", appID, id})
		}
		for into, values := range map[string][][]any{
			"requests (" + seedColumns + ")":                                      requests,
			"changes (account_id, seq, at, kind, actor_kind, app_id, request_id)": changes,
		} {
			statement := "INSERT INTO " + into + " VALUES " + rows(len(values), len(values[0]), r.driver == "pgx")
			if _, err := tx.ExecContext(ctx, statement, slices.Concat(values...)...); err != nil {
				return nil, fmt.Errorf("cannot seed %d requests: %w", n, err)
			}
		}
	}
	return titles, tx.Commit()
}

// seedChunk is the number of requests that one statement seeds.
const seedChunk = 500

// ids returns the ids of the account and of the apps.
func (r rig) ids(ctx context.Context, apps ...string) (account feedback.ID, appIDs []feedback.ID, err error) {
	var me struct{ Account struct{ ID feedback.ID } }
	if err := r.call(ctx, "auth-me", "", &me); err != nil {
		return account, nil, err
	}
	for _, app := range apps {
		id, err := feedback.ParseID(app)
		if err != nil {
			return account, nil, err
		}
		appIDs = append(appIDs, id)
	}
	return me.Account.ID, appIDs, nil
}

// skipIndex marks all changes as indexed. Otherwise, the indexer would process requests of
// earlier measurements while something else is measured.
func (r rig) skipIndex(ctx context.Context) error {
	_, err := r.db.ExecContext(ctx, `INSERT INTO index_progress (account_id, seq) SELECT account_id, last FROM account_seq WHERE true
		ON CONFLICT (account_id) DO UPDATE SET seq = excluded.seq`)
	return err
}
