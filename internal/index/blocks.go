package index

import (
	"cmp"
	"context"
	"database/sql"
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
	revision int64 // another one after each change of posting lists
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

const blockColumns = "app_id, block, n, lowest, highest, disorder, revision"

func (b *block) columns() []any {
	return []any{&b.appID, &b.number, &b.n, &b.lowest, &b.highest, &b.disorder, &b.revision}
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
		ids = appendPacked(ids, packed)
		return err
	}, "SELECT ids FROM index_ids WHERE account_id = $1 AND app_id = $2 AND part BETWEEN $3 AND $4 ORDER BY part",
		accountID, b.appID, b.firstPart()+int64(first), b.firstPart()+int64(last))
	return ids, first * partSize, err
}

// selectParts selects the rows of index_ids that have the block's ordinals from ≤ i < until.
func (b *block) selectParts(p *database.Parameters, accountID feedback.ID, from, until int, place string) string {
	part := b.firstPart()
	return "SELECT part, ids, " + place + " FROM index_ids WHERE account_id = " + p.Add(accountID) + " AND app_id = " +
		p.Add(b.appID) + " AND part BETWEEN " + p.Add(part+int64(from/partSize)) + " AND " + p.Add(part+int64((until-1)/partSize))
}

// idsPart is a row of index_ids.
type idsPart struct {
	number int64
	ids    []byte
}

func scanPart(r database.Row) (part idsPart, err error) {
	err = r.Scan(&part.number, &part.ids)
	return part, err
}

// appendPacked appends the ids of a row of index_ids.
func appendPacked(ids []feedback.ID, packed []byte) []feedback.ID {
	for id := range slices.Chunk(packed, len(feedback.ID{})) {
		ids = append(ids, feedback.ID(id))
	}
	return ids
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

// growth is an app that gets new documents.
type growth struct {
	accountID feedback.ID
	last      block       // of the app
	added     []*document // that have no ordinals yet
	piece     []*document // those that the block gets
	from      int         // the ordinal from which the ids of the block are read
	parts     []idsPart   // of the block, from there
}

// grow gives ordinals to new documents of apps, in the order of their ids. The growths have a block without room.
func grow(ctx context.Context, tx *sql.Tx, growths []*growth) error {
	if err := readTogether(ctx, tx, growths, one, func(g *growth, p *database.Parameters, place string) string {
		return "SELECT " + blockColumns + ", " + place + " FROM (SELECT " + blockColumns + " FROM index_blocks WHERE account_id = " +
			p.Add(g.accountID) + " AND app_id = " + p.Add(g.last.appID) + " ORDER BY block DESC LIMIT 1) AS last"
	}, scanBlock, func(g *growth, b block) error { g.last = b; return nil }); err != nil {
		return err
	}
	for _, g := range growths {
		slices.SortFunc(g.added, func(a, b *document) int { return a.id.Compare(b.id) })
	}
	var parts, blocks [][]any
	for len(growths) > 0 { // once for the last block of each app, and then for new ones
		if err := begin(ctx, tx, growths); err != nil {
			return err
		}
		for _, g := range growths {
			parts = append(parts, g.extend()...)
			b := &g.last
			blocks = append(blocks, []any{g.accountID, b.appID, b.number, b.n, b.lowest, b.highest, b.disorder})
		}
		growths = slices.DeleteFunc(growths, func(g *growth) bool { return len(g.added) == 0 })
	}
	if err := upsert(ctx, tx, "INSERT INTO index_ids (account_id, app_id, part, first, ids) VALUES ",
		" ON CONFLICT (account_id, app_id, part) DO UPDATE SET ids = excluded.ids", parts); err != nil {
		return err
	}
	return upsert(ctx, tx, "INSERT INTO index_blocks (account_id, app_id, block, n, lowest, highest, disorder) VALUES ",
		" ON CONFLICT (account_id, app_id, block) DO UPDATE"+
			" SET n = excluded.n, lowest = excluded.lowest, highest = excluded.highest, disorder = excluded.disorder", blocks)
}

// begin decides which documents the last block of each app gets, and reads the ids of the block with which these must be
// compared, or share a row.
func begin(ctx context.Context, tx *sql.Tx, growths []*growth) (err error) {
	var read []*growth
	for _, g := range growths {
		if g.last.n == blockSize {
			g.last = block{appID: g.last.appID, number: g.last.number + 1, lowest: g.added[0].id, highest: g.added[0].id}
		}
		g.piece = g.added[:min(len(g.added), blockSize-g.last.n)]
		g.added = g.added[len(g.piece):]
		if g.from, _, err = g.last.around(ctx, tx, g.accountID, g.piece[0].id); err != nil {
			return err
		}
		g.from, g.parts = min(g.from, g.last.n/partSize*partSize), nil
		if g.from < g.last.n {
			read = append(read, g)
		}
	}
	return readTogether(ctx, tx, read, one, func(g *growth, p *database.Parameters, place string) string {
		return g.last.selectParts(p, g.accountID, g.from, g.last.n, place)
	}, scanPart, func(g *growth, part idsPart) error {
		g.parts = append(g.parts, part)
		return nil
	})
}

// extend appends the piece to the block, which has room for it, and returns the rows of index_ids that it changes.
func (g *growth) extend() (rows [][]any) {
	b, added := &g.last, g.piece
	slices.SortFunc(g.parts, func(a, b idsPart) int { return cmp.Compare(a.number, b.number) })
	var ids []feedback.ID
	for _, part := range g.parts {
		ids = appendPacked(ids, part.ids)
	}
	start, last := g.from/partSize*partSize, b.n/partSize*partSize
	if first := slices.IndexFunc(ids, func(id feedback.ID) bool { return id.Compare(added[0].id) > 0 }); first >= 0 {
		lower := 0 // new ids that are lower than one of the block
		for lower < len(added) && added[lower].id.Compare(b.highest) < 0 {
			lower++
		}
		b.disorder = max(b.disorder, b.n+lower-1-(start+first))
	}
	ids = ids[min(last-start, len(ids)):]
	for i, d := range added {
		d.ordinal = b.number*blockSize + int64(b.n+i)
		ids = append(ids, d.id)
	}
	for i, piece := range slices.Collect(slices.Chunk(ids, partSize)) {
		var packed []byte
		for _, id := range piece {
			packed = append(packed, id[:]...)
		}
		rows = append(rows, []any{g.accountID, b.appID, b.firstPart() + int64(last/partSize+i), piece[0], packed})
	}
	b.n += len(added)
	if b.lowest.Compare(added[0].id) > 0 {
		b.lowest = added[0].id
	}
	if last := added[len(added)-1].id; b.highest.Compare(last) < 0 {
		b.highest = last
	}
	return rows
}
