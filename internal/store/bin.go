package store

import (
	"context"
	"database/sql"
	"time"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/sweep"
)

// keepBinned is how long a request stays in the bin. Its updated_at does not change there,
// so it is the time at which the request was moved to the bin.
const keepBinned = 30 * 24 * time.Hour

// sweepBin permanently deletes the requests of some accounts that have been in the bin for 30 days.
func (s *Store) sweepBin(ctx context.Context, accounts []feedback.ID) error {
	old := sweep.Rows{Table: "requests", Where: "COALESCE(box, box) <> 'live' AND box = 'bin' AND updated_at < $1"}
	return old.Each(ctx, s.db, accounts, []any{feedback.At(s.now().Add(-keepBinned))}, func(accountID feedback.ID) error {
		return sweep.Repeat(ctx, s.db, func(ctx context.Context, tx *sql.Tx) (int, error) { return s.removeBinned(ctx, tx, accountID) })
	})
}

// removeBinned deletes a chunk of these requests and their history, and updates the counters
// and the log.
func (s *Store) removeBinned(ctx context.Context, tx *sql.Tx, accountID feedback.ID) (int, error) {
	now := s.now()
	until := feedback.At(now.Add(-keepBinned))
	old, err := database.All(ctx, tx, func(r database.Row) (b binned, err error) {
		err = r.Scan(&b.id, &b.appID, (*string)(&b.status))
		return b, err
	}, "SELECT id, app_id, status FROM requests WHERE account_id = $1 AND COALESCE(box, box) <> 'live' AND box = 'bin' AND updated_at < $2"+
		" AND app_id IN (SELECT id FROM apps WHERE account_id = $1 AND deleted_at IS NULL) ORDER BY id ASC NULLS FIRST LIMIT $3",
		accountID, until, sweep.Chunk)
	if err != nil || len(old) == 0 {
		return 0, err
	}
	ids := make([]feedback.ID, 0, len(old))
	deltas := map[countKey]int64{}
	changes := make([]feedback.Change, 0, len(old))
	for i := range old {
		ids = append(ids, old[i].id)
		deltas[countKey{old[i].appID, feedback.Bin, old[i].status}]--
		changes = append(changes, feedback.Change{
			Kind: feedback.RequestPurged, Actor: feedback.Service(), AppID: &old[i].appID,
			Before: map[string]any{"id": old[i].id},
		})
	}
	if err := s.count(ctx, tx, accountID, deltas); err != nil {
		return 0, err
	}
	if err := s.detach(ctx, tx, accountID, ids); err != nil {
		return 0, err
	}
	p := database.Parameters{accountID, until}
	n, err := database.Changed(ctx, tx, "DELETE FROM requests"+
		" WHERE account_id = $1 AND box = 'bin' AND updated_at < $2 AND id IN ("+database.List(&p, ids)+")", p...)
	if err != nil {
		return 0, err
	}
	if n != int64(len(ids)) { // one was restored or deleted before count locked the gates
		return 0, database.ErrStale
	}
	return len(old), changelog.Record(ctx, tx, accountID, feedback.At(now), changes...)
}

// detach removes requests, which are about to be purged, from their trees and from the index, with the rows that belong
// to them.
func (s *Store) detach(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) error {
	if err := s.unmergePurged(ctx, tx, accountID, ids); err != nil {
		return err
	}
	if err := s.Index.Remove(ctx, tx, accountID, ids); err != nil {
		return err
	}
	return removeChildren(ctx, tx, accountID, ids)
}

// binned is a request in the bin.
type binned struct {
	id, appID feedback.ID
	status    feedback.Status
}
