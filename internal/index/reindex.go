package index

import (
	"context"
	"database/sql"
	"slices"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

func anyApp(feedback.ID) bool { return true }

// read reads requests of some apps as documents, with the terms of words or without. It returns those of each account.
func read(
	ctx context.Context, q database.Queryer, of []idsOf, ofApp func(feedback.ID) bool, words bool,
) ([]map[feedback.ID]*document, error) {
	return readRequests(ctx, q, of, func(account, ids, place string) string {
		return "SELECT " + documentColumns(words) + ", " + place + " FROM requests WHERE account_id = " + account + " AND id IN (" + ids + ")"
	}, func(r database.Row) (id feedback.ID, d *document, err error) {
		if d, err = scanDocument(r, ofApp, words); d != nil {
			id = d.id
		}
		return id, d, err
	})
}

// reindex makes the index of requests of several accounts equal to what is wanted of each, and removes those that are
// gone or whose app is deleted.
func reindex(ctx context.Context, tx *sql.Tx, of []idsOf, wanted []map[feedback.ID]*document) error {
	old, err := readIndexed(ctx, tx, of, true)
	if err != nil {
		return err
	}
	exist, err := existing(ctx, tx, of)
	if err != nil {
		return err
	}
	changed := make([][]*document, len(of))
	var growths []*growth
	for i, s := range of {
		var grown []*growth
		changed[i], grown = compare(s, old[i], wanted[i], exist[i])
		growths = append(growths, grown...)
	}
	if err := grow(ctx, tx, growths); err != nil {
		return err
	}
	var changes []*listChange
	for i, s := range of {
		d := difference{}
		for _, after := range changed[i] {
			var before []string
			if old[i][after.id] != nil {
				before = old[i][after.id].terms
			}
			d.change(after.appID, after.ordinal, before, after.terms)
		}
		changes = append(changes, d.changes(s.accountID)...)
	}
	if err := saveDocuments(ctx, tx, of, changed); err != nil {
		return err
	}
	return saveLists(ctx, tx, changes)
}

// compare returns the documents of an account that change, without terms if they are to be removed, and the apps that get
// new ones.
func compare(of idsOf, old, wanted map[feedback.ID]*document, exist map[feedback.ID]bool) (changed []*document, growths []*growth) {
	added := map[feedback.ID]*growth{}
	for _, id := range of.ids {
		before, after := old[id], wanted[id]
		switch {
		case after != nil && exist[id] && before == nil:
			g := added[after.appID]
			if g == nil {
				g = &growth{accountID: of.accountID, last: block{appID: after.appID, number: -1, n: blockSize}}
				added[after.appID] = g
				growths = append(growths, g)
			}
			g.added = append(g.added, after)
			changed = append(changed, after)
		case after != nil && exist[id] && !slices.Equal(before.terms, after.terms):
			after.ordinal = before.ordinal
			changed = append(changed, after)
		case before != nil && (after == nil || !exist[id]):
			changed = append(changed, &document{id: id, appID: before.appID, ordinal: before.ordinal})
		}
	}
	return changed, growths
}

// existing returns those of the requests that are there and whose app is not deleted. It reads a column that is in no
// index: otherwise SQLite would scan a covering index. It counts the app: with EXISTS, PostgreSQL may read all requests of
// the app.
func existing(ctx context.Context, tx *sql.Tx, of []idsOf) ([]map[feedback.ID]bool, error) {
	return readRequests(ctx, tx, of, func(account, ids, place string) string {
		return "SELECT id, created_at, " + place + " FROM requests r WHERE account_id = " + account + " AND id IN (" + ids + ") AND 1 =" +
			" (SELECT COUNT(*) FROM apps a WHERE a.account_id = " + account + " AND a.id = r.app_id AND a.deleted_at IS NULL)"
	}, func(r database.Row) (id feedback.ID, exists bool, err error) {
		var created int64
		err = r.Scan(&id, &created)
		return id, true, err
	})
}

// Remove removes requests from the index. The same transaction must remove them for good.
func (x *Index) Remove(ctx context.Context, tx *sql.Tx, accountID feedback.ID, ids []feedback.ID) error {
	if err := lock(ctx, tx, accountID); err != nil {
		return err
	}
	return reindex(ctx, tx, []idsOf{{accountID, ids}}, make([]map[feedback.ID]*document, 1))
}

// lock keeps other transactions from changing an account's index until this one ends.
func lock(ctx context.Context, tx *sql.Tx, accountID feedback.ID) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO index_followed (account_id, seq, version) VALUES ($1, 0, $2)
		ON CONFLICT (account_id) DO UPDATE SET seq = index_followed.seq`, accountID, version)
	return err
}

// readIndexed reads what the index has of some requests, with their terms or without. It returns those of each account.
func readIndexed(ctx context.Context, q database.Queryer, of []idsOf, terms bool) ([]map[feedback.ID]*document, error) {
	columns := "request_id, app_id, ordinal, "
	if terms {
		columns += "terms, "
	}
	return readRequests(ctx, q, of, func(account, ids, place string) string {
		return "SELECT " + columns + place + " FROM index_documents WHERE account_id = " + account + " AND request_id IN (" + ids + ")"
	}, func(r database.Row) (feedback.ID, *document, error) {
		d := new(document)
		if !terms {
			err := r.Scan(&d.id, &d.appID, &d.ordinal)
			return d.id, d, err
		}
		var packed []byte
		if err := r.Scan(&d.id, &d.appID, &d.ordinal, &packed); err != nil {
			return d.id, nil, err
		}
		stored, err := Unpack(packed)
		d.terms = withBeginnings(stored)
		return d.id, d, err
	})
}
