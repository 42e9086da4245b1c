package store

import (
	"context"
	"database/sql"
	"encoding/json"

	"gatherkit/internal/feedback"
)

// record adds entries to an account's log of changes, in the transaction that
// makes the changes. Their numbers leave no gaps: the counter's row is locked
// until the commit, so the order of numbers is the order of commits.
func (s *Store) record(ctx context.Context, tx *sql.Tx, accountID feedback.ID, at feedback.Time, changes ...feedback.Change) error {
	if len(changes) == 0 {
		return nil
	}
	var last int64
	err := tx.QueryRowContext(ctx, `INSERT INTO account_seq (account_id, last) VALUES ($1, $2)
		ON CONFLICT (account_id) DO UPDATE SET last = account_seq.last + excluded.last RETURNING last`, accountID, len(changes)).Scan(&last)
	if err != nil {
		return err
	}
	const columns = 10
	seq := last - int64(len(changes))
	for _, piece := range powers(changes) {
		args := make([]any, 0, columns*len(piece))
		for _, c := range piece {
			before, after, err := diffText(c)
			if err != nil {
				return err
			}
			seq++
			args = append(args, accountID, seq, at, string(c.Kind), c.Actor.Kind, c.Actor.ID, c.AppID, c.RequestID, before, after)
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO changes (account_id, seq, at, kind, actor_kind, actor_id, app_id, request_id, before, after) VALUES "+
			s.dialect.placeholders(len(piece), columns), args...)
		if err != nil {
			return err
		}
	}
	return nil
}

// diffText is how the log keeps what changed: JSON, or NULL where nothing did.
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
