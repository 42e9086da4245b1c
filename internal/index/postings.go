package index

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// difference is a set of changes to the posting lists of an account.
type difference map[blockKey]map[string][]flip

// blockKey is the key of a block in an account.
type blockKey struct {
	appID  feedback.ID
	number int64
}

func (k blockKey) compare(other blockKey) int {
	return cmp.Or(k.appID.Compare(other.appID), cmp.Compare(k.number, other.number))
}

// flip adds an ordinal to a posting list or removes it.
type flip struct {
	ordinal int
	added   bool
}

// apply makes changes to a posting list.
func (s *set) apply(flips []flip) {
	for _, f := range flips {
		if f.added {
			s.add(f.ordinal)
		} else {
			s.remove(f.ordinal)
		}
	}
}

// change adds the change of one document, whose ordinal stays, from one list of terms to
// another.
func (d difference) change(appID feedback.ID, ordinal int64, before, after []string) {
	key := blockKey{appID, ordinal / blockSize}
	terms := d[key]
	if terms == nil {
		terms = map[string][]flip{}
		d[key] = terms
	}
	for _, side := range []struct {
		mine, other []string
		added       bool
	}{{before, after, false}, {after, before, true}} {
		for _, term := range side.mine {
			if _, stays := slices.BinarySearch(side.other, term); !stays {
				terms[term] = append(terms[term], flip{int(ordinal % blockSize), side.added})
			}
		}
	}
}

// listChange changes posting lists of one block, and the row of its tags.
type listChange struct {
	accountID feedback.ID
	blockKey
	flips, tags map[string][]flip
	lists       map[string]*set // as they are stored
	packed      []byte          // the row of the tags
}

// changes returns the changes of an account in the order of its blocks.
func (d difference) changes(accountID feedback.ID) (changes []*listChange) {
	for _, key := range slices.SortedFunc(maps.Keys(d), blockKey.compare) {
		if flips := d[key]; len(flips) > 0 {
			changes = append(changes, &listChange{
				accountID: accountID, blockKey: key, flips: flips, tags: splitTags(flips), lists: map[string]*set{},
			})
		}
	}
	return changes
}

// saveLists changes posting lists, and notes which words their blocks have. The changes of an app follow one another.
func saveLists(ctx context.Context, tx *sql.Tx, changes []*listChange) error {
	if err := readLists(ctx, tx, changes); err != nil {
		return err
	}
	var written [][]any
	var came []*wordChange
	for i, c := range changes {
		if i == 0 || c.accountID != changes[i-1].accountID || c.appID != changes[i-1].appID {
			came = append(came, &wordChange{accountID: c.accountID, appID: c.appID, in: map[string]map[int64]bool{}})
		}
		rows, gone, err := c.apply(came[len(came)-1])
		if err != nil {
			return err
		}
		written = append(written, rows...)
		if err := removeLists(ctx, tx, c, gone); err != nil {
			return err
		}
	}
	if err := upsert(ctx, tx, "INSERT INTO index_postings (account_id, app_id, block, term, n, bits) VALUES ",
		" ON CONFLICT (account_id, app_id, block, term) DO UPDATE SET n = excluded.n, bits = excluded.bits", written); err != nil {
		return err
	}
	if err := revise(ctx, tx, changes); err != nil {
		return err
	}
	return changeWords(ctx, tx, came)
}

// revisedAtOnce is how many blocks get another revision in one statement.
const revisedAtOnce = 64

// revise gives blocks whose posting lists change another revision. It is a random number, so that it differs from that of
// a change which was lost with a server of PostgreSQL, while this process knows what it had read of it.
func revise(ctx context.Context, tx *sql.Tx, changes []*listChange) error {
	for some := range slices.Chunk(changes, revisedAtOnce) {
		p := database.Parameters{rand.Int64()} //nolint:gosec // nobody gains by guessing it
		blocks := make([]string, 0, revisedAtOnce)
		for _, c := range database.Padded(some) {
			blocks = append(blocks, "(account_id = "+p.Add(c.accountID)+" AND app_id = "+p.Add(c.appID)+" AND block = "+p.Add(c.number)+")")
		}
		if _, err := tx.ExecContext(ctx, "UPDATE index_blocks SET revision = $1 WHERE "+strings.Join(blocks, " OR "), p...); err != nil {
			return err
		}
	}
	return nil
}

// apply returns the rows of the lists that are not empty after the change, and the terms of the others.
func (c *listChange) apply(came *wordChange) (rows [][]any, gone []string, err error) {
	for _, term := range slices.Sorted(maps.Keys(c.flips)) {
		list := c.lists[term]
		if list == nil {
			list = new(set)
		}
		list.apply(c.flips[term])
		if n := list.count(); n > 0 {
			rows = append(rows, []any{c.accountID, c.appID, c.number, term, n, list.encode()})
			if c.lists[term] == nil {
				came.note(term, c.number, true)
			}
		} else {
			gone = append(gone, term)
			came.note(term, c.number, false)
		}
	}
	if len(c.tags) > 0 {
		changed, n, err := changeTags(c.packed, c.tags)
		if err != nil {
			return nil, nil, err
		}
		if n > 0 {
			rows = append(rows, []any{c.accountID, c.appID, c.number, tagsTerm, n, changed})
		} else {
			gone = append(gone, tagsTerm)
		}
	}
	return rows, gone, nil
}

// readLists reads the posting lists that change, and the rows of the tags that do.
func readLists(ctx context.Context, tx *sql.Tx, changes []*listChange) error {
	type piece struct {
		*listChange
		terms []string
	}
	type row struct {
		term   string
		stored []byte
	}
	var pieces []piece
	for _, c := range changes {
		terms := slices.Sorted(maps.Keys(c.flips))
		if len(c.tags) > 0 {
			terms = append(terms, tagsTerm)
		}
		for some := range slices.Chunk(terms, maxTerms) {
			pieces = append(pieces, piece{c, database.Padded(some)})
		}
	}
	return readTogether(ctx, tx, pieces, func(of piece) int { return len(of.terms) },
		func(of piece, p *database.Parameters, place string) string {
			return "SELECT term, bits, " + place + " FROM " + table(p, of.terms) + " CROSS JOIN index_postings WHERE account_id = " +
				p.Add(of.accountID) + " AND app_id = " + p.Add(of.appID) + " AND block = " + p.Add(of.number) + " AND term = column1"
		}, func(r database.Row) (found row, err error) {
			err = r.Scan(&found.term, &found.stored)
			return found, err
		}, func(of piece, found row) error {
			if found.term == tagsTerm {
				of.packed = found.stored
				return nil
			}
			of.lists[found.term] = new(set)
			return of.lists[found.term].addStored(found.stored)
		})
}

// maxTerms is how many terms one statement reads.
const maxTerms = 1024

// table returns a table of values with the column column1. PostgreSQL might compare each row
// of a block with each of many values behind IN.
func table[T any](p *database.Parameters, values []T) string {
	rows := make([]string, 0, len(values))
	for _, value := range database.Padded(values) {
		rows = append(rows, "("+p.Add(value)+")")
	}
	return "(VALUES " + strings.Join(rows, ",") + ") AS wanted"
}

// upsert runs an INSERT for many rows.
func upsert(ctx context.Context, tx *sql.Tx, head, tail string, rows [][]any) error {
	for _, piece := range database.Pieces(rows) {
		if _, err := tx.ExecContext(ctx, head+database.Placeholders(len(piece), len(piece[0]))+tail, slices.Concat(piece...)...); err != nil {
			return err
		}
	}
	return nil
}

// removeLists deletes posting lists of a block that have become empty.
func removeLists(ctx context.Context, tx *sql.Tx, c *listChange, terms []string) error {
	for piece := range slices.Chunk(terms, maxTerms) {
		p := database.Parameters{c.accountID, c.appID, c.number}
		if _, err := tx.ExecContext(ctx, "DELETE FROM index_postings WHERE account_id = $1 AND app_id = $2 AND block = $3"+
			" AND term IN ("+database.List(&p, database.Padded(piece))+")", p...); err != nil {
			return err
		}
	}
	return nil
}

// saveDocuments writes documents of several accounts, and deletes those without terms.
func saveDocuments(ctx context.Context, tx *sql.Tx, of []idsOf, changed [][]*document) error {
	var saved [][]any
	for i, documents := range changed {
		var gone []feedback.ID
		for _, d := range documents {
			if len(d.terms) == 0 {
				gone = append(gone, d.id)
				continue
			}
			packed, err := pack(withoutBeginnings(d.terms))
			if err != nil {
				return err
			}
			saved = append(saved, []any{of[i].accountID, d.id, d.appID, d.ordinal, packed})
		}
		if len(gone) > 0 {
			if err := Forget(ctx, tx, of[i].accountID, gone); err != nil {
				return err
			}
		}
	}
	return upsert(ctx, tx, "INSERT INTO index_documents (account_id, request_id, app_id, ordinal, terms) VALUES ",
		" ON CONFLICT (account_id, request_id) DO UPDATE SET terms = excluded.terms", saved)
}
