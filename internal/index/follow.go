package index

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"gatherkit/internal/aside"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/sweep"
)

// The index follows the log of changes, so that a submission does not pay for it.
// index_followed says how far the log of an account was followed, and moves in the
// transaction that changes the index: a process that stops is resumed by the next one. The
// log leads past every request that exists, so following it from zero rebuilds the index. That
// is done once if its version is lower than this program's; if it is higher, the index is left to
// the programs that know its fields.
//
// Every transaction that changes the index of an account writes its row of index_followed
// first. Therefore a request that is removed for good cannot be put back by a process that
// read it earlier.

const (
	// Chunk is how many log entries the index usually follows in one transaction.
	Chunk = 64
	// MaxChunk is Chunk where no submissions wait for it, or the index is far behind: then it follows twice as fast.
	MaxChunk = 512
	// usualTerms is how many terms a request usually has. Entries of requests with more
	// terms are followed in smaller chunks, so that no transaction keeps others waiting.
	usualTerms = 40
	// accountsAtOnce is how many accounts are followed in one transaction.
	accountsAtOnce = 16
	// overview is how many accounts are read at once, those with the most changes.
	overview = 4096
)

// behind is an account whose log the index has not followed to its end.
type behind struct {
	accountID feedback.ID
	seq, last int64
	version   int64
}

// lag returns how many entries it has not followed.
func (b behind) lag() int64 { return b.last - b.seq }

// followed is how far the index of an account i has followed the log, as this program sees it.
const followed = "CASE WHEN i.version >= $1 THEN i.seq ELSE 0 END"

// selectBehind selects the accounts whose log the index has not followed to its end.
const selectBehind = "SELECT q.account_id, q.last, " + followed + ", COALESCE(i.version, $1) FROM account_seq q" +
	" LEFT JOIN index_followed i ON i.account_id = q.account_id" +
	" WHERE q.last > " + followed + " AND COALESCE(i.version, $1) <= $1"

func scanBehind(r database.Row) (b behind, err error) {
	err = r.Scan(&b.accountID, &b.last, &b.seq, &b.version)
	return b, err
}

// ErrNoOverview means that a Follower could not find out which accounts have changes.
var ErrNoOverview = errors.New("it is not known which accounts have changes")

// FollowAccount lets the index follow up to chunk entries of the log of one account. It does nothing
// if there are none.
func (x *Index) FollowAccount(ctx context.Context, accountID feedback.ID, chunk int) error {
	accounts, err := database.All(ctx, x.db.Reader(), scanBehind, selectBehind+" AND q.account_id = $2", version, accountID)
	if err != nil || len(accounts) == 0 {
		return err
	}
	return x.follow(ctx, accounts, chunk)
}

// Follower lets the index follow the logs of all accounts, in steps. It reads which accounts have changes, and lets the
// index follow a part of the log of each. Those with at least Chunk changes come first, in turn: lists read fewer changes
// than that at once. It is for one goroutine.
type Follower struct {
	index *Index
	last  feedback.ID // the account with many changes that was followed last
	queue []behind    // the accounts that are followed next
	lag   int64       // how many entries the index had not followed when the queue was read
}

// Follower returns a Follower that begins with the first account.
func (x *Index) Follower() *Follower { return &Follower{index: x} }

// Renew lets the next step read anew which accounts have changes, and returns how many log entries the index had not
// followed when they were read last.
func (f *Follower) Renew() (lag int64) {
	f.queue = nil
	return f.lag
}

// Step lets the index follow the logs of the next few accounts, in as many transactions at the same time as there are
// lanes, each of at most chunk entries, and reports whether there may be more to do. It returns ErrNoOverview if it
// cannot find out which accounts have changes.
func (f *Follower) Step(ctx context.Context, chunk, lanes int) (more bool, err error) {
	var again error
	if len(f.queue) == 0 {
		again = f.index.retry(ctx)
		if err := f.read(ctx); err != nil {
			return false, fmt.Errorf("%w: %w", ErrNoOverview, err)
		}
	}
	if len(f.queue) == 0 {
		return false, again
	}
	failures := make([]error, lanes)
	var wg sync.WaitGroup
	for i := 0; i < lanes && len(f.queue) > 0; i++ {
		accounts := f.next(chunk)
		wg.Go(func() { failures[i] = f.index.follow(ctx, accounts, chunk) })
	}
	wg.Wait()
	return true, errors.Join(append(failures, again)...)
}

// read reads which accounts have changes.
func (f *Follower) read(ctx context.Context) (err error) {
	f.lag = 0
	f.queue, err = database.All(ctx, f.index.db.Reader(), scanBehind, selectBehind+
		" ORDER BY q.last - "+followed+" DESC LIMIT CAST($2 AS BIGINT)", version, overview)
	hadTurn := func(b behind) bool { return b.accountID.Compare(f.last) <= 0 }
	slices.SortFunc(f.queue, func(a, b behind) int {
		if many := cmp.Compare(min(b.lag(), Chunk), min(a.lag(), Chunk)); many != 0 {
			return many
		}
		if hadTurn(a) != hadTurn(b) {
			return b.accountID.Compare(a.accountID) // the one that had its turn has the lower id, and comes later
		}
		return a.accountID.Compare(b.accountID)
	})
	for _, b := range f.queue {
		f.lag += b.lag()
	}
	return err
}

// next takes accounts from the queue: one, or several that have up to chunk changes together.
func (f *Follower) next(chunk int) []behind {
	n, entries, most := 0, int64(0), accountsAtOnce
	if f.index.db.Distributed() {
		most = 1 // accounts are on several machines
	}
	for n < min(len(f.queue), most) {
		b := f.queue[n]
		if entries += b.lag(); n > 0 && entries > int64(chunk) {
			break
		}
		n++
		if b.lag() >= Chunk {
			f.last = b.accountID
		}
	}
	accounts := f.queue[:n]
	f.queue = f.queue[n:]
	return accounts
}

// FollowAll lets the index follow all logs to their ends, in transactions of at most chunk entries.
func (x *Index) FollowAll(ctx context.Context, chunk int) error {
	f := x.Follower()
	for more := true; more; {
		var err error
		if more, err = f.Step(ctx, chunk, x.db.WriteLanes()); err != nil {
			return err
		}
	}
	return nil
}

// Backlog returns how many log entries of all accounts the index has not followed yet.
func (x *Index) Backlog(ctx context.Context) (n int64, err error) {
	err = x.db.Reader().QueryRowContext(ctx, "SELECT CAST(COALESCE(SUM(q.last - "+followed+"), 0) AS BIGINT)"+
		" FROM account_seq q LEFT JOIN index_followed i ON i.account_id = q.account_id", version).Scan(&n)
	return n, err
}

// entry is a log entry and the request that it is about.
type entry struct {
	seq       int64
	requestID *feedback.ID
}

// follow updates the index for chunks of the logs of some accounts in one transaction. If that fails, it does so for each
// account by itself, and then for fewer entries. A request that fails alone is set aside.
func (x *Index) follow(ctx context.Context, accounts []behind, chunk int) error {
	failed := sweep.Recovered(func() error { return x.followChunks(ctx, accounts, chunk) })
	switch {
	case failed == nil || sweep.GivesUp(ctx, x.db, failed):
		return failed
	case len(accounts) > 1:
		failures := make([]error, len(accounts))
		for i := range accounts {
			failures[i] = x.follow(ctx, accounts[i:i+1], chunk)
		}
		return errors.Join(failures...)
	case chunk > 1:
		return x.follow(ctx, accounts, chunk/2)
	}
	return x.skip(ctx, accounts[0], failed)
}

// skip sets the request of the next entry of an account's log aside, and goes on after it.
func (x *Index) skip(ctx context.Context, b behind, failed error) error {
	entries, err := x.entries(ctx, b, 1)
	if err != nil || len(entries) == 0 || entries[0].requestID == nil {
		return errors.Join(failed, err)
	}
	item := aside.Item{AccountID: b.accountID, Kind: aside.Index, Subject: entries[0].requestID.String()}
	if _, err := x.aside.Try(ctx, item, func() error { return failed }); err != nil {
		return err
	}
	return x.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := x.advance(ctx, tx, b, entries[0].seq)
		return err
	})
}

// retry updates the index for requests that were set aside.
func (x *Index) retry(ctx context.Context) error {
	due, err := x.aside.Due(ctx, aside.Index)
	failed := sweep.Errors{}
	failed.Add(err)
	for _, item := range due {
		_, err := x.aside.Try(ctx, item, func() error { return x.followOne(ctx, item) })
		failed.Add(err)
	}
	return failed.Err()
}

// followOne updates the index for a request that was set aside, unless the index is one of a newer program.
func (x *Index) followOne(ctx context.Context, item aside.Item) error {
	id, err := feedback.ParseID(item.Subject)
	if err != nil {
		return err
	}
	return x.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		n, err := database.Changed(ctx, tx, "UPDATE index_followed SET seq = seq WHERE account_id = $1 AND version = $2", item.AccountID, version)
		if err != nil || n == 0 {
			return err
		}
		ids := []feedback.ID{id}
		wanted, err := read(ctx, tx, item.AccountID, ids, anyApp, true)
		if err == nil {
			err = x.reindex(ctx, tx, item.AccountID, ids, wanted)
		}
		if err != nil {
			return err
		}
		return aside.Done(ctx, tx, item)
	})
}

// entries returns the next entries of an account's log.
func (x *Index) entries(ctx context.Context, b behind, chunk int) ([]entry, error) {
	return database.All(ctx, x.db.Reader(), func(r database.Row) (e entry, err error) {
		err = r.Scan(&e.seq, &e.requestID)
		return e, err
	}, "SELECT seq, request_id FROM changes WHERE account_id = $1 AND seq > $2 ORDER BY seq LIMIT CAST($3 AS BIGINT)",
		b.accountID, b.seq, chunk)
}

// advance stores that the index of an account has followed the log up to an entry. It returns false if another
// process was here.
func (x *Index) advance(ctx context.Context, tx *sql.Tx, b behind, to int64) (bool, error) {
	n, err := database.Changed(ctx, tx, `INSERT INTO index_followed (account_id, seq, version) VALUES ($1, $2, $3)
		ON CONFLICT (account_id) DO UPDATE SET seq = excluded.seq
		WHERE index_followed.seq = $4 AND index_followed.version = $3`, b.accountID, to, version, b.seq)
	return n > 0, err
}

// part is a part of an account's log: the requests in the entries up to a number.
type part struct {
	behind
	to     int64
	ids    []feedback.ID
	wanted map[feedback.ID]*document
}

// followChunks updates the index for chunks of the logs of some accounts. The texts are read before the transaction
// begins; a request that changes after that has a later entry.
func (x *Index) followChunks(ctx context.Context, accounts []behind, chunk int) error {
	parts := make([]part, len(accounts))
	for i, b := range accounts {
		var err error
		if parts[i], err = x.part(ctx, b, chunk); err != nil {
			return err
		}
	}
	return x.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, p := range parts {
			ours, err := x.advance(ctx, tx, p.behind, p.to)
			if err == nil && ours {
				err = x.reindex(ctx, tx, p.accountID, p.ids, p.wanted)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// part reads up to chunk entries of an account's log, and what the index is to have of their requests.
func (x *Index) part(ctx context.Context, b behind, chunk int) (p part, err error) {
	if b.version < version {
		if err := x.restart(ctx, b.accountID); err != nil {
			return p, err
		}
	}
	entries, err := x.entries(ctx, b, chunk)
	if err != nil {
		return p, err
	}
	p.behind, p.to = b, b.last
	if len(entries) == chunk {
		p.to = entries[chunk-1].seq
	}
	if p.wanted, err = read(ctx, x.db.Reader(), b.accountID, requestsOf(entries, p.to), anyApp, true); err != nil {
		return p, err
	}
	p.to = fewerTerms(entries, p.wanted, chunk*usualTerms, p.to)
	p.ids = requestsOf(entries, p.to)
	return p, nil
}

// restart lets the index follow an account's log from the beginning, for the fields of this
// version.
func (x *Index) restart(ctx context.Context, accountID feedback.ID) error {
	return x.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE index_followed SET seq = 0, version = $1 WHERE account_id = $2 AND version < $1",
			version, accountID)
		return err
	})
}

// requestsOf returns the requests of the entries up to number to, without duplicates.
func requestsOf(entries []entry, to int64) (ids []feedback.ID) {
	for _, e := range entries {
		if e.requestID != nil && e.seq <= to {
			ids = append(ids, *e.requestID)
		}
	}
	slices.SortFunc(ids, feedback.ID.Compare)
	return slices.Compact(ids)
}

// fewerTerms returns the number of the last entry, up to to, whose requests have no more
// than most terms together. It returns the first entry at least.
func fewerTerms(entries []entry, wanted map[feedback.ID]*document, most int, to int64) int64 {
	terms := 0
	for i, e := range entries {
		if e.requestID != nil && wanted[*e.requestID] != nil {
			terms += len(wanted[*e.requestID].terms)
		}
		if terms > most && i > 0 {
			return min(to, entries[i-1].seq)
		}
	}
	return to
}

func anyApp(feedback.ID) bool { return true }

// read reads requests of some apps as documents, with the terms of words or without.
func read(
	ctx context.Context, q database.Queryer, accountID feedback.ID, ids []feedback.ID, ofApp func(feedback.ID) bool, words bool,
) (map[feedback.ID]*document, error) {
	documents := make(map[feedback.ID]*document, len(ids))
	for piece := range slices.Chunk(ids, maxTerms) {
		p := database.Parameters{accountID}
		err := database.Each(ctx, q, func(r database.Row) error {
			d, err := scanDocument(r, ofApp, words)
			if d != nil {
				documents[d.id] = d
			}
			return err
		}, "SELECT "+documentColumns(words)+" FROM requests"+
			" WHERE account_id = $1 AND id IN ("+database.List(&p, database.Padded(piece))+")", p...)
		if err != nil {
			return nil, err
		}
	}
	return documents, nil
}

// reindex makes the index of the requests equal to wanted, and removes those that are gone
// or whose app is deleted.
func (x *Index) reindex(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID, wanted map[feedback.ID]*document,
) error {
	if len(ids) == 0 {
		return nil
	}
	old, err := readIndexed(ctx, tx, accountID, ids, true)
	if err != nil {
		return err
	}
	exist, err := existing(ctx, tx, accountID, ids)
	if err != nil {
		return err
	}
	added := map[feedback.ID][]*document{}
	var changed []*document
	for _, id := range ids {
		before, after := old[id], wanted[id]
		switch {
		case after != nil && exist[id] && before == nil:
			added[after.appID] = append(added[after.appID], after)
			changed = append(changed, after)
		case after != nil && exist[id] && !slices.Equal(before.terms, after.terms):
			after.ordinal = before.ordinal
			changed = append(changed, after)
		case before != nil && (after == nil || !exist[id]):
			changed = append(changed, &document{id: id, appID: before.appID, ordinal: before.ordinal})
		}
	}
	for _, appID := range slices.SortedFunc(maps.Keys(added), feedback.ID.Compare) {
		if err := x.grow(ctx, tx, accountID, appID, added[appID]); err != nil {
			return err
		}
	}
	d := difference{}
	for _, after := range changed {
		var before []string
		if old[after.id] != nil {
			before = old[after.id].terms
		}
		d.change(after.appID, after.ordinal, before, after.terms)
	}
	if err := x.saveDocuments(ctx, tx, accountID, changed); err != nil {
		return err
	}
	return d.save(ctx, tx, accountID)
}

// existing returns those of the requests that are there and whose app is not deleted. It
// reads a column that is in no index: otherwise SQLite would scan a covering index.
func existing(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) (map[feedback.ID]bool, error) {
	apps, err := database.All(ctx, tx, database.One[feedback.ID],
		"SELECT id FROM apps WHERE account_id = $1 AND deleted_at IS NULL", accountID)
	exist := make(map[feedback.ID]bool, len(ids))
	for piece := range slices.Chunk(ids, maxTerms) {
		if err != nil {
			break
		}
		p := database.Parameters{accountID}
		err = database.Each(ctx, tx, func(r database.Row) error {
			var id, appID feedback.ID
			var created int64
			err := r.Scan(&id, &appID, &created)
			exist[id] = slices.Contains(apps, appID)
			return err
		}, "SELECT id, app_id, created_at FROM requests WHERE account_id = $1 AND id IN ("+database.List(&p, database.Padded(piece))+")", p...)
	}
	return exist, err
}

// Remove removes requests from the index. The same transaction must remove them for good.
func (x *Index) Remove(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) error {
	if err := lock(ctx, tx, accountID); err != nil {
		return err
	}
	if err := removePrevious(ctx, tx, accountID, ids); err != nil {
		return err
	}
	if err := x.reindex(ctx, tx, accountID, ids, nil); err != nil {
		return err
	}
	return Forget(ctx, tx, accountID, ids)
}

// lock keeps other transactions from changing an account's index until this one ends.
func lock(ctx context.Context, tx *sql.Tx, accountID feedback.ID) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO index_followed (account_id, seq, version) VALUES ($1, 0, $2)
		ON CONFLICT (account_id) DO UPDATE SET seq = index_followed.seq`, accountID, version)
	return err
}

// readIndexed reads what the index has of some requests, with their terms or without.
func readIndexed(
	ctx context.Context, q database.Queryer, accountID feedback.ID, ids []feedback.ID, terms bool,
) (map[feedback.ID]*document, error) {
	columns := "request_id, app_id, ordinal"
	if terms {
		columns += ", terms"
	}
	byID := make(map[feedback.ID]*document, len(ids))
	for piece := range slices.Chunk(ids, maxTerms) {
		p := database.Parameters{accountID}
		found, err := database.All(ctx, q, func(r database.Row) (d document, err error) {
			if !terms {
				return d, r.Scan(&d.id, &d.appID, &d.ordinal)
			}
			var stored string
			err = r.Scan(&d.id, &d.appID, &d.ordinal, &stored)
			d.terms = withBeginnings(strings.Split(stored, separator))
			return d, err
		}, "SELECT "+columns+" FROM index_documents"+
			" WHERE account_id = $1 AND request_id IN ("+database.List(&p, database.Padded(piece))+")", p...)
		if err != nil {
			return nil, err
		}
		for _, d := range found {
			byID[d.id] = &d
		}
	}
	return byID, nil
}
