package store

import (
	"context"
	"database/sql"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// commentColumns ask for the name of each author alone: for a join PostgreSQL might read
// all users.
const commentColumns = `c.id, c.request_id, c.author_id, (SELECT u.name FROM users u WHERE u.account_id = c.account_id AND u.id = c.author_id),
	c.visibility, c.body, c.created_at, c.updated_at FROM comments c`

// Comments lists the comments on a request that is not in the bin, oldest first, after a
// given one, at most limit, and how many there are in all. Those on requests that are
// merged into it stay with them. It refuses with ErrRequestNotFound.
func (s *Store) Comments(ctx context.Context, accountID, requestID, after feedback.ID, limit int) ([]feedback.Comment, int64, error) {
	r, err := s.Request(ctx, accountID, requestID)
	if err != nil {
		return nil, 0, err
	}
	comments, err := database.All(ctx, s.db.Reader(), scanComment, "SELECT "+commentColumns+
		" WHERE c.account_id = $1 AND c.request_id = $2 AND c.id > $3 ORDER BY c.id LIMIT CAST($4 AS BIGINT)", accountID, requestID, after, limit)
	return comments, r.Comments, err
}

// AddComment stores a comment and counts it. The store gives it its id, its times and
// its author's name. It refuses with ErrRequestNotFound.
func (s *Store) AddComment(ctx context.Context, accountID feedback.ID, by feedback.Actor, c feedback.Comment) (feedback.Comment, error) {
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		r, err := s.lockCommented(ctx, tx, accountID, c.RequestID)
		if err != nil {
			return err
		}
		c.ID = s.ids.New() // behind the gate, so that nobody who turns the pages has passed its place
		c.CreatedAt, c.UpdatedAt = c.ID.Time(), c.ID.Time()
		_, err = tx.ExecContext(ctx, `INSERT INTO comments (account_id, request_id, id, author_id, visibility, body, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, accountID, c.RequestID, c.ID, c.Author.ID, string(c.Visibility), c.Body, c.CreatedAt, c.UpdatedAt)
		if err != nil {
			return err
		}
		if err := s.countComments(ctx, tx, accountID, r, c.CreatedAt, 1, c.Visibility == feedback.Public, feedback.Change{
			Kind: feedback.CommentCreated, Actor: by,
			After: map[string]any{"comment_id": c.ID, "visibility": c.Visibility, "body": c.Body},
		}); err != nil {
			return err
		}
		c, err = readComment(ctx, tx, accountID, c.RequestID, c.ID)
		return err
	})
	return c, err
}

// ChangeComment reads a comment, lets change alter it and saves what is different, all
// in one transaction. It refuses with ErrRequestNotFound or ErrCommentNotFound, and with
// what change refuses with.
func (s *Store) ChangeComment(ctx context.Context, accountID, requestID, id feedback.ID, by feedback.Actor, change func(*feedback.Comment) error) (feedback.Comment, error) {
	var c feedback.Comment
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		r, err := s.lockCommented(ctx, tx, accountID, requestID)
		if err != nil {
			return err
		}
		if c, err = readComment(ctx, tx, accountID, requestID, id); err != nil {
			return err
		}
		old := c
		if err := change(&c); err != nil {
			return err
		}
		before, after := feedback.Diff(old, c)
		if len(after) == 0 {
			return nil
		}
		c.UpdatedAt = feedback.At(s.now())
		_, err = tx.ExecContext(ctx, "UPDATE comments SET visibility = $4, body = $5, updated_at = $6 WHERE account_id = $1 AND request_id = $2 AND id = $3",
			accountID, requestID, id, string(c.Visibility), c.Body, c.UpdatedAt)
		if err != nil {
			return err
		}
		before["comment_id"], after["comment_id"] = id, id
		return s.countComments(ctx, tx, accountID, r, c.UpdatedAt, 0, c.Visibility == feedback.Public, feedback.Change{Kind: feedback.CommentUpdated, Actor: by, Before: before, After: after})
	})
	return c, err
}

// DeleteComment removes a comment unless check refuses. It refuses with
// ErrRequestNotFound or ErrCommentNotFound, too.
func (s *Store) DeleteComment(ctx context.Context, accountID, requestID, id feedback.ID, by feedback.Actor, check func(feedback.Comment) error) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		r, err := s.lockCommented(ctx, tx, accountID, requestID)
		if err != nil {
			return err
		}
		c, err := readComment(ctx, tx, accountID, requestID, id)
		if err != nil {
			return err
		}
		if err := check(c); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM comments WHERE account_id = $1 AND request_id = $2 AND id = $3", accountID, requestID, id); err != nil {
			return err
		}
		return s.countComments(ctx, tx, accountID, r, feedback.At(s.now()), -1, false, feedback.Change{
			Kind: feedback.CommentDeleted, Actor: by,
			Before: map[string]any{"comment_id": id, "author_id": c.Author.ID, "visibility": c.Visibility, "body": c.Body},
		})
	})
}

// lockCommented is lockRequest for one that is not in the bin.
func (s *Store) lockCommented(ctx context.Context, tx *sql.Tx, accountID, id feedback.ID) (feedback.Request, error) {
	r, err := s.lockRequest(ctx, tx, accountID, id)
	if err == nil && r.Box == feedback.Bin {
		err = feedback.ErrRequestNotFound
	}
	return r, err
}

// countComments adds to a request's counter and logs what was done to a comment: a
// change of the comment is one of the request. A public one answers it.
func (s *Store) countComments(ctx context.Context, tx *sql.Tx, accountID feedback.ID, r feedback.Request, now feedback.Time, more int64, public bool, c feedback.Change) error {
	_, err := tx.ExecContext(ctx, "UPDATE requests SET comments = comments + $4, "+answered("$5")+", "+touched+" WHERE account_id = $1 AND id = $3",
		accountID, now, r.ID, more, answerAt(public && c.Actor.Kind == feedback.ByUser, now))
	if err != nil {
		return err
	}
	c.AppID, c.RequestID = &r.AppID, &r.ID
	return s.record(ctx, tx, accountID, now, c)
}

func readComment(ctx context.Context, q database.Queryer, accountID, requestID, id feedback.ID) (feedback.Comment, error) {
	c, err := scanComment(q.QueryRowContext(ctx, "SELECT "+commentColumns+" WHERE c.account_id = $1 AND c.request_id = $2 AND c.id = $3", accountID, requestID, id))
	return c, orNotFound(err, feedback.ErrCommentNotFound)
}

func scanComment(r database.Row) (c feedback.Comment, err error) {
	err = r.Scan(&c.ID, &c.RequestID, &c.Author.ID, &c.Author.Name, (*string)(&c.Visibility), &c.Body, &c.CreatedAt, &c.UpdatedAt)
	return c, err
}
