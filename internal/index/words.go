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

// wordRows is how many rows of words one statement has.
const wordRows = 1024

// indexed is what the index has of a request.
type indexed struct {
	id, appID feedback.ID
	words     []string
}

// difference is a set of changes to the index of an account.
type difference struct {
	accountID      feedback.ID
	added, removed []posting
	counts         map[appWord]int64
	saved          []indexed
	forgotten      []feedback.ID
}

// posting says that a request has a word.
type posting struct {
	appWord
	id feedback.ID
}

type appWord struct {
	appID feedback.ID
	word  string
}

func compareAppWords(a, b appWord) int {
	return cmp.Or(a.appID.Compare(b.appID), strings.Compare(a.word, b.word))
}

func newDifference(accountID feedback.ID) *difference {
	return &difference{accountID: accountID, counts: map[appWord]int64{}}
}

// add adds the change of one request in the index, from before to after. Either may be
// zero, for a request that is not in the index.
func (d *difference) add(id feedback.ID, before, after indexed) {
	if before.id == after.id && slices.Equal(before.words, after.words) {
		return
	}
	for _, word := range before.words {
		if _, stays := slices.BinarySearch(after.words, word); !stays {
			d.removed = append(d.removed, posting{appWord{before.appID, word}, id})
			d.counts[appWord{before.appID, word}]--
		}
	}
	for _, word := range after.words {
		if _, there := slices.BinarySearch(before.words, word); !there {
			d.added = append(d.added, posting{appWord{after.appID, word}, id})
			d.counts[appWord{after.appID, word}]++
		}
	}
	if before.id == id {
		d.counts[appWord{before.appID, ""}]--
	}
	if after.id == id {
		d.counts[appWord{after.appID, ""}]++
		d.saved = append(d.saved, after)
	} else {
		d.forgotten = append(d.forgotten, id)
	}
}

// save makes the changes in the order of keys, so that transactions lock rows in one order.
func (d *difference) save(ctx context.Context, tx *sql.Tx, db *database.DB) error {
	slices.SortFunc(d.added, func(a, b posting) int {
		return cmp.Or(compareAppWords(a.appWord, b.appWord), a.id.Compare(b.id))
	})
	var postings, counts, saved [][]any
	for _, p := range d.added {
		postings = append(postings, []any{d.accountID, p.appID, p.word, p.id})
	}
	for _, key := range slices.SortedFunc(maps.Keys(d.counts), compareAppWords) {
		if n := d.counts[key]; n != 0 {
			counts = append(counts, []any{d.accountID, key.appID, key.word, n})
		}
	}
	for _, in := range d.saved {
		saved = append(saved, []any{d.accountID, in.id, in.appID, strings.Join(in.words, " ")})
	}
	for _, insert := range []struct {
		head, tail string
		rows       [][]any
	}{
		{"INSERT INTO request_words (account_id, app_id, word, id) VALUES ", " ON CONFLICT DO NOTHING", postings},
		{
			"INSERT INTO word_counts (account_id, app_id, word, n) VALUES ",
			" ON CONFLICT (account_id, app_id, word) DO UPDATE SET n = word_counts.n + excluded.n", counts,
		},
		{
			"INSERT INTO indexed_requests (account_id, request_id, app_id, words) VALUES ",
			" ON CONFLICT (account_id, request_id) DO UPDATE SET words = excluded.words", saved,
		},
	} {
		for chunk := range slices.Chunk(insert.rows, wordRows) {
			for _, piece := range database.Powers(chunk) {
				statement := insert.head + db.Placeholders(len(piece), len(piece[0])) + insert.tail
				if _, err := tx.ExecContext(ctx, statement, slices.Concat(piece...)...); err != nil {
					return err
				}
			}
		}
	}
	return d.remove(ctx, tx)
}

// remove deletes the postings that are gone, request by request, and words without postings.
func (d *difference) remove(ctx context.Context, tx *sql.Tx) error {
	for len(d.removed) > 0 {
		of := d.removed[0]
		n := slices.IndexFunc(d.removed, func(p posting) bool { return p.id != of.id })
		if n < 0 {
			n = len(d.removed)
		}
		words := make([]string, 0, n)
		for _, p := range d.removed[:n] {
			words = append(words, p.word)
		}
		d.removed = d.removed[n:]
		p := database.Parameters{d.accountID, of.appID, of.id}
		if _, err := tx.ExecContext(ctx, "DELETE FROM request_words"+
			" WHERE account_id = $1 AND app_id = $2 AND id = $3 AND word IN ("+database.List(&p, padded(words))+")", p...); err != nil {
			return err
		}
		p = database.Parameters{d.accountID, of.appID}
		if _, err := tx.ExecContext(ctx, "DELETE FROM word_counts"+
			" WHERE account_id = $1 AND app_id = $2 AND n <= 0 AND word IN ("+database.List(&p, padded(words))+")", p...); err != nil {
			return err
		}
	}
	if len(d.forgotten) == 0 {
		return nil
	}
	p := database.Parameters{d.accountID}
	_, err := tx.ExecContext(ctx, "DELETE FROM indexed_requests"+
		" WHERE account_id = $1 AND request_id IN ("+database.List(&p, padded(d.forgotten))+")", p...)
	return err
}

// padded repeats the last element until the length of a list is a power of two, so that
// fewer different statements are prepared.
func padded[T any](list []T) []T {
	list = slices.Clone(list)
	for n := len(list); n > 0 && n&(n-1) != 0; n++ {
		list = append(list, list[n-1])
	}
	return list
}
