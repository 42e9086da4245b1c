package index

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
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

// save makes the changes in the order of keys, so that transactions lock rows in one order.
func (d difference) save(ctx context.Context, tx *sql.Tx, accountID feedback.ID) error {
	for _, key := range slices.SortedFunc(maps.Keys(d), blockKey.compare) {
		if err := saveBlock(ctx, tx, accountID, key, d[key]); err != nil {
			return err
		}
	}
	return nil
}

// saveBlock changes posting lists of one block, and notes which words it has.
func saveBlock(ctx context.Context, tx *sql.Tx, accountID feedback.ID, key blockKey, flips map[string][]flip) error {
	if len(flips) == 0 {
		return nil
	}
	tags := splitTags(flips)
	terms := slices.Sorted(maps.Keys(flips))
	wanted := terms
	if len(tags) > 0 {
		wanted = append(slices.Clone(terms), tagsTerm)
	}
	lists, packed, err := readLists(ctx, tx, accountID, key, wanted)
	if err != nil {
		return err
	}
	var written [][]any
	var gone []string
	came := map[string]bool{} // whether a word has come into the block or left it
	for _, term := range terms {
		list := lists[term]
		if list == nil {
			list = new(set)
		}
		list.apply(flips[term])
		if n := list.count(); n > 0 {
			written = append(written, []any{accountID, key.appID, key.number, term, n, list.encode()})
			if lists[term] == nil && hasBlocks(term) {
				came[term] = true
			}
		} else {
			gone = append(gone, term)
			if hasBlocks(term) {
				came[term] = false
			}
		}
	}
	if len(tags) > 0 {
		changed, n, err := changeTags(packed, tags)
		if err != nil {
			return err
		}
		if n > 0 {
			written = append(written, []any{accountID, key.appID, key.number, tagsTerm, n, changed})
		} else {
			gone = append(gone, tagsTerm)
		}
	}
	err = upsert(ctx, tx, "INSERT INTO index_postings (account_id, app_id, block, term, n, bits) VALUES ",
		" ON CONFLICT (account_id, app_id, block, term) DO UPDATE SET n = excluded.n, bits = excluded.bits", written)
	if err != nil {
		return err
	}
	if err := removeLists(ctx, tx, accountID, key, gone); err != nil {
		return err
	}
	return changeWords(ctx, tx, accountID, key, came)
}

// readLists reads posting lists of one block, and the row of its tags.
func readLists(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, key blockKey, terms []string,
) (lists map[string]*set, packed []byte, err error) {
	lists = make(map[string]*set, len(terms))
	for piece := range slices.Chunk(terms, maxTerms) {
		p := database.Parameters{accountID, key.appID, key.number}
		if err := database.Each(ctx, tx, func(r database.Row) error {
			var term string
			var stored []byte
			if err := r.Scan(&term, &stored); err != nil {
				return err
			}
			if term == tagsTerm {
				packed = stored
				return nil
			}
			lists[term] = new(set)
			return lists[term].addStored(stored)
		}, "SELECT term, bits FROM "+table(&p, piece)+" CROSS JOIN index_postings"+
			" WHERE account_id = $1 AND app_id = $2 AND block = $3 AND term = column1", p...); err != nil {
			return nil, nil, err
		}
	}
	return lists, packed, nil
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

// removeLists deletes posting lists that have become empty.
func removeLists(ctx context.Context, tx *sql.Tx, accountID feedback.ID, key blockKey, terms []string) error {
	for piece := range slices.Chunk(terms, maxTerms) {
		p := database.Parameters{accountID, key.appID, key.number}
		if _, err := tx.ExecContext(ctx, "DELETE FROM index_postings WHERE account_id = $1 AND app_id = $2 AND block = $3"+
			" AND term IN ("+database.List(&p, database.Padded(piece))+")", p...); err != nil {
			return err
		}
	}
	return nil
}

// saveDocuments writes documents, and deletes those without terms.
func (x *Index) saveDocuments(ctx context.Context, tx *sql.Tx, accountID feedback.ID, documents []*document) error {
	var saved [][]any
	var gone []feedback.ID
	for _, d := range documents {
		if len(d.terms) == 0 {
			gone = append(gone, d.id)
		} else {
			saved = append(saved, []any{accountID, d.id, d.appID, d.ordinal, strings.Join(withoutBeginnings(d.terms), separator)})
		}
	}
	err := upsert(ctx, tx, "INSERT INTO index_documents (account_id, request_id, app_id, ordinal, terms) VALUES ",
		" ON CONFLICT (account_id, request_id) DO UPDATE SET terms = excluded.terms", saved)
	if err != nil || len(gone) == 0 {
		return err
	}
	return Forget(ctx, tx, accountID, gone)
}
