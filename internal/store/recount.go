package store

import (
	"context"
	"database/sql"
	"errors"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Miscount is a counter that did not match the rows: the number of requests of an app in a
// box and a status, or the number of votes or comments of a request.
type Miscount struct {
	AccountID, AppID feedback.ID
	Box, Status      string
	RequestID        *feedback.ID // for votes and comments, nil otherwise
	Of               string       // "requests", "votes" or "comments"
	Counted, Rows    int64
}

// recountChunk is the number of requests whose votes and comments are counted in one
// transaction.
const recountChunk = 1000

// Recount compares the counters of all apps and requests with the rows, corrects the wrong
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
	var wrong []Miscount
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
		for _, box := range []feedback.Box{feedback.Live, feedback.Bin, feedback.Quarantine} {
			found, err := s.recountRequests(ctx, app.accountID, app.id, box)
			wrong = append(wrong, found...)
			if err != nil && !errors.Is(err, feedback.ErrAppNotFound) {
				return wrong, err
			}
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

// tallies are the counters of a request and the numbers that its rows give.
type tallies struct {
	id                                         feedback.ID
	votes, people, comments, commentRows, heat int64
}

// recountRequests recounts the votes, the heat and the comments of an app's requests in a box.
func (s *Store) recountRequests(
	ctx context.Context, accountID, appID feedback.ID, box feedback.Box,
) ([]Miscount, error) {
	var wrong []Miscount
	var after feedback.ID
	for n := recountChunk; n == recountChunk; {
		var some []tallies
		var found []Miscount
		err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
			if err := s.lock(ctx, tx, accountID, appID); err != nil {
				return err
			}
			if _, err := readApp(ctx, tx, accountID, appID); err != nil {
				return err
			}
			some, err = database.All(ctx, tx, func(r database.Row) (t tallies, err error) {
				err = r.Scan(&t.id, &t.votes, &t.people, &t.comments, &t.commentRows, &t.heat)
				return t, err
			}, "SELECT r.id, r.votes, "+peopleHere+`, r.comments,
					(SELECT COUNT(*) FROM comments c WHERE c.account_id = $1 AND c.request_id = r.id), r.heat
				FROM requests r WHERE r.account_id = $1 AND r.app_id = $2 AND r.box = $3 AND r.id > $4
				ORDER BY r.id ASC NULLS FIRST LIMIT CAST($5 AS BIGINT)`,
				accountID, appID, string(box), after, recountChunk)
			if err != nil {
				return err
			}
			if err := repairHeat(ctx, tx, accountID, some); err != nil {
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
			after = some[n-1].id
		}
	}
	return wrong, nil
}

// repairHeat corrects the heat of requests. It is wrong after a version of the program without it has counted votes.
// Nobody is shown it, so nothing is logged.
func repairHeat(ctx context.Context, tx *sql.Tx, accountID feedback.ID, some []tallies) error {
	ids := make([]feedback.ID, len(some))
	for i, t := range some {
		ids[i] = t.id
	}
	now, err := heats(ctx, tx, accountID, ids...)
	if err != nil {
		return err
	}
	var wrong []feedback.ID
	for _, t := range some {
		if now[t.id] != t.heat {
			wrong = append(wrong, t.id)
		}
	}
	return reheat(ctx, tx, accountID, wrong...)
}

// repair corrects the wrong counters of requests and logs the changes. A request without
// rows may have one vote, the submitter's.
func (s *Store) repair(
	ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID, box feedback.Box, some []tallies,
) ([]Miscount, error) {
	now := feedback.At(s.now())
	var wrong []Miscount
	var changes []feedback.Change
	for _, t := range some {
		if t.people == 0 {
			t.people = max(0, min(t.votes, 1))
		}
		if t.votes == t.people && t.comments == t.commentRows {
			continue
		}
		c := feedback.Change{
			Kind: feedback.RequestRecounted, Actor: feedback.Command(), AppID: &appID, RequestID: &t.id,
			Before: map[string]any{}, After: map[string]any{},
		}
		for _, m := range []Miscount{
			{Of: "votes", Counted: t.votes, Rows: t.people},
			{Of: "comments", Counted: t.comments, Rows: t.commentRows},
		} {
			if m.Counted != m.Rows {
				m.AccountID, m.AppID, m.Box, m.RequestID = accountID, appID, string(box), &t.id
				wrong = append(wrong, m)
				c.Before[m.Of], c.After[m.Of] = m.Counted, m.Rows
			}
		}
		_, err := tx.ExecContext(ctx, "UPDATE requests SET votes = $4, comments = $5, "+touched+" WHERE account_id = $1 AND id = $3",
			accountID, now, t.id, t.people, t.commentRows)
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	return wrong, changelog.Record(ctx, tx, accountID, now, changes...)
}
