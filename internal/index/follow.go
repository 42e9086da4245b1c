package index

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"gatherkit/internal/aside"
	"gatherkit/internal/changelog"
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
	rest  changelog.Rest
}

// Follower returns a Follower that begins with the first account.
func (x *Index) Follower() *Follower { return &Follower{index: x} }

// Renew lets the next step read anew which accounts have changes.
func (f *Follower) Renew() { f.queue = nil }

// Lag returns how many log entries the index had not followed when it was read last which accounts have changes.
func (f *Follower) Lag() int64 { return f.lag }

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
func (f *Follower) read(ctx context.Context) error {
	f.lag = 0
	over, err := f.rest.Over(ctx, f.index.db.Reader(), f.index.now())
	if err != nil || !over {
		return err
	}
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
	if err == nil && len(f.queue) == 0 {
		f.rest.Begin(f.index.now())
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
	parts := []*part{{behind: b}}
	err := x.readEntries(ctx, parts, 1)
	next := parts[0].entries
	if err != nil || len(next) == 0 || next[0].requestID == nil {
		return errors.Join(failed, err)
	}
	item := aside.Item{AccountID: b.accountID, Kind: aside.Index, Subject: next[0].requestID.String()}
	if _, err := x.aside.Try(ctx, item, func() error { return failed }); err != nil {
		return err
	}
	return x.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := advance(ctx, tx, parts)
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
		of := []idsOf{{item.AccountID, []feedback.ID{id}}}
		wanted, err := read(ctx, tx, of, anyApp, true)
		if err == nil {
			err = reindex(ctx, tx, of, wanted)
		}
		if err != nil {
			return err
		}
		return aside.Done(ctx, tx, item)
	})
}

// part is the next part of an account's log, which ends with the entry to.
type part struct {
	behind
	entries []entry
	to      int64
}

// followChunks updates the index for chunks of the logs of some accounts. The texts are read before the transaction
// begins; a request that changes after that has a later entry.
func (x *Index) followChunks(ctx context.Context, accounts []behind, chunk int) error {
	parts := make([]*part, len(accounts))
	for i, b := range accounts {
		parts[i] = &part{behind: b}
		if b.version < version {
			if err := x.restart(ctx, b.accountID); err != nil {
				return err
			}
		}
	}
	slices.SortFunc(parts, func(a, b *part) int { return a.accountID.Compare(b.accountID) }) // in this order rows are locked
	if err := x.readEntries(ctx, parts, chunk); err != nil {
		return err
	}
	wanted, err := read(ctx, x.db.Reader(), requestsOf(parts), anyApp, true)
	if err != nil {
		return err
	}
	for i, p := range parts {
		p.fewerTerms(wanted[i], chunk*usualTerms)
	}
	return x.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		ours, err := advance(ctx, tx, parts)
		if err != nil {
			return err
		}
		of := requestsOf(parts)
		for i, p := range parts {
			if !ours[p.accountID] {
				of[i].ids = nil
			}
		}
		return reindex(ctx, tx, of, wanted)
	})
}

// readEntries reads up to chunk entries for each part.
func (x *Index) readEntries(ctx context.Context, parts []*part, chunk int) error {
	err := readTogether(ctx, x.db.Reader(), parts, one, func(of *part, p *database.Parameters, place string) string {
		return "SELECT seq, request_id, " + place + " FROM (SELECT seq, request_id FROM changes WHERE account_id = " + p.Add(of.accountID) +
			" AND seq > " + p.Add(of.seq) + " ORDER BY seq LIMIT CAST(" + p.Add(chunk) + " AS BIGINT)) AS entries"
	}, func(r database.Row) (e entry, err error) {
		err = r.Scan(&e.seq, &e.requestID)
		return e, err
	}, func(p *part, e entry) error {
		p.entries = append(p.entries, e)
		return nil
	})
	for _, p := range parts {
		slices.SortFunc(p.entries, func(a, b entry) int { return cmp.Compare(a.seq, b.seq) })
		p.to = p.last
		if len(p.entries) == chunk {
			p.to = p.entries[chunk-1].seq
		}
	}
	return err
}

// fewerTerms ends the part before its requests have more than most terms together, but not before the end of the first entry.
func (p *part) fewerTerms(wanted map[feedback.ID]*document, most int) {
	terms := 0
	for i, e := range p.entries {
		if e.requestID != nil && wanted[*e.requestID] != nil {
			terms += len(wanted[*e.requestID].terms)
		}
		if terms > most && i > 0 {
			p.to = min(p.to, p.entries[i-1].seq)
			return
		}
	}
}

// requestsOf returns the requests of each part, without duplicates.
func requestsOf(parts []*part) []idsOf {
	of := make([]idsOf, len(parts))
	for i, p := range parts {
		of[i].accountID = p.accountID
		for _, e := range p.entries {
			if e.requestID != nil && e.seq <= p.to {
				of[i].ids = append(of[i].ids, *e.requestID)
			}
		}
		slices.SortFunc(of[i].ids, feedback.ID.Compare)
		of[i].ids = slices.Compact(of[i].ids)
	}
	return of
}

// advance stores that the index has followed the logs up to the ends of the parts. It returns the accounts of which no
// other process has followed the log meanwhile.
func advance(ctx context.Context, tx *sql.Tx, parts []*part) (ours map[feedback.ID]bool, err error) {
	var p database.Parameters
	rows, expected := make([]string, len(parts)), ""
	for i, part := range parts {
		account := p.Add(part.accountID)
		rows[i] = "(" + account + "," + p.Add(part.to) + "," + p.Add(version) + ")"
		expected += " WHEN " + account + " THEN CAST(" + p.Add(part.seq) + " AS BIGINT)"
	}
	ours = make(map[feedback.ID]bool, len(parts))
	err = database.Each(ctx, tx, func(r database.Row) error {
		id, err := database.One[feedback.ID](r)
		ours[id] = true
		return err
	}, "INSERT INTO index_followed (account_id, seq, version) VALUES "+strings.Join(rows, ",")+
		" ON CONFLICT (account_id) DO UPDATE SET seq = excluded.seq WHERE index_followed.version = excluded.version"+
		" AND index_followed.seq = CASE index_followed.account_id"+expected+" END RETURNING account_id", p...)
	return ours, err
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
