package store

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/search"
)

// The index of words is filled behind the log of changes, so that a submission pays
// nothing for it: index_progress says how far an account's log was followed, and moves
// in the transaction that changes the index. Whoever stops in between is resumed by
// the next; from zero on, the log leads past every request there is.
//
// index_progress is also what puts those in order who change the index: they write
// that row first. So a request that is removed for good does not come back by an
// indexer that had read it before.

const (
	// indexChunk is how many entries of a log are followed in one transaction, and
	// maxIndexChunk how many when nothing comes in that would have to wait for it: then the
	// index follows twice as fast.
	indexChunk    = 64
	maxIndexChunk = 512
	// usualWords is how many words a request usually has. Entries of requests with more
	// words are followed in smaller chunks, so that no transaction keeps others waiting.
	usualWords = 32
	// indexAccounts is how many accounts are followed at a time, which on SQLite share
	// a transaction.
	indexAccounts = 8
	// wordRows is how many rows of words one statement has.
	wordRows = 1024
	// purgedWords is how many of a deleted app's rows are removed in one transaction.
	purgedWords = 5000
)

// behind is an account of whose log the index does not know the end.
type behind struct {
	accountID feedback.ID
	seq, last int64
}

// Index lets the index of words follow the log of changes of some accounts for a bit,
// in their order from the given one on, and returns the one to go on with and whether
// there may be more.
func (s *Store) Index(ctx context.Context, from feedback.ID) (next feedback.ID, more bool, err error) {
	return s.indexSome(ctx, from, indexChunk)
}

// indexSome is Index in transactions of at most so many entries.
func (s *Store) indexSome(ctx context.Context, from feedback.ID, chunk int) (next feedback.ID, more bool, err error) {
	accounts, err := database.All(ctx, s.db.Reader(), func(r database.Row) (b behind, err error) {
		err = r.Scan(&b.accountID, &b.last, &b.seq)
		return b, err
	}, `SELECT q.account_id, q.last, COALESCE(i.seq, 0) FROM account_seq q LEFT JOIN index_progress i ON i.account_id = q.account_id
		WHERE q.account_id > $1 AND q.last > COALESCE(i.seq, 0) ORDER BY q.account_id LIMIT CAST($2 AS BIGINT)`, from, indexAccounts)
	if err != nil {
		return from, false, err
	}
	if len(accounts) == 0 { // from the beginning again, if this was not it
		return feedback.ID{}, from != (feedback.ID{}), nil
	}
	failures := make([]error, len(accounts))
	var wg sync.WaitGroup
	for i, account := range accounts {
		wg.Go(func() { failures[i] = s.follow(ctx, account, chunk) })
	}
	wg.Wait()
	return accounts[len(accounts)-1].accountID, true, errors.Join(failures...)
}

// IndexBacklog is how many entries of the logs of changes the index has not followed.
func (s *Store) IndexBacklog(ctx context.Context) (n int64, err error) {
	err = s.db.Reader().QueryRowContext(ctx, `SELECT CAST(COALESCE(SUM(q.last - COALESCE(i.seq, 0)), 0) AS BIGINT)
		FROM account_seq q LEFT JOIN index_progress i ON i.account_id = q.account_id`).Scan(&n)
	return n, err
}

// entry is what the index looks at of an entry of the log.
type entry struct {
	seq       int64
	requestID *feedback.ID
}

// follow brings the requests of a chunk of an account's log up to date in the index.
// Their texts are read before the transaction begins: one that changes after that has
// a later entry.
func (s *Store) follow(ctx context.Context, b behind, chunk int) error {
	entries, err := database.All(ctx, s.db.Reader(), func(r database.Row) (e entry, err error) {
		err = r.Scan(&e.seq, &e.requestID)
		return e, err
	}, "SELECT seq, request_id FROM changes WHERE account_id = $1 AND seq > $2 ORDER BY seq LIMIT CAST($3 AS BIGINT)", b.accountID, b.seq, chunk)
	if err != nil {
		return err
	}
	to := b.last
	if len(entries) == chunk {
		to = entries[chunk-1].seq
	}
	texts, err := s.wordsOf(ctx, b.accountID, requestsOf(entries, to))
	if err != nil {
		return err
	}
	to = fewerWords(entries, texts, chunk*usualWords, to)
	ids := requestsOf(entries, to)
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		n, err := database.Changed(ctx, tx, `INSERT INTO index_progress (account_id, seq) VALUES ($1, $2)
			ON CONFLICT (account_id) DO UPDATE SET seq = excluded.seq WHERE index_progress.seq = $3`, b.accountID, to, b.seq)
		if err != nil || n == 0 { // another process was here
			return err
		}
		return s.reindex(ctx, tx, b.accountID, ids, texts)
	})
}

// requestsOf returns the requests of the entries up to one, each once.
func requestsOf(entries []entry, to int64) (ids []feedback.ID) {
	for _, e := range entries {
		if e.requestID != nil && e.seq <= to {
			ids = append(ids, *e.requestID)
		}
	}
	slices.SortFunc(ids, compareIDs)
	return slices.Compact(ids)
}

// fewerWords returns the last entry, at most to, up to which requests have no more than so
// many words. It is the first one at least.
func fewerWords(entries []entry, texts map[feedback.ID]indexed, most int, to int64) int64 {
	words := 0
	for i, e := range entries {
		if e.requestID != nil {
			words += len(texts[*e.requestID].words)
		}
		if words > most && i > 0 {
			return min(to, entries[i-1].seq)
		}
	}
	return to
}

// indexed is a request's place in the index.
type indexed struct {
	id, appID feedback.ID
	words     []string
}

// wordsOf returns those of the requests that belong in the index, with their words.
func (s *Store) wordsOf(ctx context.Context, accountID feedback.ID, ids []feedback.ID) (map[feedback.ID]indexed, error) {
	texts := make(map[feedback.ID]indexed, len(ids))
	if len(ids) == 0 {
		return texts, nil
	}
	p := database.Parameters{accountID}
	found, err := database.All(ctx, s.db.Reader(), func(r database.Row) (in indexed, err error) {
		var box, title, description string
		if err = r.Scan(&in.id, &in.appID, &box, &title, &description); err == nil && box == string(feedback.Live) {
			in.words = search.Words(title, description)
		}
		return in, err
	}, "SELECT id, app_id, box, title, description FROM requests WHERE account_id = $1 AND id IN ("+database.List(&p, padded(ids))+")", p...)
	for _, in := range found {
		if in.words != nil {
			texts[in.id] = in
		}
	}
	return texts, err
}

// reindex makes the index say of the requests what texts has of them, and nothing of
// those that are gone by now or whose app is.
func (s *Store) reindex(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID, texts map[feedback.ID]indexed) error {
	if len(ids) == 0 {
		return nil
	}
	old, err := readIndexed(ctx, tx, accountID, ids)
	if err != nil {
		return err
	}
	present, err := present(ctx, tx, accountID, ids)
	if err != nil {
		return err
	}
	d := newDifference(accountID)
	for _, id := range ids {
		before, after := old[id], texts[id]
		if !present[id] {
			after = indexed{}
		}
		d.add(id, before, after)
	}
	return d.save(ctx, tx, s.db)
}

// present says which of the requests there are, in apps that are not deleted.
func present(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) (map[feedback.ID]bool, error) {
	p := database.Parameters{accountID}
	found, err := database.All(ctx, tx, func(r database.Row) (in indexed, err error) {
		err = r.Scan(&in.id, &in.appID)
		return in, err
	}, "SELECT id, app_id FROM requests WHERE account_id = $1 AND id IN ("+database.List(&p, padded(ids))+")", p...)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	var appIDs []feedback.ID
	for _, in := range found {
		if !slices.Contains(appIDs, in.appID) {
			appIDs = append(appIDs, in.appID)
		}
	}
	apps, err := alive(ctx, tx, accountID, padded(appIDs))
	present := make(map[feedback.ID]bool, len(found))
	for _, in := range found {
		present[in.id] = slices.ContainsFunc(apps, func(app liveApp) bool { return app.id == in.appID })
	}
	return present, err
}

// unindex takes requests out of the index that are about to be removed for good.
func (s *Store) unindex(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) error {
	if err := lockIndex(ctx, tx, accountID); err != nil {
		return err
	}
	return s.reindex(ctx, tx, accountID, ids, nil)
}

// lockIndex keeps others from changing an account's index until the transaction ends.
func lockIndex(ctx context.Context, tx *sql.Tx, accountID feedback.ID) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO index_progress (account_id, seq) VALUES ($1, 0)
		ON CONFLICT (account_id) DO UPDATE SET seq = index_progress.seq`, accountID)
	return err
}

func readIndexed(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) (map[feedback.ID]indexed, error) {
	p := database.Parameters{accountID}
	rows, err := database.All(ctx, tx, func(r database.Row) (in indexed, err error) {
		var words string
		err = r.Scan(&in.id, &in.appID, &words)
		in.words = strings.Fields(words)
		return in, err
	}, "SELECT request_id, app_id, words FROM indexed_requests"+
		" WHERE account_id = $1 AND request_id IN ("+database.List(&p, padded(ids))+")", p...)
	byID := make(map[feedback.ID]indexed, len(rows))
	for _, in := range rows {
		byID[in.id] = in
	}
	return byID, err
}

// padded repeats the last of a list until its length is a power of two, for statements
// whose texts would vary with it.
func padded[T any](list []T) []T {
	list = slices.Clone(list)
	for n := len(list); n > 0 && n&(n-1) != 0; n++ {
		list = append(list, list[n-1])
	}
	return list
}
