package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/row"
)

// MaxBulk is how many requests one bulk change may touch: they change in one
// transaction, for which others' writes to the same apps wait.
const MaxBulk = 10_000

// bulkChunk is how many requests are read at once.
const bulkChunk = 500

// Bulk says which requests a bulk change touches: those with the ids, or else those
// that the filter matches, which must be as many as expected.
type Bulk struct {
	IDs      []feedback.ID
	Filter   index.Filter
	Expected int64
}

// ChangeRequests lets change alter the box, the status, the assignee and the tags of many
// requests in one transaction and returns how many are different then. It refuses with ErrRequestNotFound or ErrAppNotFound, with
// ErrCountMismatch when the filter matches another number than expected, with ErrMerged
// when a merged one would get another status, and with what change refuses with; then nothing has changed.
func (s *Store) ChangeRequests(ctx context.Context, accountID feedback.ID, b Bulk, by feedback.Actor, change func(*feedback.Request) error) (updated int, err error) {
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

// bulkRequests takes the gates of the apps and returns the requests behind them.
func (s *Store) bulkRequests(ctx context.Context, tx *sql.Tx, accountID feedback.ID, b Bulk) ([]feedback.Request, error) {
	gates := map[countKey]int64{}
	var scope index.Scope
	if b.IDs == nil {
		var err error
		if scope, err = index.Resolve(ctx, tx, accountID, b.Filter); err != nil {
			return nil, err
		}
		for _, id := range scope.Apps() {
			gates[gateOf(id)] = 0
		}
	} else {
		// An app that is none of ours, or deleted, shows when the requests are read.
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
	requests, err := scope.Page(ctx, tx, index.Page{Sort: index.Newest, Limit: MaxBulk + 1})
	if err != nil {
		return nil, err
	}
	return requests, expected(b, requests)
}

// addGates adds the gates of the apps of requests.
func addGates(ctx context.Context, tx *sql.Tx, accountID feedback.ID, gates map[countKey]int64, ids []feedback.ID) error {
	for piece := range slices.Chunk(ids, bulkChunk) {
		p := database.Parameters{accountID}
		apps, err := database.All(ctx, tx, database.One[feedback.ID], "SELECT DISTINCT app_id FROM requests"+
			" WHERE account_id = $1 AND id IN ("+database.List(&p, database.Padded(piece))+")", p...)
		if err != nil {
			return err
		}
		for _, id := range apps {
			gates[gateOf(id)] = 0
		}
	}
	return nil
}

// expected refuses when there are others, or more, than the caller believes.
func expected(b Bulk, found []feedback.Request) error {
	switch {
	case len(found) > MaxBulk:
		return feedback.ErrCountMismatch.With("The filter matches more than %d requests, which is the most for one change; narrow it.", MaxBulk)
	case int64(len(found)) != b.Expected:
		return feedback.ErrCountMismatch.With("The filter matches %d requests and not the expected %d; nothing was changed.", len(found), b.Expected)
	}
	return nil
}

// requestsByID returns the requests with the ids, or ErrRequestNotFound when there is
// none for one of them.
func requestsByID(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) ([]feedback.Request, error) {
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

// readRequests returns those of the requests that there are, without those of deleted apps.
func readRequests(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) ([]feedback.Request, error) {
	p := database.Parameters{accountID}
	return database.All(ctx, tx, row.Scan, "SELECT "+row.Columns+" FROM requests r"+
		" WHERE r.account_id = $1 AND r.id IN ("+database.List(&p, database.Padded(ids))+`)
		AND EXISTS (SELECT 1 FROM apps a WHERE a.account_id = $1 AND a.id = r.app_id AND a.deleted_at IS NULL)`, p...)
}

// changeAll changes requests whose gates are locked.
func (s *Store) changeAll(ctx context.Context, tx *sql.Tx, accountID feedback.ID, requests []feedback.Request, by feedback.Actor, change func(*feedback.Request) error) (int, error) {
	// In the order of ids, so that the log is the same whatever found them.
	slices.SortFunc(requests, func(a, b feedback.Request) int { return a.ID.Compare(b.ID) })
	deltas := map[countKey]int64{}
	roots, assignees, replied := map[feedback.ID]bool{}, map[feedback.ID]bool{}, map[feedback.ID]bool{}
	var altered, retagged []feedback.Request
	var changes []feedback.Change
	for i := range requests {
		r, old := requests[i], requests[i]
		if err := alter(&r, change); err != nil {
			return 0, err
		}
		before, after := feedback.Diff(old, r)
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
		replied[r.ID] = answers(by, old, r)
		if reassigned(old, r) {
			assignees[*r.AssigneeID] = true
		}
		changes = append(changes, feedback.Change{
			Kind: kindOfMove(old.Box, r.Box), Actor: by, AppID: &requests[i].AppID, RequestID: &requests[i].ID, Before: before, After: after,
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
	now := feedback.At(s.now())
	if err := saveAlike(ctx, tx, accountID, altered, replied, now); err != nil {
		return 0, err
	}
	if err := s.saveTags(ctx, tx, accountID, retagged...); err != nil {
		return 0, err
	}
	if err := s.count(ctx, tx, accountID, deltas); err != nil {
		return 0, err
	}
	if err := s.record(ctx, tx, accountID, now, changes...); err != nil {
		return 0, err
	}
	return len(changes), s.settleRoots(ctx, tx, accountID, by, slices.SortedFunc(maps.Keys(roots), feedback.ID.Compare)...)
}

// saveAlike saves requests, those together that have become alike: one by one, others'
// writes to SQLite would wait several times as long.
func saveAlike(ctx context.Context, tx *sql.Tx, accountID feedback.ID, requests []feedback.Request, replied map[feedback.ID]bool, now feedback.Time) error {
	type alike struct {
		box      feedback.Box
		status   feedback.Status
		assignee feedback.ID // of nobody if it is zero
		tags     string
		replied  bool
	}
	groups := map[alike][]feedback.ID{}
	for _, r := range requests {
		tags, err := json.Marshal(r.Tags)
		if err != nil {
			return err
		}
		group := alike{box: r.Box, status: r.Status, tags: string(tags), replied: replied[r.ID]}
		if r.AssigneeID != nil {
			group.assignee = *r.AssigneeID
		}
		groups[group] = append(groups[group], r.ID)
	}
	for group, ids := range groups {
		var assignee *feedback.ID
		if group.assignee != (feedback.ID{}) {
			assignee = &group.assignee
		}
		for _, piece := range database.Powers(ids) {
			p := database.Parameters{accountID, string(group.box), string(group.status), assignee, group.tags, now, answerAt(group.replied, now)}
			n, err := database.Changed(ctx, tx,
				`UPDATE requests SET box = $2, status = $3, assignee_id = $4, tags = $5, version = version + 1, updated_at = $6, `+answered("$7")+`
				WHERE account_id = $1 AND id IN (`+database.List(&p, piece)+")", p...)
			if err != nil {
				return err
			}
			if n != int64(len(piece)) {
				return database.ErrStale
			}
		}
	}
	return nil
}
