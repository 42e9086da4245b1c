package index

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// index_words has the words of an app, also those of submitters, and for each one the blocks
// that have it. A search for similar requests looks for many words, and most blocks have few
// of them.

// hasBlocks reports whether a term is in index_words.
func hasBlocks(term string) bool { return isWord(term) || strings.HasPrefix(term, personMark) }

// blockBit returns the place of a block in a set of blocks. An app of more than 51 million
// requests has blocks that share the last place, which therefore stays in the set.
func blockBit(number int64) int { return int(min(number, blockSize-1)) }

// wordChange says which words have come into blocks of an app, or left them.
type wordChange struct {
	accountID, appID feedback.ID
	in               map[string]map[int64]bool // whether a word is in a block now
}

// note notes that a list of a block was empty before, or is empty now.
func (c *wordChange) note(term string, block int64, came bool) {
	if !hasBlocks(term) {
		return
	}
	if c.in[term] == nil {
		c.in[term] = map[int64]bool{}
	}
	c.in[term][block] = came
}

// changeWords stores which words have come into blocks, or left them.
func changeWords(ctx context.Context, tx *sql.Tx, changes []*wordChange) error {
	wanted := make([]appWords, len(changes))
	for i, c := range changes {
		wanted[i] = appWords{c.accountID, c.appID, slices.Sorted(maps.Keys(c.in))}
	}
	in, err := blocksWith(ctx, tx, wanted)
	if err != nil {
		return err
	}
	var written [][]any
	for i, c := range changes {
		var gone []string
		for _, word := range wanted[i].words {
			blocks := in[i][word]
			if blocks == nil {
				blocks = new(set)
			}
			for number, came := range c.in[word] {
				if bit := blockBit(number); came {
					blocks.add(bit)
				} else if bit < blockSize-1 {
					blocks.remove(bit)
				}
			}
			if blocks.next(0) >= 0 {
				written = append(written, []any{c.accountID, c.appID, word, blocks.encode()})
			} else {
				gone = append(gone, word)
			}
		}
		for piece := range slices.Chunk(gone, maxTerms) {
			p := database.Parameters{c.accountID, c.appID}
			if _, err := tx.ExecContext(ctx, "DELETE FROM index_words WHERE account_id = $1 AND app_id = $2"+
				" AND word IN ("+database.List(&p, database.Padded(piece))+")", p...); err != nil {
				return err
			}
		}
	}
	return upsert(ctx, tx, "INSERT INTO index_words (account_id, app_id, word, blocks) VALUES ",
		" ON CONFLICT (account_id, app_id, word) DO UPDATE SET blocks = excluded.blocks", written)
}

// appWords are words of an app.
type appWords struct {
	accountID, appID feedback.ID
	words            []string
}

// blocksWith returns for words of several apps the blocks that have each of them.
func blocksWith(ctx context.Context, q database.Queryer, of []appWords) ([]map[string]*set, error) {
	type piece struct {
		appWords
		at int
	}
	type row struct {
		word   string
		stored []byte
	}
	in := make([]map[string]*set, len(of))
	var pieces []piece
	for at, w := range of {
		in[at] = make(map[string]*set, len(w.words))
		for some := range slices.Chunk(w.words, maxTerms) {
			pieces = append(pieces, piece{appWords{w.accountID, w.appID, database.Padded(some)}, at})
		}
	}
	err := readTogether(ctx, q, pieces, func(p piece) int { return len(p.words) },
		func(of piece, p *database.Parameters, place string) string {
			return "SELECT word, blocks, " + place + " FROM " + table(p, of.words) + " CROSS JOIN index_words WHERE account_id = " +
				p.Add(of.accountID) + " AND app_id = " + p.Add(of.appID) + " AND word = column1"
		}, func(r database.Row) (found row, err error) {
			err = r.Scan(&found.word, &found.stored)
			return found, err
		}, func(p piece, found row) error {
			in[p.at][found.word] = new(set)
			return in[p.at][found.word].addStored(found.stored)
		})
	return in, err
}

// listKey is the key of a posting list in an app. at is the block's place in a reading.
type listKey struct {
	at   int
	term string
}

// storedList is a posting list and its length.
type storedList struct {
	n      int64
	stored []byte
}

// pick reads some posting lists of an app.
func (r *reading) pick(ctx context.Context, q database.Queryer, appID feedback.ID, keys []listKey) (map[listKey]storedList, error) {
	lists := make(map[listKey]storedList, len(keys))
	numbers := make([]int64, len(r.blocks))
	for i := range numbers {
		numbers[i] = r.blocks[i].number
	}
	for piece := range slices.Chunk(keys, maxTerms) {
		p := database.Parameters{r.accountID, appID}
		pairs := make([]string, 0, len(piece))
		for _, key := range database.Padded(piece) { // as texts, which PostgreSQL takes untyped values for
			pairs = append(pairs, "("+p.Add(strconv.FormatInt(numbers[key.at], 10))+","+p.Add(key.term)+")")
		}
		if err := database.Each(ctx, q, func(row database.Row) error {
			var number int64
			var key listKey
			var list storedList
			err := row.Scan(&number, &key.term, &list.n, &list.stored)
			key.at, _ = slices.BinarySearch(numbers, number)
			lists[key] = list
			return err
		}, "SELECT block, term, n, bits FROM (VALUES "+strings.Join(pairs, ",")+") AS wanted CROSS JOIN index_postings"+
			" WHERE account_id = $1 AND app_id = $2 AND block = CAST(column1 AS BIGINT) AND term = column2", p...); err != nil {
			return nil, err
		}
	}
	return lists, nil
}
