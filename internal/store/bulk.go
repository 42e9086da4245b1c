package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/deadline"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/row"
)

// MaxBulk is the maximum number of requests in a bulk change.
const MaxBulk = 10_000

// bulkChunk is the number of requests that a statement reads by id.
const bulkChunk = 500

// bulkTime is how long a bulk change may take after it has begun.
var bulkTime = deadline.Of(5 * time.Minute)

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
// unknown assignee, or the error of change. If it returns one of these, nothing has changed.
//
// Many requests change in several transactions, so that others' writes need not wait for all of them. Whether the change
// fits all requests is checked before the first. A request that somebody else changes meanwhile, so that it does not fit
// any more, is left as it is. A change that has begun goes on when the caller leaves.
func (s *Store) ChangeRequests(
	ctx context.Context, accountID feedback.ID, b Bulk, by feedback.Actor, change func(*feedback.Request) error,
) (updated int, err error) {
	part := s.db.PartRows()
	if b.IDs != nil && len(b.IDs) <= part {
		return s.changeRead(ctx, accountID, b.IDs, by, change, func(ctx context.Context, tx *sql.Tx) ([]feedback.Request, error) {
			return requestsByID(ctx, tx, accountID, b.IDs) // detects those whose app is deleted, too
		})
	}
	requests, err := s.checkBulk(ctx, accountID, b, change)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), bulkTime)
	defer cancel()
	for some := range slices.Chunk(requests, part) {
		ids := make([]feedback.ID, len(some))
		for i, r := range some {
			ids[i] = r.ID
		}
		n, err := s.changeRead(ctx, accountID, ids, by, change, func(ctx context.Context, tx *sql.Tx) ([]feedback.Request, error) {
			now, err := again(ctx, tx, accountID, some, ids)
			return slices.DeleteFunc(now, func(r feedback.Request) bool { return alter(&r, change) != nil }), err
		})
		if err != nil {
			return 0, err
		}
		updated += n
	}
	return updated, nil
}

// checkBulk returns the selected requests by id, after it has called change with each.
func (s *Store) checkBulk(
	ctx context.Context, accountID feedback.ID, b Bulk, change func(*feedback.Request) error,
) (requests []feedback.Request, err error) {
	err = s.db.Read(ctx, func(tx *sql.Tx) error {
		if requests, err = s.bulkRequests(ctx, tx, accountID, b); err != nil {
			return err
		}
		for _, r := range requests {
			if err := alter(&r, change); err != nil {
				return err
			}
		}
		return nil
	})
	// The order of the log entries must not depend on how the requests were selected.
	slices.SortFunc(requests, func(a, b feedback.Request) int { return a.ID.Compare(b.ID) })
	return requests, err
}

func (s *Store) bulkRequests(ctx context.Context, tx *sql.Tx, accountID feedback.ID, b Bulk) ([]feedback.Request, error) {
	if b.IDs != nil {
		return requestsByID(ctx, tx, accountID, b.IDs)
	}
	scope, err := index.Resolve(ctx, s.db, tx, accountID, b.Filter)
	if err != nil {
		return nil, err
	}
	requests, err := scope.Page(ctx, tx, index.Page{Sort: index.Newest, Limit: MaxBulk + 1})
	if err != nil {
		return nil, err
	}
	return requests, checkExpected(b, requests)
}

// changeRead changes the requests that read returns behind the gates of their apps, in one transaction.
func (s *Store) changeRead(
	ctx context.Context, accountID feedback.ID, ids []feedback.ID, by feedback.Actor, change func(*feedback.Request) error,
	read func(context.Context, *sql.Tx) ([]feedback.Request, error),
) (updated int, err error) {
	err = s.tallying(ctx, accountID, s.part(accountID), func(ctx context.Context, tx *sql.Tx, known *tallied) error {
		gates := map[countKey]int64{}
		if err := addGates(ctx, tx, accountID, gates, ids); err != nil {
			return err
		}
		if len(gates) > 0 {
			if err := s.count(ctx, tx, accountID, gates); err != nil {
				return err
			}
		}
		requests, err := read(ctx, tx)
		if err != nil {
			return err
		}
		updated, err = s.changeAll(ctx, tx, accountID, known, requests, by, change)
		return err
	})
	return updated, err
}

// again returns requests as they are now, without those that are gone. It reads only those that have changed.
func again(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, read []feedback.Request, ids []feedback.ID,
) ([]feedback.Request, error) {
	now, err := versions(ctx, tx, accountID, ids)
	if err != nil {
		return nil, err
	}
	var same []feedback.Request
	var changed []feedback.ID
	for _, r := range read {
		switch version, exists := now[r.ID]; {
		case exists && version == r.Version:
			same = append(same, r)
		case exists:
			changed = append(changed, r.ID)
		}
	}
	if len(changed) == 0 {
		return same, nil
	}
	read, err = readRequests(ctx, tx, accountID, changed)
	return append(same, read...), err
}

// versions returns the versions of the requests that exist and whose app is not deleted.
func versions(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) (map[feedback.ID]int64, error) {
	found := make(map[feedback.ID]int64, len(ids))
	for piece := range slices.Chunk(ids, bulkChunk) {
		p := database.Parameters{accountID}
		err := database.Each(ctx, tx, func(r database.Row) error {
			var id feedback.ID
			var version int64
			err := r.Scan(&id, &version)
			found[id] = version
			return err
		}, "SELECT r.id, r.version FROM requests r WHERE r.account_id = $1 AND r.id IN ("+database.List(&p, database.Padded(piece))+")"+
			ofLiveApp, p...)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
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
		err := database.Each(ctx, q, func(r database.Row) error {
			var id, appID feedback.ID
			var created int64
			err := r.Scan(&appID, &created, &id)
			apps[id] = appID
			return err
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

// ofLiveApp is the condition that the app of the request r is not deleted.
const ofLiveApp = " AND EXISTS (SELECT 1 FROM apps a WHERE a.account_id = $1 AND a.id = r.app_id AND a.deleted_at IS NULL)"

// readRequests returns the requests that exist and whose app is not deleted.
func readRequests(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID,
) ([]feedback.Request, error) {
	p := database.Parameters{accountID}
	return database.All(ctx, tx, row.Scan, "SELECT "+row.Columns+" FROM requests r"+
		" WHERE r.account_id = $1 AND r.id IN ("+database.List(&p, database.Padded(ids))+")"+ofLiveApp, p...)
}

// changeAll changes the requests and returns how many differ. The caller holds the gates.
func (s *Store) changeAll(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, known *tallied, requests []feedback.Request, by feedback.Actor,
	change func(*feedback.Request) error,
) (int, error) {
	d, err := differences(requests, by, change)
	if err != nil || len(d.changes) == 0 {
		return 0, err
	}
	for id := range d.assignees {
		if err := checkAssignee(ctx, tx, accountID, id); err != nil {
			return 0, err
		}
	}
	roots, err := s.tallyRoots(ctx, tx, accountID, known, slices.SortedFunc(maps.Keys(d.roots), feedback.ID.Compare), d.moved)
	if err != nil {
		return 0, err
	}
	if err := s.Readers.TellAll(ctx, tx, accountID, by, d.altered, d.changes, d.news); err != nil {
		return 0, err
	}
	now := feedback.At(s.now())
	if err := saveGrouped(ctx, tx, accountID, d.altered, d.changes, d.answered, d.news, now); err != nil {
		return 0, err
	}
	if err := s.saveTags(ctx, tx, accountID, d.retagged...); err != nil {
		return 0, err
	}
	if err := s.count(ctx, tx, accountID, d.deltas); err != nil {
		return 0, err
	}
	if err := changelog.Record(ctx, tx, accountID, now, d.changes...); err != nil {
		return 0, err
	}
	return len(d.changes), s.saveRoots(ctx, tx, accountID, by, roots)
}

// difference is what a bulk change does to requests.
type difference struct {
	altered, retagged []feedback.Request
	changes           []feedback.Change // of those that are altered
	deltas            map[countKey]int64
	answered, news    map[feedback.ID]bool
	assignees         map[feedback.ID]bool
	moved             map[feedback.ID]feedback.Box // merged requests, and their new boxes
	roots             map[feedback.ID]bool         // of those
}

// differences calls change with each of the requests.
func differences(requests []feedback.Request, by feedback.Actor, change func(*feedback.Request) error) (d difference, err error) {
	d = difference{
		deltas: map[countKey]int64{}, answered: map[feedback.ID]bool{}, news: map[feedback.ID]bool{}, assignees: map[feedback.ID]bool{},
		moved: map[feedback.ID]feedback.Box{}, roots: map[feedback.ID]bool{},
	}
	// The order of the log entries must not depend on how the requests were selected.
	slices.SortFunc(requests, func(a, b feedback.Request) int { return a.ID.Compare(b.ID) })
	for i := range requests {
		r, old := requests[i], requests[i]
		if err := alter(&r, change); err != nil {
			return d, err
		}
		before, after := changed(old, r)
		if len(after) == 0 && r.Box == old.Box {
			continue
		}
		d.altered = append(d.altered, r)
		if !slices.Equal(old.Tags, r.Tags) {
			d.retagged = append(d.retagged, r)
		}
		d.deltas[countKey{r.AppID, old.Box, old.Status}]--
		d.deltas[countKey{r.AppID, r.Box, r.Status}]++
		if r.MergedIntoID != nil && r.Box != old.Box {
			d.moved[r.ID], d.roots[*r.MergedIntoID] = r.Box, true
		}
		d.answered[r.ID], d.news[r.ID] = isAnswer(by, old, r), isNews(old, r)
		if reassigned(old, r) {
			d.assignees[*r.AssigneeID] = true
		}
		d.changes = append(d.changes, feedback.Change{
			Kind: kindOfMove(old.Box, r.Box), Actor: by, AppID: &requests[i].AppID, RequestID: &requests[i].ID,
			Before: before, After: after,
		})
	}
	return d, nil
}

// changeInPlace is changeAll for a change that moves no request to another box, so that nobody's vote must be counted.
func (s *Store) changeInPlace(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, requests []feedback.Request, by feedback.Actor,
	change func(*feedback.Request) error,
) (int, error) {
	return s.changeAll(ctx, tx, accountID, nil, requests, by, change)
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
		for _, piece := range database.Pieces(ids) {
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
