// Package changelog is the log of changes: each change of the team, an app, a request, its votes and its
// comments adds an entry, in the same transaction. History and audit are views of it, and the index
// follows it.
package changelog

import (
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"slices"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Record adds entries to an account's log of changes, in the transaction of the changes. The
// row of the account's sequence stays locked until the commit. So the numbers have no gaps,
// and their order is the order of the commits.
func Record(ctx context.Context, tx *sql.Tx, accountID feedback.ID, at feedback.Time, changes ...feedback.Change) error {
	return RecordAll(ctx, tx, at, map[feedback.ID][]feedback.Change{accountID: changes})
}

// RecordAll is Record for several accounts. It locks their sequences in the order of their ids, so that transactions
// cannot deadlock.
func RecordAll(ctx context.Context, tx *sql.Tx, at feedback.Time, changes map[feedback.ID][]feedback.Change) error {
	var accounts []feedback.ID
	for accountID, of := range changes {
		if len(of) > 0 {
			accounts = append(accounts, accountID)
		}
	}
	slices.SortFunc(accounts, feedback.ID.Compare)
	var entries []entry
	for _, piece := range database.Pieces(accounts) {
		last, err := advance(ctx, tx, piece, changes)
		if err != nil {
			return err
		}
		for _, accountID := range piece {
			seq := last[accountID] - int64(len(changes[accountID]))
			for _, c := range changes[accountID] {
				seq++
				entries = append(entries, entry{accountID, seq, c})
			}
		}
	}
	const columns = 10
	for _, piece := range database.Pieces(entries) {
		args := make([]any, 0, columns*len(piece))
		for _, e := range piece {
			before, after, err := diffText(e.change)
			if err != nil {
				return err
			}
			c := e.change
			args = append(args, e.accountID, e.seq, at, string(c.Kind), c.Actor.Kind, c.Actor.ID, c.AppID, c.RequestID, before, after)
		}
		_, err := tx.ExecContext(ctx, "INSERT INTO changes"+
			" (account_id, seq, at, kind, actor_kind, actor_id, app_id, request_id, before, after) VALUES "+
			database.Placeholders(len(piece), columns), args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// entry is one to add to the log of an account.
type entry struct {
	accountID feedback.ID
	seq       int64
	change    feedback.Change
}

// advance adds the number of their changes to the sequences of accounts, and returns their last numbers.
func advance(
	ctx context.Context, tx *sql.Tx, accounts []feedback.ID, changes map[feedback.ID][]feedback.Change,
) (map[feedback.ID]int64, error) {
	var args []any
	for _, accountID := range accounts {
		args = append(args, accountID, len(changes[accountID]))
	}
	last := make(map[feedback.ID]int64, len(accounts))
	err := database.Each(ctx, tx, func(r database.Row) error {
		var accountID feedback.ID
		var n int64
		err := r.Scan(&accountID, &n)
		last[accountID] = n
		return err
	}, "INSERT INTO account_seq (account_id, last) VALUES "+database.Placeholders(len(accounts), 2)+
		" ON CONFLICT (account_id) DO UPDATE SET last = account_seq.last + excluded.last RETURNING account_id, last", args...)
	return last, err
}

// diffText returns the changed fields as JSON, or nil if there are none.
func diffText(c feedback.Change) (before, after *string, err error) {
	for _, side := range []struct {
		fields map[string]any
		text   **string
	}{{c.Before, &before}, {c.After, &after}} {
		if len(side.fields) == 0 {
			continue
		}
		text, err := json.Marshal(side.fields)
		if err != nil {
			return nil, nil, err
		}
		*side.text = new(string(text))
	}
	return before, after, nil
}

// OfRequest returns a page of up to limit log entries about a request, newest first, with
// numbers below before; zero means no bound. It also returns the total number of entries.
func OfRequest(
	ctx context.Context, q database.Queryer, accountID, requestID feedback.ID, before int64, limit int,
) ([]feedback.Event, int64, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	var total int64
	if err := q.QueryRowContext(ctx, "SELECT COUNT(*) FROM changes"+
		" WHERE account_id = $1 AND request_id = $2", accountID, requestID).Scan(&total); err != nil {
		return nil, 0, err
	}
	events, err := database.All(ctx, q, Scan,
		"SELECT "+Columns+` FROM changes c
		WHERE c.account_id = $1 AND c.request_id = $2 AND c.seq < $3 ORDER BY c.seq DESC LIMIT CAST($4 AS BIGINT)`,
		accountID, requestID, before, limit)
	return events, total, err
}

// Columns are those that Scan reads, of entries c of the account $1. An actor is a user or a token, which
// may belong to a user. Only summaries of changed statuses need the settings of the app.
const Columns = `c.seq, c.at, c.kind, c.actor_kind, c.actor_id, CASE c.actor_kind
		WHEN 'user' THEN (SELECT u.name FROM users u WHERE u.account_id = $1 AND u.id = c.actor_id)
		WHEN 'token' THEN (SELECT t.name FROM access_tokens t WHERE t.account_id = $1 AND t.id = c.actor_id) END,
	CASE c.actor_kind WHEN 'token' THEN (SELECT u.name FROM access_tokens t JOIN users u ON u.account_id = $1 AND u.id = t.user_id
		WHERE t.account_id = $1 AND t.id = c.actor_id) END, c.before, c.after,
	CASE WHEN c.kind = 'request.updated' AND c.after LIKE '%"status":%'
		THEN (SELECT a.settings FROM apps a WHERE a.account_id = $1 AND a.id = c.app_id) END`

// Scan reads an entry from a row with Columns.
func Scan(from database.Row) (feedback.Event, error) {
	var e feedback.Event
	var before, after, settings []byte
	err := from.Scan(&e.Number, &e.At, (*string)(&e.Kind), &e.Actor.Kind, &e.Actor.ID, &e.Actor.Name, &e.Actor.Of, &before, &after, &settings)
	if err != nil {
		return e, err
	}
	e.Before, e.After = map[string]any{}, map[string]any{}
	for _, side := range []struct {
		text   []byte
		fields *map[string]any
	}{{before, &e.Before}, {after, &e.After}} {
		if side.text == nil {
			continue
		}
		if err := json.Unmarshal(side.text, side.fields); err != nil {
			return e, err
		}
	}
	if settings != nil {
		var of struct{ Statuses feedback.StatusSettings }
		if err := json.Unmarshal(settings, &of); err != nil {
			return e, err
		}
		e.Statuses = of.Statuses
	}
	e.Summarize()
	return e, nil
}

// Last returns the number of the last entry of an account's log, or 0.
func Last(ctx context.Context, q database.Queryer, accountID feedback.ID) (last int64, err error) {
	err = q.QueryRowContext(ctx, "SELECT last FROM account_seq WHERE account_id = $1", accountID).Scan(&last)
	return last, database.OrNotFound(err, nil)
}

// Redact replaces the fields of an entry by those that are left of them.
func Redact(ctx context.Context, tx *sql.Tx, accountID feedback.ID, number int64, before, after map[string]any) error {
	was, is, err := diffText(feedback.Change{Before: before, After: after})
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE changes SET before = $3, after = $4 WHERE account_id = $1 AND seq = $2", accountID, number, was, is)
	return err
}
