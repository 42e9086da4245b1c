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

// changeWords notes which words have come into a block, or left it.
func changeWords(ctx context.Context, tx *sql.Tx, accountID feedback.ID, key blockKey, came map[string]bool) error {
	words := slices.Sorted(maps.Keys(came))
	in, err := blocksWith(ctx, tx, accountID, key.appID, words)
	if err != nil {
		return err
	}
	var written [][]any
	var gone []string
	for _, word := range words {
		blocks := in[word]
		if blocks == nil {
			blocks = new(set)
		}
		bit := blockBit(key.number)
		if came[word] {
			blocks.add(bit)
		} else if bit < blockSize-1 {
			blocks.remove(bit)
		}
		if blocks.next(0) >= 0 {
			written = append(written, []any{accountID, key.appID, word, blocks.encode()})
		} else {
			gone = append(gone, word)
		}
	}
	if err := upsert(ctx, tx, "INSERT INTO index_words (account_id, app_id, word, blocks) VALUES ",
		" ON CONFLICT (account_id, app_id, word) DO UPDATE SET blocks = excluded.blocks", written); err != nil {
		return err
	}
	for piece := range slices.Chunk(gone, maxTerms) {
		p := database.Parameters{accountID, key.appID}
		if _, err := tx.ExecContext(ctx, "DELETE FROM index_words WHERE account_id = $1 AND app_id = $2"+
			" AND word IN ("+database.List(&p, database.Padded(piece))+")", p...); err != nil {
			return err
		}
	}
	return nil
}

// blocksWith returns the blocks of an app that have each of the words.
func blocksWith(ctx context.Context, q database.Queryer, accountID, appID feedback.ID, words []string) (map[string]*set, error) {
	in := make(map[string]*set, len(words))
	for piece := range slices.Chunk(words, maxTerms) {
		p := database.Parameters{accountID, appID}
		if err := database.Each(ctx, q, func(r database.Row) error {
			var word string
			var stored []byte
			if err := r.Scan(&word, &stored); err != nil {
				return err
			}
			in[word] = new(set)
			return in[word].addStored(stored)
		}, "SELECT word, blocks FROM "+table(&p, piece)+" CROSS JOIN index_words"+
			" WHERE account_id = $1 AND app_id = $2 AND word = column1", p...); err != nil {
			return nil, err
		}
	}
	return in, nil
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
