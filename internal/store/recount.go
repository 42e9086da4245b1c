package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/uploads"
)

// Miscount is a counter that did not match the rows: the number of requests of an app in a
// box and a status, the number of votes, readers or comments of a request, or the bytes of an
// account's files.
type Miscount struct {
	AccountID, AppID feedback.ID
	Box, Status      string
	RequestID        *feedback.ID // nil for requests and files
	Of               string       // "requests", "votes", "readers", "comments" or "files"
	Counted, Rows    int64
}

// recountChunk is the number of requests whose votes and comments are counted in one
// transaction.
const recountChunk = 1000

// Recount compares the counters of all accounts, apps and requests with the rows, corrects the wrong
// ones and returns them. It logs a change for each request whose votes or comments it
// corrects. Writes to an app wait while its requests are counted. Votes and comments are
// counted in chunks, and writes can run between the chunks.
func (s *Store) Recount(ctx context.Context) ([]Miscount, error) {
	type appKey struct{ accountID, id feedback.ID }
	apps, err := database.All(ctx, s.db.Reader(), func(r database.Row) (k appKey, err error) {
		err = r.Scan(&k.accountID, &k.id)
		return k, err
	}, "SELECT account_id, id FROM apps WHERE deleted_at IS NULL ORDER BY account_id, id")
	if err != nil {
		return nil, err
	}
	wrong, err := s.recountFiles(ctx)
	if err != nil {
		return wrong, err
	}
	for _, app := range apps {
		var found []Miscount
		err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
			found, err = s.recountApp(ctx, tx, app.accountID, app.id)
			return err
		})
		if err != nil && !errors.Is(err, feedback.ErrAppNotFound) {
			return wrong, err
		}
		wrong = append(wrong, found...)
		for _, box := range feedback.Boxes() {
			found, err := s.recountRequests(ctx, app.accountID, app.id, box)
			wrong = append(wrong, found...)
			if err != nil && !errors.Is(err, feedback.ErrAppNotFound) {
				return wrong, err
			}
		}
	}
	return wrong, nil
}

// recountFiles recounts the bytes of each account's files.
func (s *Store) recountFiles(ctx context.Context) (wrong []Miscount, err error) {
	accounts, err := s.accountIDs(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range accounts {
		m := Miscount{AccountID: id, Of: "files"}
		err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
			m.Counted, m.Rows, err = uploads.Recount(ctx, tx, id)
			return err
		})
		if err != nil {
			return wrong, err
		}
		if m.Counted != m.Rows {
			wrong = append(wrong, m)
		}
	}
	return wrong, nil
}

func (s *Store) recountApp(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID) ([]Miscount, error) {
	if err := s.lock(ctx, tx, accountID, appID); err != nil {
		return nil, err
	}
	// The error rolls back the gate that lock has inserted if the app is deleted.
	if _, err := readApp(ctx, tx, accountID, appID); err != nil {
		return nil, err
	}
	// The union covers rows without a counter and counters without rows.
	wrong, err := database.All(ctx, tx, func(r database.Row) (Miscount, error) {
		m := Miscount{AccountID: accountID, AppID: appID, Of: "requests"}
		err := r.Scan(&m.Box, &m.Status, &m.Counted, &m.Rows)
		return m, err
	}, `SELECT box, status, CAST(SUM(counted) AS BIGINT), CAST(SUM(present) AS BIGINT) FROM (
			SELECT box, status, n AS counted, 0 AS present FROM request_counts WHERE account_id = $1 AND app_id = $2
			UNION ALL
			SELECT box, status, 0, COUNT(*) FROM requests WHERE account_id = $1 AND app_id = $2 GROUP BY box, status
		) AS both_sides GROUP BY box, status HAVING SUM(counted) <> SUM(present) ORDER BY box, status`, accountID, appID)
	if err != nil {
		return nil, err
	}
	deltas := map[countKey]int64{}
	for _, m := range wrong {
		deltas[countKey{appID, feedback.Box(m.Box), feedback.Status(m.Status)}] = m.Rows - m.Counted
	}
	if len(deltas) == 0 {
		return nil, nil
	}
	return wrong, s.count(ctx, tx, accountID, deltas)
}

// recounted are the counters of a request and the numbers that its rows give.
type recounted struct {
	id                    feedback.ID
	status                feedback.Status
	counted, rows         tally
	comments, commentRows int64
}

// recountRequests recounts the votes, the readers, the heat and the comments of an app's requests in a box.
func (s *Store) recountRequests(
	ctx context.Context, accountID, appID feedback.ID, box feedback.Box,
) ([]Miscount, error) {
	var wrong []Miscount
	var after recounted // a zero one is before all others
	for n := recountChunk; n == recountChunk; {
		var some []recounted
		var found []Miscount
		err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
			if err := s.lock(ctx, tx, accountID, appID); err != nil {
				return err
			}
			if _, err := readApp(ctx, tx, accountID, appID); err != nil {
				return err
			}
			some, err = database.All(ctx, tx, func(r database.Row) (t recounted, err error) {
				err = r.Scan(&t.id, (*string)(&t.status), &t.counted.votes, &t.counted.readers, &t.counted.heat, &t.comments, &t.commentRows)
				return t, err
			}, `SELECT r.id, r.status, r.votes, r.readers, r.heat, r.comments,
					(SELECT COUNT(*) FROM comments c WHERE c.account_id = $1 AND c.request_id = r.id)
				FROM requests r WHERE r.account_id = $1 AND r.app_id = $2 AND r.box = $3 AND (r.status, r.id) > ($4, $5)
				ORDER BY r.status, r.id ASC NULLS FIRST LIMIT CAST($6 AS BIGINT)`,
				accountID, appID, string(box), string(after.status), after.id, recountChunk)
			if err != nil {
				return err
			}
			if err := countAgain(ctx, tx, accountID, some); err != nil {
				return err
			}
			found, err = s.repair(ctx, tx, accountID, appID, box, some)
			return err
		})
		if err != nil {
			return wrong, err
		}
		wrong = append(wrong, found...)
		if n = len(some); n > 0 {
			after = some[n-1]
		}
	}
	return wrong, nil
}

// countAgain counts the rows of requests, and of those that are merged into them. A request without rows may have one
// vote, the submitter's.
func countAgain(ctx context.Context, tx *sql.Tx, accountID feedback.ID, some []recounted) error {
	sets := make(map[feedback.ID][]member, len(some))
	for _, r := range some {
		sets[r.id] = []member{{id: r.id}}
	}
	all, err := readMerged(ctx, tx, accountID, slices.Collect(maps.Keys(sets))...)
	if err != nil {
		return err
	}
	addMerged(sets, all)
	rows, err := countRows(ctx, tx, accountID, sets, nil)
	for i := range some {
		r := &some[i]
		if r.rows = rows[r.id]; r.rows.votes == 0 {
			r.rows.votes = max(0, min(r.counted.votes, 1))
		}
	}
	return err
}

// repair corrects the wrong counters of requests and logs the changes of what a request shows, which is neither its
// readers nor its heat. The heat is no miscount: a version of the program without it leaves it wrong.
func (s *Store) repair(
	ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID, box feedback.Box, some []recounted,
) ([]Miscount, error) {
	now := feedback.At(s.now())
	var wrong []Miscount
	var changes []feedback.Change
	silent, visible := map[feedback.ID]tally{}, map[feedback.ID]tally{}
	for _, r := range some {
		c := feedback.Change{
			Kind: feedback.RequestRecounted, Actor: feedback.Command(), AppID: &appID, RequestID: &r.id,
			Before: map[string]any{}, After: map[string]any{},
		}
		for _, m := range []Miscount{
			{Of: "votes", Counted: r.counted.votes, Rows: r.rows.votes},
			{Of: "readers", Counted: r.counted.readers, Rows: r.rows.readers},
			{Of: "comments", Counted: r.comments, Rows: r.commentRows},
		} {
			if m.Counted != m.Rows {
				m.AccountID, m.AppID, m.Box, m.RequestID = accountID, appID, string(box), &r.id
				wrong = append(wrong, m)
				if m.Of != "readers" {
					c.Before[m.Of], c.After[m.Of] = m.Counted, m.Rows
				}
			}
		}
		switch {
		case len(c.After) > 0:
			visible[r.id] = r.rows
			changes = append(changes, c)
		case r.counted != r.rows:
			silent[r.id] = r.rows
		}
		if r.comments != r.commentRows {
			if _, err := tx.ExecContext(ctx, "UPDATE requests SET comments = $3 WHERE account_id = $1 AND id = $2",
				accountID, r.id, r.commentRows); err != nil {
				return nil, err
			}
		}
	}
	if err := saveTallies(ctx, tx, accountID, nil, silent); err != nil {
		return nil, err
	}
	if err := saveTallies(ctx, tx, accountID, &now, visible); err != nil {
		return nil, err
	}
	return wrong, changelog.Record(ctx, tx, accountID, now, changes...)
}
