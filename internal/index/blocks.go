package index

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// partSize is how many ids a row of index_ids has: with its key, they stay on a page of SQLite. Blocks begin with a new row.
const partSize = 56

// block is a range of blockSize ordinals of an app.
type block struct {
	appID           feedback.ID
	number          int64
	n               int // ordinals in use
	lowest, highest feedback.ID
	// disorder bounds how far the ids are from being sorted: the id of an ordinal is lower
	// than those of all ordinals that are greater by more than disorder.
	disorder int
}

// blocksOf reads the blocks of some apps in the order of their keys.
func blocksOf(ctx context.Context, q database.Queryer, accountID feedback.ID, apps []feedback.ID) ([]block, error) {
	if len(apps) == 0 {
		return nil, nil
	}
	p := database.Parameters{accountID}
	return database.All(ctx, q, scanBlock, "SELECT "+blockColumns+" FROM index_blocks"+
		" WHERE account_id = $1 AND app_id IN ("+database.List(&p, database.Padded(apps))+") ORDER BY app_id, block", p...)
}

const blockColumns = "app_id, block, n, lowest, highest, disorder"

func (b *block) columns() []any {
	return []any{&b.appID, &b.number, &b.n, &b.lowest, &b.highest, &b.disorder}
}

func scanBlock(r database.Row) (b block, err error) {
	err = r.Scan(b.columns()...)
	return b, err
}

// firstPart is the number of the block's first row of ids.
func (b *block) firstPart() int64 { return b.number * (blockSize / partSize) }

// ids reads the ids of the block's ordinals from ≤ i < until. They begin with the one of
// the ordinal start, which is at most from.
func (b *block) ids(
	ctx context.Context, q database.Queryer, accountID feedback.ID, from, until int,
) (ids []feedback.ID, start int, err error) {
	if from >= until {
		return nil, from, nil
	}
	first, last := from/partSize, (until-1)/partSize
	err = database.Each(ctx, q, func(r database.Row) error {
		var packed []byte
		err := r.Scan(&packed)
		for part := range slices.Chunk(packed, len(feedback.ID{})) {
			ids = append(ids, feedback.ID(part))
		}
		return err
	}, "SELECT ids FROM index_ids WHERE account_id = $1 AND app_id = $2 AND part BETWEEN $3 AND $4 ORDER BY part",
		accountID, b.appID, b.firstPart()+int64(first), b.firstPart()+int64(last))
	return ids, first * partSize, err
}

// around returns a range of ordinals outside of which the ids are sorted relative to id:
// those before from have lower ids, and those from until on have id or higher ones.
func (b *block) around(ctx context.Context, q database.Queryer, accountID, id feedback.ID) (from, until int, err error) {
	switch {
	case id.Compare(b.lowest) <= 0:
		return 0, 0, nil
	case id.Compare(b.highest) > 0:
		return b.n, b.n, nil
	}
	part := b.firstPart()
	err = q.QueryRowContext(ctx, "SELECT COALESCE(MAX(part), $3) FROM index_ids"+
		" WHERE account_id = $1 AND app_id = $2 AND part >= $3 AND part < $4 AND first <= $5",
		accountID, b.appID, part, part+blockSize/partSize, id).Scan(&part)
	at := int(part-b.firstPart()) * partSize
	return max(at-b.disorder, 0), min(at+partSize+b.disorder+1, b.n), err
}

// grow gives ordinals to new documents of an app, in the order of their ids.
func (x *Index) grow(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID, added []*document) error {
	slices.SortFunc(added, func(a, b *document) int { return a.id.Compare(b.id) })
	last := block{appID: appID, number: -1, n: blockSize}
	err := tx.QueryRowContext(ctx, "SELECT "+blockColumns+" FROM index_blocks"+
		" WHERE account_id = $1 AND app_id = $2 ORDER BY block DESC LIMIT 1", accountID, appID).Scan(last.columns()...)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	for len(added) > 0 {
		if last.n == blockSize {
			last = block{appID: appID, number: last.number + 1, lowest: added[0].id, highest: added[0].id}
		}
		piece := added[:min(len(added), blockSize-last.n)]
		added = added[len(piece):]
		if err := last.extend(ctx, tx, accountID, piece); err != nil {
			return err
		}
	}
	return nil
}

// extend appends documents, sorted by id, to a block that has room for them.
func (b *block) extend(ctx context.Context, tx *sql.Tx, accountID feedback.ID, added []*document) error {
	from, _, err := b.around(ctx, tx, accountID, added[0].id)
	if err != nil {
		return err
	}
	part := b.n / partSize * partSize
	ids, start, err := b.ids(ctx, tx, accountID, min(from, part), b.n)
	if err != nil {
		return err
	}
	if first := slices.IndexFunc(ids, func(id feedback.ID) bool { return id.Compare(added[0].id) > 0 }); first >= 0 {
		lower := 0 // new ids that are lower than one of the block
		for lower < len(added) && added[lower].id.Compare(b.highest) < 0 {
			lower++
		}
		b.disorder = max(b.disorder, b.n+lower-1-(start+first))
	}
	ids = ids[min(part-start, len(ids)):]
	for i, d := range added {
		d.ordinal = b.number*blockSize + int64(b.n+i)
		ids = append(ids, d.id)
	}
	for i, piece := range slices.Collect(slices.Chunk(ids, partSize)) {
		var packed []byte
		for _, id := range piece {
			packed = append(packed, id[:]...)
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO index_ids (account_id, app_id, part, first, ids) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (account_id, app_id, part) DO UPDATE SET ids = excluded.ids`,
			accountID, b.appID, b.firstPart()+int64(part/partSize+i), piece[0], packed); err != nil {
			return err
		}
	}
	b.n += len(added)
	if b.lowest.Compare(added[0].id) > 0 {
		b.lowest = added[0].id
	}
	if last := added[len(added)-1].id; b.highest.Compare(last) < 0 {
		b.highest = last
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO index_blocks (account_id, app_id, block, n, lowest, highest, disorder)
		VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (account_id, app_id, block) DO UPDATE
		SET n = excluded.n, lowest = excluded.lowest, highest = excluded.highest, disorder = excluded.disorder`,
		accountID, b.appID, b.number, b.n, b.lowest, b.highest, b.disorder)
	return err
}
