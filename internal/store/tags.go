package store

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// saveTags replaces the rows of the requests in request_tags.
func (s *Store) saveTags(ctx context.Context, tx *sql.Tx, accountID feedback.ID, requests ...feedback.Request) error {
	var rows [][]any
	for _, piece := range database.Pieces(requests) {
		p := database.Parameters{accountID}
		ids := make([]feedback.ID, 0, len(piece))
		for _, r := range piece {
			ids = append(ids, r.ID)
			for _, tag := range r.Tags {
				rows = append(rows, []any{accountID, feedback.Fold(tag), r.ID, tag})
			}
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM request_tags"+
			" WHERE account_id = $1 AND request_id IN ("+database.List(&p, ids)+")", p...); err != nil {
			return err
		}
	}
	for _, piece := range database.Pieces(rows) {
		_, err := tx.ExecContext(ctx,
			"INSERT INTO request_tags (account_id, tag, request_id, label) VALUES "+database.Placeholders(len(piece), 4), slices.Concat(piece...)...)
		if err != nil {
			return err
		}
	}
	return nil
}

// Tags returns a page of up to limit tags of the account's live requests, by folded tag, that
// follow the folded tag after. It also returns the total number of tags. If a tag has several
// spellings, it returns the one that sorts first.
func (s *Store) Tags(ctx context.Context, accountID feedback.ID, after string, limit int) ([]feedback.Tag, int64, error) {
	all, exact, err := s.Index.Tags(ctx, accountID)
	if err != nil {
		return nil, 0, err
	}
	if !exact { // the index is far behind
		return s.countTags(ctx, accountID, after, limit)
	}
	folded := slices.Sorted(maps.Keys(all))
	first, found := slices.BinarySearch(folded, after)
	if found {
		first++
	}
	tags := []feedback.Tag{}
	for _, name := range folded[first:min(len(folded), first+limit)] {
		tags = append(tags, all[name])
	}
	return tags, int64(len(all)), nil
}

// countTags is Tags without the index. It reads each tag of each request.
func (s *Store) countTags(ctx context.Context, accountID feedback.ID, after string, limit int) ([]feedback.Tag, int64, error) {
	// CROSS JOIN makes SQLite begin with the tags. COALESCE makes it find their requests by id: for an
	// index that has live requests only, it would read all of these for each tag.
	const live = ` FROM request_tags t CROSS JOIN requests r CROSS JOIN apps a WHERE t.account_id = $1
		AND r.account_id = $1 AND r.id = t.request_id AND COALESCE(r.box, '') = 'live'
		AND a.account_id = $1 AND a.id = r.app_id AND a.deleted_at IS NULL`
	var total int64
	if err := s.db.Reader().QueryRowContext(ctx, "SELECT COUNT(DISTINCT t.tag)"+live, accountID).Scan(&total); err != nil {
		return nil, 0, err
	}
	tags, err := database.All(ctx, s.db.Reader(), func(r database.Row) (tag feedback.Tag, err error) {
		err = r.Scan(&tag.Tag, &tag.Requests)
		return tag, err
	}, "SELECT MIN(t.label), COUNT(*)"+live+" AND t.tag > $2 GROUP BY t.tag ORDER BY t.tag LIMIT CAST($3 AS BIGINT)", accountID, after, limit)
	return tags, total, err
}
