// Package mentions stores who was mentioned in which comment, and whether they have read it.
package mentions

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Mentions are the mentions in a database.
type Mentions struct {
	db  *database.DB
	now func() time.Time
}

// New returns the mentions in a database.
func New(db *database.DB, now func() time.Time) *Mentions { return &Mentions{db, now} }

// shown selects the mentions m of the user $2 in the account $1 that the user can open: not those in
// requests in the bin, or of deleted apps. A process of a version without mentions may have deleted a
// comment and left its mentions. These are subqueries, as PostgreSQL might read all comments and all
// requests for joins. It expects that few rows have an equal number, and most rows another one: then it
// reads a page in its order, and not all mentions.
const shown = ` FROM mentions m WHERE m.account_id = $1 AND m.user_id = $2
	AND 0 <> (SELECT COUNT(*) FROM comments c WHERE c.account_id = $1 AND c.request_id = m.request_id AND c.id = m.comment_id)
	AND 0 <> (SELECT COUNT(*) FROM requests r WHERE r.account_id = $1 AND r.id = m.request_id AND r.box <> 'bin'
		AND 1 = (SELECT COUNT(*) FROM apps a WHERE a.account_id = $1 AND a.id = r.app_id AND a.deleted_at IS NULL))`

const unread = " AND m.read_at IS NULL"

// begins is how many characters of a comment are read for its excerpt. A mention is longer than the
// name that an excerpt has in its place.
const begins = "2000"

// List returns a page of up to limit mentions of a user, newest first, that come before the id before,
// and the total number. If onlyUnread is true, both are about those that the user has not read.
func (m *Mentions) List(
	ctx context.Context, accountID, userID feedback.ID, onlyUnread bool, before feedback.ID, limit int,
) ([]feedback.Mention, int64, error) {
	from := shown
	if onlyUnread {
		from += unread
	}
	var total int64
	if err := m.db.Reader().QueryRowContext(ctx, "SELECT COUNT(*)"+from, accountID, userID).Scan(&total); err != nil {
		return nil, 0, err
	}
	args := []any{accountID, userID, limit}
	if before != (feedback.ID{}) {
		from, args = from+" AND m.id < $4", append(args, before)
	}
	list, err := database.All(ctx, m.db.Reader(), scan, `SELECT m.id, m.request_id, m.comment_id, m.author_id, m.read_at IS NOT NULL,
		(SELECT r.title FROM requests r WHERE r.account_id = $1 AND r.id = m.request_id),
		COALESCE((SELECT u.name FROM users u WHERE u.account_id = $1 AND u.id = m.author_id),
			(SELECT t.name FROM access_tokens t WHERE t.account_id = $1 AND t.id = m.author_id)),
		(SELECT r.submitter_name FROM requests r WHERE r.account_id = $1 AND r.id = m.request_id),
		(SELECT SUBSTR(c.body, 1, `+begins+`) FROM comments c
			WHERE c.account_id = $1 AND c.request_id = m.request_id AND c.id = m.comment_id)`+
		from+" ORDER BY m.id DESC LIMIT CAST($3 AS BIGINT)", args...)
	return list, total, err
}

func scan(r database.Row) (m feedback.Mention, err error) {
	var body string
	var author feedback.ID
	var name, submitter *string
	err = r.Scan(&m.ID, &m.RequestID, &m.CommentID, &author, &m.Read, &m.RequestTitle, &name, &submitter, &body)
	m.Author = feedback.AuthorOf(author, name, submitter)
	m.Excerpt, m.CreatedAt = feedback.Excerpt(body), m.ID.Time()
	return m, err
}

// Read marks mentions of a user as read, and returns how many were not. It returns ErrMentionNotFound
// if List returns one of them no longer.
func (m *Mentions) Read(ctx context.Context, accountID, userID feedback.ID, ids []feedback.ID) (n int64, err error) {
	slices.SortFunc(ids, feedback.ID.Compare)
	ids = slices.Compact(ids)
	err = m.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		p := database.Parameters{accountID, userID}
		var found int
		err := tx.QueryRowContext(ctx, "SELECT COUNT(*)"+shown+" AND m.id IN ("+database.List(&p, ids)+")", p...).Scan(&found)
		if err == nil && found < len(ids) {
			err = feedback.ErrMentionNotFound
		}
		if err != nil {
			return err
		}
		p = database.Parameters{accountID, userID, feedback.At(m.now())}
		n, err = database.Changed(ctx, tx, "UPDATE mentions SET read_at = $3"+
			" WHERE account_id = $1 AND user_id = $2 AND read_at IS NULL AND id IN ("+database.List(&p, ids)+")", p...)
		return err
	})
	return n, err
}

// ReadUntil marks the mention of a user with an id and all older ones that List returns as read, and
// returns how many were not. It returns ErrMentionNotFound if List returns that one no longer.
func (m *Mentions) ReadUntil(ctx context.Context, accountID, userID, last feedback.ID) (n int64, err error) {
	err = m.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var found int
		err := tx.QueryRowContext(ctx, "SELECT COUNT(*)"+shown+" AND m.id = $3", accountID, userID, last).Scan(&found)
		if err == nil && found == 0 {
			err = feedback.ErrMentionNotFound
		}
		if err != nil {
			return err
		}
		n, err = database.Changed(ctx, tx, "UPDATE mentions SET read_at = $4 WHERE account_id = $1 AND user_id = $2 AND read_at IS NULL"+
			" AND id IN (SELECT m.id"+shown+unread+" AND m.id <= $3)", accountID, userID, last, feedback.At(m.now()))
		return err
	})
	return n, err
}

// Save stores whom a comment mentions, in the transaction that stores the comment. Users who were
// mentioned before keep their mention.
func Save(ctx context.Context, tx *sql.Tx, ids *feedback.IDs, accountID feedback.ID, c feedback.Comment) error {
	old, err := database.All(ctx, tx, database.One[feedback.ID],
		"SELECT user_id FROM mentions WHERE account_id = $1 AND request_id = $2 AND comment_id = $3", accountID, c.RequestID, c.ID)
	if err != nil {
		return err
	}
	now := c.Mentioned()
	for _, userID := range old {
		if slices.Contains(now, userID) {
			continue
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM mentions WHERE account_id = $1 AND request_id = $2 AND comment_id = $3 AND user_id = $4",
			accountID, c.RequestID, c.ID, userID)
		if err != nil {
			return err
		}
	}
	for _, userID := range now {
		if slices.Contains(old, userID) {
			continue
		}
		if err := add(ctx, tx, ids.New(), accountID, userID, c); err != nil {
			return err
		}
	}
	return nil
}

// Answer mentions the user to whom the submitter of a request answers with a comment, in the transaction
// that stores the comment. A program that is answered is not mentioned.
func Answer(ctx context.Context, tx *sql.Tx, ids *feedback.IDs, accountID, userID feedback.ID, c feedback.Comment) error {
	return add(ctx, tx, ids.New(), accountID, userID, c)
}

// add stores a mention unless there is no such user. It writes the user's row, so that a concurrent
// removal waits, sees the mention, and deletes it.
func add(ctx context.Context, tx *sql.Tx, id, accountID, userID feedback.ID, c feedback.Comment) error {
	n, err := database.Changed(ctx, tx, "UPDATE users SET role = role WHERE account_id = $1 AND id = $2", accountID, userID)
	if err != nil || n == 0 {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO mentions (account_id, user_id, id, request_id, comment_id, author_id)"+
		" VALUES ($1, $2, $3, $4, $5, $6)", accountID, userID, id, c.RequestID, c.ID, c.Author.RowID())
	return err
}

// RemoveComment deletes the mentions in a comment that is deleted in the same transaction.
func RemoveComment(ctx context.Context, tx *sql.Tx, accountID, requestID, id feedback.ID) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM mentions WHERE account_id = $1 AND request_id = $2 AND comment_id = $3",
		accountID, requestID, id)
	return err
}

// RemoveUser deletes the mentions of a user who is removed in the same transaction.
func RemoveUser(ctx context.Context, tx *sql.Tx, accountID, userID feedback.ID) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM mentions WHERE account_id = $1 AND user_id = $2", accountID, userID)
	return err
}
