package store

import (
	"context"
	"database/sql"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Comments of visitors of a portal. What is held has a table of its own until the team releases it, so that no
// other statement can show it.

// maxHeld is how many comments of an app can be held.
const maxHeld = 5000

// PortalComment stores a comment of a person on the portal of an app. It is held if hold is true. If the person
// repeats their last comment on the request, nothing is stored. It returns ErrRequestNotFound if the portal does not
// show the request, and otherwise refuses like PortalVote, or with ErrUnavailable if too many comments are held.
func (s *Store) PortalComment(
	ctx context.Context, app feedback.App, requestID feedback.ID, p feedback.Person, body string, hold bool,
) (c feedback.Comment, err error) {
	accountID := app.AccountID
	err = s.db.WriteFor(ctx, accountID, func(ctx context.Context, tx *sql.Tx) error {
		r, err := s.lockRequest(ctx, tx, accountID, requestID)
		if err != nil {
			return err
		}
		current, err := readApp(ctx, tx, accountID, app.ID)
		if err != nil {
			return err
		}
		if r.AppID != app.ID || r.MergedIntoID != nil || !current.Settings.Shares(r) {
			return feedback.ErrRequestNotFound
		}
		if err := takes(ctx, tx, current, takesComments, p); err != nil {
			return err
		}
		c = feedback.Comment{
			ID: s.ids.New(), RequestID: requestID, Author: feedback.Author{Name: p.Name, Kind: feedback.ByVisitor},
			Visibility: feedback.Public, Body: body, Person: &p,
		}
		c.CreatedAt, c.UpdatedAt = c.ID.Time(), c.ID.Time()
		again, err := repeated(ctx, tx, accountID, c, hold)
		if err != nil || again {
			return err
		}
		if hold {
			return s.hold(ctx, tx, app, c)
		}
		if err := insertComment(ctx, tx, accountID, c); err != nil {
			return err
		}
		return s.countComments(ctx, tx, accountID, r, c.CreatedAt, commentEffect{more: 1}, feedback.Change{
			Kind: feedback.CommentCreated, Actor: feedback.Actor{Kind: feedback.ByAPIKey, ID: &app.ID},
			After: map[string]any{"comment_id": c.ID, "visibility": c.Visibility, "body": c.Body},
		})
	})
	return c, err
}

// repeated reports whether a comment repeats the last one of its person on the request.
func repeated(ctx context.Context, tx *sql.Tx, accountID feedback.ID, c feedback.Comment, held bool) (bool, error) {
	table, order := "comments", "id"
	if held {
		table, order = "held_comments", "COALESCE(id, id)" // keeps SQLite from reading all that is held in the order of ids
	}
	last, err := database.All(ctx, tx, database.One[string], "SELECT body FROM "+table+" WHERE account_id = $1 AND request_id = $2"+
		" AND person = $3 ORDER BY "+order+" DESC LIMIT 1", accountID, c.RequestID, c.Person.Key())
	return len(last) > 0 && last[0] == c.Body, err
}

func (s *Store) hold(ctx context.Context, tx *sql.Tx, app feedback.App, c feedback.Comment) error {
	var n int
	err := tx.QueryRowContext(ctx, "SELECT COUNT(*) FROM held_comments WHERE account_id = $1 AND app_id = $2", app.AccountID, app.ID).Scan(&n)
	if err != nil {
		return err
	}
	if n >= maxHeld {
		return feedback.ErrUnavailable.With("Too many comments wait for the team; try again later.")
	}
	p := c.Person
	_, err = tx.ExecContext(ctx, "INSERT INTO held_comments"+
		" (account_id, id, app_id, request_id, person, email, name, external_id, verified, body)"+
		" VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
		app.AccountID, c.ID, app.ID, c.RequestID, p.Key(), p.Email, p.Name, p.ExternalID, p.Verified, c.Body)
	return err
}

const selectHeld = `SELECT h.id, h.app_id, h.request_id,
	COALESCE((SELECT r.title FROM requests r WHERE r.account_id = $1 AND r.id = h.request_id), ''),
	h.person, h.email, h.name, h.external_id, h.verified, h.body FROM held_comments h WHERE h.account_id = $1`

func scanHeld(from database.Row) (c feedback.HeldComment, err error) {
	var key string
	p := &c.Person
	err = from.Scan(&c.ID, &c.AppID, &c.RequestID, &c.Title, &key, &p.Email, &p.Name, &p.ExternalID, &p.Verified, &c.Body)
	c.CreatedAt, p.BrowserID = c.ID.Time(), feedback.BrowserOfKey(key)
	return c, err
}

// Held returns a page of up to limit held comments, oldest first, that follow the id after, of an app or of all
// apps. It also returns how many there are.
func (s *Store) Held(
	ctx context.Context, accountID feedback.ID, appID *feedback.ID, after feedback.ID, limit int,
) ([]feedback.HeldComment, int64, error) {
	p := database.Parameters{accountID}
	of := ""
	if appID != nil {
		of = " AND h.app_id = " + p.Add(*appID)
	}
	var total int64
	err := s.db.Reader().QueryRowContext(ctx, "SELECT COUNT(*) FROM held_comments h WHERE h.account_id = $1"+of, p...).Scan(&total)
	if err != nil {
		return nil, 0, err
	}
	held, err := database.All(ctx, s.db.Reader(), scanHeld, selectHeld+of+" AND h.id > "+p.Add(after)+
		" ORDER BY h.id LIMIT CAST("+p.Add(limit)+" AS BIGINT)", p...)
	return held, total, err
}

// AppOfHeld returns the app of a held comment. It returns ErrCommentNotFound if it is not held.
func (s *Store) AppOfHeld(ctx context.Context, accountID, id feedback.ID) (appID feedback.ID, err error) {
	err = s.db.Reader().QueryRowContext(ctx, "SELECT app_id FROM held_comments WHERE account_id = $1 AND id = $2", accountID, id).Scan(&appID)
	return appID, database.OrNotFound(err, feedback.ErrCommentNotFound)
}

// ReleaseComment publishes a held comment. It returns ErrCommentNotFound if it is not held, and ErrRequestNotFound
// if its request is in the bin.
func (s *Store) ReleaseComment(ctx context.Context, accountID, id feedback.ID, by feedback.Actor) (c feedback.Comment, err error) {
	err = s.takeHeld(ctx, accountID, id, func(ctx context.Context, tx *sql.Tx, r feedback.Request, held feedback.HeldComment) error {
		if r.Box == feedback.Bin {
			return feedback.ErrRequestNotFound
		}
		c = feedback.Comment{
			ID: s.ids.New(), RequestID: held.RequestID, Author: feedback.Author{Name: held.Person.Name, Kind: feedback.ByVisitor},
			Visibility: feedback.Public, Body: held.Body, Person: &held.Person,
		}
		c.CreatedAt, c.UpdatedAt = c.ID.Time(), c.ID.Time()
		if err := insertComment(ctx, tx, accountID, c); err != nil {
			return err
		}
		return s.countComments(ctx, tx, accountID, r, c.CreatedAt, commentEffect{more: 1}, feedback.Change{
			Kind: feedback.CommentReleased, Actor: by, After: map[string]any{"comment_id": c.ID, "visibility": c.Visibility, "body": c.Body},
		})
	})
	return c, err
}

// BlockComment deletes a held comment, and blocks its author if person is true. It returns ErrCommentNotFound if it
// is not held.
func (s *Store) BlockComment(ctx context.Context, accountID, id feedback.ID, by feedback.Actor, person bool) error {
	return s.takeHeld(ctx, accountID, id, func(ctx context.Context, tx *sql.Tx, _ feedback.Request, held feedback.HeldComment) error {
		changes := []feedback.Change{{
			Kind: feedback.CommentBlocked, Actor: by, AppID: &held.AppID, RequestID: &held.RequestID,
			Before: map[string]any{"comment_id": id, "visibility": feedback.Public, "body": held.Body},
		}}
		if person {
			change, err := s.blockIn(ctx, tx, accountID, held.AppID, by, held.Person)
			if err != nil {
				return err
			}
			if change != nil {
				changes = append(changes, *change)
			}
		}
		return changelog.Record(ctx, tx, accountID, feedback.At(s.now()), changes...)
	})
}

// takeHeld deletes a held comment and calls do in the same transaction, which has locked the gate.
func (s *Store) takeHeld(
	ctx context.Context, accountID, id feedback.ID, do func(context.Context, *sql.Tx, feedback.Request, feedback.HeldComment) error,
) error {
	return s.db.Write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		held, err := scanHeld(tx.QueryRowContext(ctx, selectHeld+" AND h.id = $2", accountID, id))
		if err != nil {
			return database.OrNotFound(err, feedback.ErrCommentNotFound)
		}
		r, err := s.lockRequest(ctx, tx, accountID, held.RequestID)
		if err != nil {
			return err
		}
		n, err := database.Changed(ctx, tx, "DELETE FROM held_comments WHERE account_id = $1 AND id = $2", accountID, id)
		if err != nil {
			return err
		}
		if n == 0 { // somebody else was faster
			return feedback.ErrCommentNotFound
		}
		return do(ctx, tx, r, held)
	})
}

// maxDiscarded is how many votes DiscardVotes removes at once.
const maxDiscarded = 1000

// Discarded are votes that were discarded, or would be.
type Discarded struct {
	Votes int64
	More  bool // there are more of them
}

// DiscardVotes removes the votes for a request that visitors of the portal gave in a period without signing in: up
// to maxDiscarded of them. If preview is true, it only counts them. It returns ErrRequestNotFound if the request does
// not exist or is in the bin.
func (s *Store) DiscardVotes(
	ctx context.Context, accountID, requestID feedback.ID, by feedback.Actor, from, until feedback.Time, preview bool,
) (d Discarded, err error) {
	r, err := s.Request(ctx, accountID, requestID)
	if err != nil {
		return d, err
	}
	const stuffed = " FROM votes WHERE account_id = $1 AND request_id = $2 AND source = 'portal' AND verified = FALSE" +
		" AND created_at >= $3 AND created_at < $4 AND person LIKE 'b:%'" // without the submitter's own vote
	if preview {
		return d, s.db.Reader().QueryRowContext(ctx, "SELECT COUNT(*)"+stuffed, accountID, r.ID, from, until).Scan(&d.Votes)
	}
	keys, err := database.All(ctx, s.db.Reader(), database.One[string], "SELECT person"+stuffed+
		" ORDER BY person LIMIT CAST($5 AS BIGINT)", accountID, r.ID, from, until, maxDiscarded+1)
	if err != nil {
		return d, err
	}
	d.More = len(keys) > maxDiscarded
	for _, key := range keys[:min(len(keys), maxDiscarded)] {
		browser := feedback.Person{BrowserID: feedback.BrowserOfKey(key)}
		if _, err := s.Vote(ctx, accountID, by, Ballot{RequestID: r.ID, Person: browser, Remove: true}); err != nil {
			return d, err
		}
		d.Votes++
	}
	return d, nil
}
