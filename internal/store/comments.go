package store

import (
	"context"
	"database/sql"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/mentions"
)

// commentColumns reads comments c of the account $1. The name of the author is read in a
// subquery, as PostgreSQL might read all users for a join.
const commentColumns = `c.id, c.request_id, c.author_id,
	COALESCE((SELECT u.name FROM users u WHERE u.account_id = $1 AND u.id = c.author_id),
		(SELECT t.name FROM access_tokens t WHERE t.account_id = $1 AND t.id = c.author_id)),
	(SELECT r.submitter_name FROM requests r WHERE r.account_id = $1 AND r.id = c.request_id),
	c.visibility, c.body, c.created_at, c.updated_at,
	c.person, c.person_email, c.person_name, c.person_external_id, COALESCE(c.person_verified, FALSE) FROM comments c`

// Comments returns a page of up to limit comments on a request, oldest first, that follow the
// id after, and the total number of comments. It does not include comments on requests that
// are merged into this one. It returns ErrRequestNotFound if the request does not exist or is
// in the bin.
func (s *Store) Comments(
	ctx context.Context, accountID, requestID, after feedback.ID, limit int,
) ([]feedback.Comment, int64, error) {
	r, err := s.Request(ctx, accountID, requestID)
	if err != nil {
		return nil, 0, err
	}
	comments, err := database.All(ctx, s.db.Reader(), scanComment, "SELECT "+commentColumns+
		" WHERE c.account_id = $1 AND c.request_id = $2 AND c.id > $3 ORDER BY c.id LIMIT CAST($4 AS BIGINT)",
		accountID, requestID, after, limit)
	return comments, r.Comments, err
}

// AddComment stores a comment and counts it. It sets the id, the times and the name of the
// author. It returns ErrRequestNotFound if the request does not exist or is in the bin.
func (s *Store) AddComment(
	ctx context.Context, accountID feedback.ID, by feedback.Actor, c feedback.Comment,
) (feedback.Comment, error) {
	err := s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		r, err := s.lockCommented(ctx, tx, accountID, c.RequestID)
		if err != nil {
			return err
		}
		// With the gate locked, comments are committed in the order of their ids, as far as the
		// replicas' clocks agree. So no keyset page skips one.
		c.ID = s.ids.New()
		c.CreatedAt, c.UpdatedAt = c.ID.Time(), c.ID.Time()
		if err := insertComment(ctx, tx, accountID, c); err != nil {
			return err
		}
		if err := mentions.Save(ctx, tx, s.ids, accountID, c); err != nil {
			return err
		}
		change := feedback.Change{
			Kind: feedback.CommentCreated, Actor: by,
			After: map[string]any{"comment_id": c.ID, "visibility": c.Visibility, "body": c.Body},
		}
		public := c.Visibility == feedback.Public
		if err := s.countComments(ctx, tx, accountID, r, c.CreatedAt, commentEffect{more: 1, public: public, news: public}, change); err != nil {
			return err
		}
		c, err = readComment(ctx, tx, accountID, c.RequestID, c.ID)
		return err
	})
	return c, err
}

// ChangeComment reads a comment, calls change to modify it, and saves the differences. It
// returns ErrRequestNotFound, ErrCommentNotFound or the error of change.
func (s *Store) ChangeComment(
	ctx context.Context, accountID, requestID, id feedback.ID, by feedback.Actor, change func(*feedback.Comment) error,
) (feedback.Comment, error) {
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
		_, err = tx.ExecContext(ctx, "UPDATE comments SET visibility = $4, body = $5, updated_at = $6"+
			" WHERE account_id = $1 AND request_id = $2 AND id = $3",
			accountID, requestID, id, string(c.Visibility), c.Body, c.UpdatedAt)
		if err != nil {
			return err
		}
		if err := mentions.Save(ctx, tx, s.ids, accountID, c); err != nil {
			return err
		}
		before["comment_id"], after["comment_id"] = id, id
		before["visibility"], after["visibility"] = old.Visibility, c.Visibility // says who may see the entry
		public := c.Visibility == feedback.Public
		change := feedback.Change{Kind: feedback.CommentUpdated, Actor: by, Before: before, After: after}
		about := commentEffect{public: public, news: public && old.Visibility != c.Visibility}
		return s.countComments(ctx, tx, accountID, r, c.UpdatedAt, about, change)
	})
	return c, err
}

// DeleteComment deletes a comment unless check returns an error. It returns
// ErrRequestNotFound, ErrCommentNotFound or the error of check.
func (s *Store) DeleteComment(
	ctx context.Context, accountID, requestID, id feedback.ID, by feedback.Actor, check func(feedback.Comment) error,
) error {
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
		return s.removeComment(ctx, tx, accountID, by, r, c, c.Body)
	})
}

// removeComment deletes a comment, and logs the text.
func (s *Store) removeComment(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, by feedback.Actor, r feedback.Request, c feedback.Comment, text any,
) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM comments WHERE account_id = $1 AND request_id = $2 AND id = $3", accountID, r.ID, c.ID)
	if err != nil {
		return err
	}
	if err := mentions.RemoveComment(ctx, tx, accountID, r.ID, c.ID); err != nil {
		return err
	}
	return s.countComments(ctx, tx, accountID, r, feedback.At(s.now()), commentEffect{more: -1, gone: &c}, feedback.Change{
		Kind: feedback.CommentDeleted, Actor: by,
		Before: map[string]any{"comment_id": c.ID, "author_id": c.Author.ID, "visibility": c.Visibility, "body": text},
	})
}

// lockCommented is lockRequest, but returns ErrRequestNotFound for requests in the bin.
func (s *Store) lockCommented(ctx context.Context, tx *sql.Tx, accountID, id feedback.ID) (feedback.Request, error) {
	r, err := s.lockRequest(ctx, tx, accountID, id)
	if err == nil && r.Box == feedback.Bin {
		err = feedback.ErrRequestNotFound
	}
	return r, err
}

// commentEffect is what a change of the comments on a request means for it.
type commentEffect struct {
	more   int64             // comments
	public bool              // a comment is public, which answers the request
	news   bool              // a comment was not public before
	gone   *feedback.Comment // was deleted
}

// countComments counts the comments on a request, and logs the change c. A change of a comment also
// changes the version of the request.
func (s *Store) countComments(
	ctx context.Context, tx *sql.Tx, accountID feedback.ID, r feedback.Request, now feedback.Time, about commentEffect, c feedback.Change,
) error {
	if about.news {
		counts, err := countsFor(ctx, tx, accountID, r)
		if err != nil {
			return err
		}
		if err := s.Readers.TellAskers(ctx, tx, accountID, c, r, counts); err != nil {
			return err
		}
	}
	replied, err := replyAt(ctx, tx, accountID, r, about)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE requests SET comments = comments + $4, "+setAnswered("$5")+", "+
		setNews("comment_news_at", "$6")+", reply_at = NULLIF(CAST($7 AS BIGINT), 0), "+touched+" WHERE account_id = $1 AND id = $3",
		accountID, now, r.ID, about.more, answeredAt(about.public && c.Actor.OfTeam(), now), newsAt(c.Actor, about.news, now), replied)
	if err != nil {
		return err
	}
	c.AppID, c.RequestID = &r.AppID, &r.ID
	return changelog.Record(ctx, tx, accountID, now, c)
}

// replyAt returns when the submitter wrote the last comment that the team has not answered, or 0, after a
// change of the comments on a request.
func replyAt(ctx context.Context, tx *sql.Tx, accountID feedback.ID, r feedback.Request, about commentEffect) (feedback.Time, error) {
	if about.news || r.ReplyAt == nil {
		return 0, nil
	}
	if about.gone == nil || about.gone.Author.Kind != feedback.BySubmitter {
		return *r.ReplyAt, nil
	}
	latest, _, err := latestPublic(ctx, tx, accountID, r)
	if err != nil || len(latest) == 0 || latest[0].Author.Kind != feedback.BySubmitter {
		return 0, err
	}
	return latest[0].CreatedAt, nil
}

// CommentPerson returns the visitor of a portal who wrote a comment. It returns ErrCommentNotFound if there is no such
// comment, or if it is not by a visitor.
func (s *Store) CommentPerson(ctx context.Context, accountID, requestID, id feedback.ID) (p feedback.Person, err error) {
	c, err := readComment(ctx, s.db.Reader(), accountID, requestID, id)
	if err == nil && c.Person == nil {
		err = feedback.ErrCommentNotFound
	}
	if err != nil {
		return p, err
	}
	return *c.Person, nil
}

func insertComment(ctx context.Context, tx *sql.Tx, accountID feedback.ID, c feedback.Comment) error {
	var person feedback.Person
	var key *string
	var verified *bool
	if c.Person != nil {
		person, verified = *c.Person, &c.Person.Verified
		key = new(person.Key())
	}
	_, err := tx.ExecContext(ctx, "INSERT INTO comments"+
		" (account_id, request_id, id, author_id, visibility, body, created_at, updated_at,"+
		" person, person_email, person_name, person_external_id, person_verified)"+
		" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
		accountID, c.RequestID, c.ID, c.Author.RowID(), string(c.Visibility), c.Body, c.CreatedAt, c.UpdatedAt,
		key, person.Email, person.Name, person.ExternalID, verified)
	return err
}

func readComment(
	ctx context.Context, q database.Queryer, accountID, requestID, id feedback.ID,
) (feedback.Comment, error) {
	c, err := scanComment(q.QueryRowContext(ctx, "SELECT "+commentColumns+
		" WHERE c.account_id = $1 AND c.request_id = $2 AND c.id = $3", accountID, requestID, id))
	return c, database.OrNotFound(err, feedback.ErrCommentNotFound)
}

func scanComment(r database.Row) (c feedback.Comment, err error) {
	var author feedback.ID
	var name, submitter, key *string
	var person feedback.Person
	err = r.Scan(&c.ID, &c.RequestID, &author, &name, &submitter, (*string)(&c.Visibility), &c.Body, &c.CreatedAt, &c.UpdatedAt,
		&key, &person.Email, &person.Name, &person.ExternalID, &person.Verified)
	c.Author = feedback.AuthorOf(author, name, submitter)
	if key != nil {
		person.BrowserID = feedback.BrowserOfKey(*key)
		c.Person, c.Author = &person, feedback.Author{Name: person.Name, Kind: feedback.ByVisitor}
	}
	return c, err
}
