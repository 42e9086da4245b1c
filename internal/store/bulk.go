package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/row"
)

// MaxBulk is the maximum number of requests in a bulk change. They change in one
// transaction, and other writes to the same apps wait for it.
const MaxBulk = 10_000

// bulkChunk is the number of requests that a statement reads by id.
const bulkChunk = 500

// Bulk selects the requests of a bulk change: by IDs, or by Filter if IDs is nil. Expected is
// the number of requests that the filter must match.
type Bulk struct {
	IDs      []feedback.ID
	Filter   index.Filter
	Expected int64
}

// ChangeRequests calls change to modify the box, the status, the assignee, the tags and
// whether they are hidden of many requests, and returns how many differ afterwards. It returns ErrRequestNotFound,
// ErrAppNotFound, ErrCountMismatch if the filter does not match the expected number of
// requests, ErrMerged if a merged request would get another status, a field error for an
// unknown assignee, or the error of change. If it returns an error, nothing has changed.
func (s *Store) ChangeRequests(
	ctx context.Context, accountID feedback.ID, b Bulk, by feedback.Actor, change func(*feedback.Request) error,
) (updated int, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		requests, err := s.bulkRequests(ctx, tx, accountID, b)
		if err != nil {
			return err
		}
		updated, err = s.changeAll(ctx, tx, accountID, requests, by, change)
		return err
	})
	return updated, err
}

// bulkRequests locks the gates of the selected requests' apps and reads the requests.
func (s *Store) bulkRequests(ctx context.Context, tx *sql.Tx, accountID feedback.ID, b Bulk) ([]feedback.Request, error) {
	gates := map[countKey]int64{}
	if b.IDs == nil {
		apps, err := index.Apps(ctx, tx, accountID, b.Filter)
		if err != nil {
			return nil, err
		}
		for _, id := range apps {
			gates[gateOf(id)] = 0
		}
	} else {
		// requestsByID below detects requests that do not exist or whose app is deleted.
		if err := addGates(ctx, tx, accountID, gates, b.IDs); err != nil {
			return nil, err
		}
	}
	if len(gates) > 0 {
		if err := s.count(ctx, tx, accountID, gates); err != nil {
			return nil, err
		}
	}
	if b.IDs != nil {
		return requestsByID(ctx, tx, accountID, b.IDs)
	}
	scope, err := index.Resolve(ctx, tx, accountID, b.Filter)
	if err != nil {
		return nil, err
	}
	requests, err := scope.Page(ctx, tx, index.Page{Sort: index.Newest, Limit: MaxBulk + 1})
	if err != nil {
		return nil, err
	}
	return requests, checkExpected(b, requests)
}

// addGates adds the gates of the requests' apps.
func addGates(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, gates map[countKey]int64, ids []feedback.ID,
) error {
	apps, err := appsOf(ctx, tx, accountID, ids)
	for _, appID := range apps {
		gates[gateOf(appID)] = 0
	}
	return err
}

// appsOf returns the apps of those requests that exist. It reads a column that is in no index: otherwise
// SQLite would scan an index of the whole account for the apps.
func appsOf(ctx context.Context, q database.Queryer, accountID feedback.ID, ids []feedback.ID) (map[feedback.ID]feedback.ID, error) {
	apps := make(map[feedback.ID]feedback.ID, len(ids))
	for piece := range slices.Chunk(ids, bulkChunk) {
		p := database.Parameters{accountID}
		_, err := database.All(ctx, q, func(r database.Row) (none struct{}, err error) {
			var id, appID feedback.ID
			var created int64
			err = r.Scan(&appID, &created, &id)
			apps[id] = appID
			return none, err
		}, "SELECT app_id, created_at, id FROM requests WHERE account_id = $1 AND id IN ("+database.List(&p, database.Padded(piece))+")", p...)
		if err != nil {
			return nil, err
		}
	}
	return apps, nil
}

// checkExpected returns ErrCountMismatch if the filter found too many requests, or not as
// many as expected.
func checkExpected(b Bulk, found []feedback.Request) error {
	switch {
	case len(found) > MaxBulk:
		return feedback.ErrCountMismatch.With("The filter matches more than %d requests, the maximum for one change; narrow it.", MaxBulk)
	case int64(len(found)) != b.Expected:
		return feedback.ErrCountMismatch.With("The filter matches %d requests and not the expected %d; nothing was changed.",
			len(found), b.Expected)
	}
	return nil
}

// requestsByID returns the requests with the ids, or ErrRequestNotFound if one is missing.
func requestsByID(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID,
) ([]feedback.Request, error) {
	var requests []feedback.Request
	for piece := range slices.Chunk(ids, bulkChunk) {
		found, err := readRequests(ctx, tx, accountID, piece)
		if err != nil {
			return nil, err
		}
		if len(found) < len(piece) {
			return nil, feedback.ErrRequestNotFound
		}
		requests = append(requests, found...)
	}
	return requests, nil
}

// readRequests returns the requests that exist and whose app is not deleted.
func readRequests(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID,
) ([]feedback.Request, error) {
	p := database.Parameters{accountID}
	return database.All(ctx, tx, row.Scan, "SELECT "+row.Columns+" FROM requests r"+
		" WHERE r.account_id = $1 AND r.id IN ("+database.List(&p, database.Padded(ids))+`)
		AND EXISTS (SELECT 1 FROM apps a WHERE a.account_id = $1 AND a.id = r.app_id AND a.deleted_at IS NULL)`, p...)
}

// changeAll changes the requests and returns how many differ. The caller holds the gates.
func (s *Store) changeAll(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, requests []feedback.Request, by feedback.Actor,
	change func(*feedback.Request) error,
) (int, error) {
	// The order of the log entries must not depend on how the requests were selected.
	slices.SortFunc(requests, func(a, b feedback.Request) int { return a.ID.Compare(b.ID) })
	deltas := map[countKey]int64{}
	roots, assignees, answered, news := map[feedback.ID]bool{}, map[feedback.ID]bool{}, map[feedback.ID]bool{}, map[feedback.ID]bool{}
	var altered, retagged []feedback.Request
	var changes []feedback.Change
	for i := range requests {
		r, old := requests[i], requests[i]
		if err := alter(&r, change); err != nil {
			return 0, err
		}
		before, after := changed(old, r)
		if len(after) == 0 && r.Box == old.Box {
			continue
		}
		altered = append(altered, r)
		if !slices.Equal(old.Tags, r.Tags) {
			retagged = append(retagged, r)
		}
		deltas[countKey{r.AppID, old.Box, old.Status}]--
		deltas[countKey{r.AppID, r.Box, r.Status}]++
		if r.MergedIntoID != nil && r.Box != old.Box {
			roots[*r.MergedIntoID] = true
		}
		answered[r.ID], news[r.ID] = isAnswer(by, old, r), isNews(old, r)
		if reassigned(old, r) {
			assignees[*r.AssigneeID] = true
		}
		changes = append(changes, feedback.Change{
			Kind: kindOfMove(old.Box, r.Box), Actor: by, AppID: &requests[i].AppID, RequestID: &requests[i].ID,
			Before: before, After: after,
		})
	}
	if len(changes) == 0 {
		return 0, nil
	}
	for id := range assignees {
		if err := checkAssignee(ctx, tx, accountID, id); err != nil {
			return 0, err
		}
	}
	if err := s.Readers.TellAll(ctx, tx, accountID, by, altered, changes, news); err != nil {
		return 0, err
	}
	now := feedback.At(s.now())
	if err := saveGrouped(ctx, tx, accountID, altered, changes, answered, news, now); err != nil {
		return 0, err
	}
	if err := s.saveTags(ctx, tx, accountID, retagged...); err != nil {
		return 0, err
	}
	if err := s.count(ctx, tx, accountID, deltas); err != nil {
		return 0, err
	}
	if err := changelog.Record(ctx, tx, accountID, now, changes...); err != nil {
		return 0, err
	}
	return len(changes), s.recountRoots(ctx, tx, accountID, by, slices.SortedFunc(maps.Keys(roots), feedback.ID.Compare)...)
}

// changed returns what a bulk change can modify, apart from the box, and has modified. feedback.Diff,
// which compares as JSON, took a tenth of the time of a bulk change.
func changed(old, r feedback.Request) (before, after map[string]any) {
	before, after = map[string]any{}, map[string]any{}
	if old.Status != r.Status {
		before["status"], after["status"] = old.Status, r.Status
	}
	if old.Hidden != r.Hidden {
		before["hidden"], after["hidden"] = old.Hidden, r.Hidden
	}
	if !slices.Equal(old.Tags, r.Tags) {
		before["tags"], after["tags"] = old.Tags, r.Tags
	}
	if (old.AssigneeID == nil) != (r.AssigneeID == nil) || r.AssigneeID != nil && *old.AssigneeID != *r.AssigneeID {
		before["assignee_id"], after["assignee_id"] = old.AssigneeID, r.AssigneeID
	}
	return before, after
}

// saveGrouped saves requests, of which changes says what differs. A statement updates those
// that get the same values, as one statement per request would block other writes on SQLite
// several times as long.
func saveGrouped(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, requests []feedback.Request, changes []feedback.Change,
	answered, news map[feedback.ID]bool, now feedback.Time,
) error {
	type values struct {
		box      feedback.Box
		status   feedback.Status
		hidden   bool
		columns  string // the others, separated by spaces
		assignee feedback.ID
		tags     string
		answered bool
		news     bool
	}
	groups := map[values][]feedback.ID{}
	examples := map[values]*feedback.Request{}
	for i, r := range requests {
		key := values{box: r.Box, status: r.Status, columns: "box status", answered: answered[r.ID], news: news[r.ID]}
		if _, differs := changes[i].After["assignee_id"]; differs {
			if key.columns += " assignee_id"; r.AssigneeID != nil {
				key.assignee = *r.AssigneeID
			}
		}
		if _, differs := changes[i].After["hidden"]; differs {
			key.columns, key.hidden = key.columns+" hidden", r.Hidden
		}
		if _, differs := changes[i].After["tags"]; differs {
			key.columns += " tags"
			key.tags = fmt.Sprintf("%q", r.Tags)
		}
		groups[key] = append(groups[key], r.ID)
		examples[key] = &requests[i]
	}
	for key, ids := range groups {
		for _, piece := range database.Powers(ids) {
			p := database.Parameters{accountID, now}
			n, err := database.Changed(ctx, tx, "UPDATE requests SET "+row.Assign(&p, examples[key], strings.Fields(key.columns)...)+
				", version = version + 1, updated_at = $2, "+setAnswered(p.Add(answeredAt(key.answered, now)))+", "+
				setNews("news_at", p.Add(newsAt(changes[0].Actor, key.news, now)))+
				" WHERE account_id = $1 AND id IN ("+database.List(&p, piece)+")", p...)
			if err != nil {
				return err
			}
			if n != int64(len(piece)) {
				return errGateNotLocked
			}
		}
	}
	return nil
}
