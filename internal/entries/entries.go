// Package entries stores the changelogs of apps: entries that say what is new. The team sees all of them, and
// anybody those that are published.
package entries

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/readers"
)

// Lock locks the gate of an app, so that no other transaction changes the app or its requests, and returns
// the app. It returns ErrAppNotFound if the app does not exist.
type Lock func(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID) (feedback.App, error)

// ChangeAll changes requests of apps whose gates are locked, as a bulk change does. It moves none to another box.
type ChangeAll func(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, requests []feedback.Request, by feedback.Actor,
	change func(*feedback.Request) error,
) (int, error)

// Entries are the entries in a database. They change behind the gate of their app.
type Entries struct {
	db      *database.DB
	now     func() time.Time
	ids     *feedback.IDs
	readers *readers.Readers
	lock    Lock
	change  ChangeAll
}

// New returns the entries in a database.
func New(db *database.DB, now func() time.Time, ids *feedback.IDs, people *readers.Readers, lock Lock, change ChangeAll) *Entries {
	return &Entries{db, now, ids, people, lock, change}
}

// selectEntries reads entries of the account $1. The author is a user or a service token.
const selectEntries = `SELECT e.id, e.app_id, e.state, e.title, e.body, e.labels, e.author_id,
	COALESCE((SELECT u.name FROM users u WHERE u.account_id = $1 AND u.id = e.author_id),
		(SELECT t.name FROM access_tokens t WHERE t.account_id = $1 AND t.id = e.author_id)),
	e.publish_at, e.complete, e.quiet, e.published_at, e.version, e.created_at, e.updated_at FROM entries e WHERE e.account_id = $1`

func scan(r database.Row) (e feedback.Entry, err error) {
	var labels []byte
	var author feedback.ID
	var name *string
	err = r.Scan(&e.ID, &e.AppID, (*string)(&e.State), &e.Title, &e.Body, &labels, &author, &name, &e.PublishAt, &e.Complete, &e.Quiet,
		&e.PublishedAt, &e.Version, &e.CreatedAt, &e.UpdatedAt)
	if err != nil {
		return e, err
	}
	if name != nil {
		e.Author = &feedback.EntryAuthor{ID: author, Name: *name}
	}
	e.RequestIDs = []feedback.ID{}
	return e, json.Unmarshal(labels, &e.Labels)
}

// addRequests reads which requests the entries are about.
func addRequests(ctx context.Context, q database.Queryer, accountID feedback.ID, list []feedback.Entry) error {
	if len(list) == 0 {
		return nil
	}
	place := map[feedback.ID]int{}
	ids := make([]feedback.ID, len(list))
	for i := range list {
		ids[i], place[list[i].ID] = list[i].ID, i
	}
	p := database.Parameters{accountID}
	err := database.Each(ctx, q, func(r database.Row) error {
		var id, request feedback.ID
		err := r.Scan(&id, &request)
		e := &list[place[id]]
		e.RequestIDs = append(e.RequestIDs, request)
		return err
	}, "SELECT entry_id, request_id FROM entry_requests WHERE account_id = $1 AND entry_id IN ("+
		database.List(&p, database.Padded(ids))+") ORDER BY entry_id, request_id", p...)
	return err
}

// read returns an entry. It returns ErrEntryNotFound also if the app was deleted.
func read(ctx context.Context, q database.Queryer, accountID, id feedback.ID) (feedback.Entry, error) {
	e, err := scan(q.QueryRowContext(ctx, selectEntries+` AND e.id = $2
		AND EXISTS (SELECT 1 FROM apps a WHERE a.account_id = $1 AND a.id = e.app_id AND a.deleted_at IS NULL)`, accountID, id))
	if err != nil {
		return e, database.OrNotFound(err, feedback.ErrEntryNotFound)
	}
	list := []feedback.Entry{e}
	err = addRequests(ctx, q, accountID, list)
	return list[0], err
}

// Get returns an entry, or ErrEntryNotFound.
func (e *Entries) Get(ctx context.Context, accountID, id feedback.ID) (entry feedback.Entry, err error) {
	err = e.db.Read(ctx, func(tx *sql.Tx) error {
		entry, err = read(ctx, tx, accountID, id)
		return err
	})
	return entry, err
}

// List returns up to limit entries of an app, the newest first, that are older than the entry after; the zero
// id means from the beginning. If state is not empty, it returns only entries in this state. It also returns
// how many there are.
func (e *Entries) List(
	ctx context.Context, accountID, appID feedback.ID, state feedback.EntryState, after feedback.ID, limit int,
) (list []feedback.Entry, total int64, err error) {
	p := database.Parameters{accountID, appID}
	where := " AND app_id = $2"
	if state != "" {
		where += " AND state = " + p.Add(string(state))
	}
	err = e.db.Read(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM entries WHERE account_id = $1"+where, p...).Scan(&total)
		if err != nil {
			return err
		}
		p, page := slices.Clone(p), where
		if after != (feedback.ID{}) {
			page += " AND id < " + p.Add(after)
		}
		list, err = database.All(ctx, tx, scan, selectEntries+page+" ORDER BY id DESC LIMIT CAST("+p.Add(limit)+" AS BIGINT)", p...)
		if err != nil {
			return err
		}
		return addRequests(ctx, tx, accountID, list)
	})
	return list, total, err
}

// Add stores a draft with the id of its author, and sets its own id, version and times. It returns ErrAppNotFound, or ErrRequestNotFound if
// it is about a request that is not of the app or is in the bin.
func (e *Entries) Add(ctx context.Context, accountID feedback.ID, by feedback.Actor, entry feedback.Entry) (feedback.Entry, error) {
	var added feedback.Entry
	err := e.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if _, err := e.lock(ctx, tx, accountID, entry.AppID); err != nil {
			return err
		}
		if err := checkRequests(ctx, tx, accountID, entry.AppID, entry.RequestIDs); err != nil {
			return err
		}
		id := e.ids.New()
		labels, err := json.Marshal(entry.Labels)
		if err != nil {
			return err
		}
		var author feedback.ID
		if entry.Author != nil {
			author = entry.Author.ID
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO entries (account_id, id, app_id, state, title, body, labels, author_id, complete, quiet,"+
			" version, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 1, $11, $11)", accountID, id, entry.AppID,
			string(feedback.Draft), entry.Title, entry.Body, string(labels), author, false, false, id.Time())
		if err != nil {
			return err
		}
		if err := e.link(ctx, tx, accountID, id, entry.RequestIDs); err != nil {
			return err
		}
		if added, err = read(ctx, tx, accountID, id); err != nil {
			return err
		}
		return changelog.Record(ctx, tx, accountID, added.CreatedAt, feedback.Change{
			Kind: feedback.EntryCreated, Actor: by, AppID: &added.AppID, After: map[string]any{"entry_id": id, "title": added.Title},
		})
	})
	return added, err
}

// checkRequests returns ErrRequestNotFound unless all requests are of the app, and not in the bin. It reads a
// column that is in no index: see appsOf in the store.
func checkRequests(ctx context.Context, tx *sql.Tx, accountID, appID feedback.ID, ids []feedback.ID) error {
	if len(ids) == 0 {
		return nil
	}
	fit := map[feedback.ID]bool{}
	p := database.Parameters{accountID}
	err := database.Each(ctx, tx, func(r database.Row) error {
		var id, of feedback.ID
		var box string
		var created int64
		err := r.Scan(&id, &of, &box, &created)
		fit[id] = of == appID && box != string(feedback.Bin)
		return err
	}, "SELECT id, app_id, box, created_at FROM requests WHERE account_id = $1 AND id IN ("+database.List(&p, database.Padded(ids))+")", p...)
	if err == nil && slices.ContainsFunc(ids, func(id feedback.ID) bool { return !fit[id] }) {
		err = feedback.ErrRequestNotFound
	}
	return err
}

// link stores the requests that an entry is about, which has none.
func (e *Entries) link(ctx context.Context, tx *sql.Tx, accountID, id feedback.ID, requests []feedback.ID) error {
	const columns = 3
	for _, piece := range database.Pieces(requests) {
		args := make([]any, 0, columns*len(piece))
		for _, request := range piece {
			args = append(args, accountID, id, request)
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO entry_requests"+
			" (account_id, entry_id, request_id) VALUES "+database.Placeholders(len(piece), columns), args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// locked locks the gate of an entry's app and returns the entry. It reads the entry again behind the gate.
func (e *Entries) locked(ctx context.Context, tx *sql.Tx, accountID, id feedback.ID) (feedback.Entry, error) {
	entry, err := read(ctx, tx, accountID, id)
	if err != nil {
		return entry, err
	}
	if _, err = e.lock(ctx, tx, accountID, entry.AppID); errors.Is(err, feedback.ErrAppNotFound) {
		err = feedback.ErrEntryNotFound
	}
	if err != nil {
		return entry, err
	}
	return read(ctx, tx, accountID, id)
}

// Change reads an entry, calls change to modify it, and saves the differences. It returns ErrEntryNotFound,
// ErrRequestNotFound as Add does for requests that the entry was not about before, or the error of change.
func (e *Entries) Change(
	ctx context.Context, accountID, id feedback.ID, by feedback.Actor, change func(*feedback.Entry) error,
) (entry feedback.Entry, err error) {
	err = e.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		old, err := e.locked(ctx, tx, accountID, id)
		if err != nil {
			return err
		}
		entry = old
		if err := change(&entry); err != nil {
			return err
		}
		return e.save(ctx, tx, accountID, by, old, &entry, false)
	})
	return entry, err
}

// save saves what differs between old and entry, completes the requests of the entry if complete is true, and
// logs. The caller has locked the gate.
func (e *Entries) save(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor, old feedback.Entry, entry *feedback.Entry, complete bool,
) error {
	before, after := feedback.Diff(old, *entry)
	if len(after) > 0 {
		entry.Version++
		entry.UpdatedAt = feedback.At(e.now())
		if err := e.update(ctx, tx, accountID, old, *entry); err != nil {
			return err
		}
	}
	// It logs, so it comes after the other changes, and in the same transaction: an entry is published and its
	// requests are completed, or neither.
	if complete {
		if err := e.complete(ctx, tx, accountID, by, entry.RequestIDs); err != nil {
			return err
		}
	}
	if len(after) == 0 {
		return nil
	}
	// A text can be long, and whether people are told is logged with the requests.
	for _, side := range []map[string]any{before, after} {
		delete(side, "body")
		delete(side, "quiet")
	}
	after["entry_id"], after["title"] = entry.ID, entry.Title
	return changelog.Record(ctx, tx, accountID, entry.UpdatedAt, feedback.Change{
		Kind: kindOf(old, *entry), Actor: by, AppID: &entry.AppID, Before: before, After: after,
	})
}

func (e *Entries) update(ctx context.Context, tx *sql.Tx, accountID feedback.ID, old, entry feedback.Entry) error {
	labels, err := json.Marshal(entry.Labels)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE entries SET state = $3, title = $4, body = $5, labels = $6, publish_at = $7, complete = $8,"+
		" quiet = $9, published_at = $10, version = $11, updated_at = $12 WHERE account_id = $1 AND id = $2", accountID, entry.ID,
		string(entry.State), entry.Title, entry.Body, string(labels), entry.PublishAt, entry.Complete, entry.Quiet, entry.PublishedAt,
		entry.Version, entry.UpdatedAt)
	if err != nil || slices.Equal(old.RequestIDs, entry.RequestIDs) {
		return err
	}
	added := slices.DeleteFunc(slices.Clone(entry.RequestIDs), func(id feedback.ID) bool { return slices.Contains(old.RequestIDs, id) })
	if err := checkRequests(ctx, tx, accountID, entry.AppID, added); err != nil {
		return err
	}
	if err := unlink(ctx, tx, accountID, entry.ID); err != nil {
		return err
	}
	return e.link(ctx, tx, accountID, entry.ID, entry.RequestIDs)
}

func unlink(ctx context.Context, tx *sql.Tx, accountID, id feedback.ID) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM entry_requests WHERE account_id = $1 AND entry_id = $2", accountID, id)
	return err
}

// kindOf returns the kind of a change. Scheduling an entry, and making it a draft again, are no publications.
func kindOf(old, entry feedback.Entry) feedback.ChangeKind {
	was, is := old.State == feedback.Published, entry.State == feedback.Published
	switch {
	case is && !was:
		return feedback.EntryPublished
	case was && !is:
		return feedback.EntryUnpublished
	}
	return feedback.EntryUpdated
}

// Delete deletes an entry. It returns ErrEntryNotFound.
func (e *Entries) Delete(ctx context.Context, accountID, id feedback.ID, by feedback.Actor) error {
	return e.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		entry, err := e.locked(ctx, tx, accountID, id)
		if err != nil {
			return err
		}
		if err := unlink(ctx, tx, accountID, id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM entries WHERE account_id = $1 AND id = $2", accountID, id); err != nil {
			return err
		}
		return changelog.Record(ctx, tx, accountID, feedback.At(e.now()), feedback.Change{
			Kind: feedback.EntryDeleted, Actor: by, AppID: &entry.AppID,
			Before: map[string]any{"entry_id": id, "title": entry.Title, "state": entry.State},
		})
	})
}
