package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"strings"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/visitors"
)

// loggedAtOnce is how many entries of the log a part reads.
const loggedAtOnce = 2000

// logged is an entry of the log with texts that somebody outside may have written.
type logged struct {
	seq              int64
	kind             feedback.ChangeKind
	fromOutside      bool // by a caller with an API key
	appID, requestID *feedback.ID
	before, after    map[string]any
}

// forget removes from a part of the log what it says of people whose data is erased: what their requests were called
// before, what the team called them when it blocked them, the text of comments from outside that are gone, and any text that
// has the address: the team may have edited it out of a comment. It returns where the next part begins. The log follows the
// tables.
func (c *personChange) forget(ctx context.Context, at PersonPlace, all PersonCounts, mode string) (*PersonPlace, error) {
	q := c.s.db.Reader()
	last, err := changelog.Last(ctx, q, c.accountID)
	if err != nil {
		return nil, err
	}
	until := at.Seq + min(loggedAtOnce, int64(c.s.tracesAtOnce))
	list, err := database.All(ctx, q, scanLogged, `SELECT seq, kind, actor_kind = 'api_key', app_id, request_id, before, after FROM changes
		WHERE account_id = $1 AND seq > $2 AND seq <= $3 AND kind IN ('request.updated', 'comment.created', 'comment.updated',
			'comment.deleted', 'comment.released', 'comment.blocked', 'person.blocked', 'person.unblocked') ORDER BY seq`,
		c.accountID, at.Seq, until)
	if err != nil {
		return nil, err
	}
	gone, err := c.gone(ctx, q, list)
	if err != nil {
		return nil, err
	}
	next := &PersonPlace{Table: len(personTables), Seq: until}
	if until >= last {
		next = nil
	} else if len(gone) == 0 {
		return next, nil
	}
	return next, c.s.db.WritePart(ctx, c.accountID, func(ctx context.Context, tx *sql.Tx) error {
		for _, e := range gone {
			if err := changelog.Redact(ctx, tx, c.accountID, e.seq, e.before, e.after); err != nil {
				return err
			}
		}
		if next != nil {
			return nil
		}
		return c.end(ctx, tx, all, mode)
	})
}

func scanLogged(r database.Row) (e logged, err error) {
	var before, after *string
	if err := r.Scan(&e.seq, (*string)(&e.kind), &e.fromOutside, &e.appID, &e.requestID, &before, &after); err != nil {
		return e, err
	}
	for text, fields := range map[*string]*map[string]any{before: &e.before, after: &e.after} {
		if text != nil {
			err = errors.Join(err, json.Unmarshal([]byte(*text), fields))
		}
	}
	return e, err
}

// gone returns the entries that say what is gone, without it.
func (c *personChange) gone(ctx context.Context, q database.Queryer, list []logged) ([]logged, error) {
	erased, comments, blocked, err := c.present(ctx, q, list)
	if err != nil {
		return nil, err
	}
	var gone []logged
	for _, e := range list {
		var fields []string
		switch e.kind {
		case feedback.RequestUpdated:
			if e.requestID != nil && erased[*e.requestID] {
				fields = []string{"title", "description"}
			}
		case feedback.PersonBlocked, feedback.PersonUnblocked:
			if !blocked[e.label()] {
				fields = []string{"person"}
			}
		default:
			if e.ofOutside() && !comments[e.commentID()] {
				fields = []string{"body"}
			}
		}
		if e.mentions(c.of.Email) {
			fields = append(fields, "title", "description", "body")
		}
		if e.without(fields) {
			gone = append(gone, e)
		}
	}
	return gone, nil
}

// without removes fields, and reports whether there were any.
func (e *logged) without(fields []string) (removed bool) {
	for _, field := range fields {
		for _, side := range []map[string]any{e.before, e.after} {
			if _, has := side[field]; has {
				delete(side, field)
				removed = true
			}
		}
	}
	return removed
}

// mentions reports whether a text in the entry has the address.
func (e *logged) mentions(email string) bool {
	for _, side := range []map[string]any{e.before, e.after} {
		for _, v := range side {
			if text, is := v.(string); is && email != "" && feedback.Mentions(text, []string{strings.ToLower(email)}) {
				return true
			}
		}
	}
	return false
}

// ofOutside reports whether a comment was not written by the team.
func (e *logged) ofOutside() bool {
	switch e.kind {
	case feedback.CommentCreated:
		return e.fromOutside
	case feedback.CommentUpdated: // only the team can
		return false
	case feedback.CommentDeleted:
		return e.before["author_id"] == nil
	}
	return true
}

// commentID returns the id of the comment in an entry, or "".
func (e *logged) commentID() string {
	for _, side := range []map[string]any{e.after, e.before} {
		if id, is := side["comment_id"].(string); is {
			return id
		}
	}
	return ""
}

// blockedPerson is what the log calls somebody who is blocked on the portal of an app.
type blockedPerson struct {
	appID feedback.ID
	label string
}

func (e *logged) label() (b blockedPerson) {
	if e.appID != nil {
		b.appID = *e.appID
	}
	for _, side := range []map[string]any{e.after, e.before} {
		if label, is := side["person"].(string); is {
			b.label = label
		}
	}
	return b
}

// present returns what of the entries still exists: the requests whose submitters are erased, the comments and the
// people who are blocked.
func (c *personChange) present(
	ctx context.Context, q database.Queryer, list []logged,
) (erased map[feedback.ID]bool, comments map[string]bool, blocked map[blockedPerson]bool, err error) {
	var requests []feedback.ID
	var written []writtenComment
	people := false
	for _, e := range list {
		people = people || e.label().label != ""
		if e.requestID == nil {
			continue
		}
		if e.kind == feedback.RequestUpdated {
			requests = append(requests, *e.requestID)
		} else if id, err := feedback.ParseID(e.commentID()); err == nil {
			written = append(written, writtenComment{*e.requestID, id})
		}
	}
	if erased, err = c.erasedRequests(ctx, q, requests); err != nil {
		return nil, nil, nil, err
	}
	if comments, err = c.presentComments(ctx, q, written); err != nil || !people {
		return erased, comments, nil, err
	}
	blocks, err := visitors.Blocks(ctx, q, c.accountID, feedback.ID{}, "", math.MaxInt32)
	blocked = map[blockedPerson]bool{}
	for _, b := range blocks {
		blocked[blockedPerson{b.AppID, b.Label()}] = true
	}
	return erased, comments, blocked, err
}

// erasedRequests returns those of the requests whose submitters are erased.
func (c *personChange) erasedRequests(ctx context.Context, q database.Queryer, ids []feedback.ID) (map[feedback.ID]bool, error) {
	erased := map[feedback.ID]bool{}
	for _, piece := range database.Pieces(ids) {
		p := database.Parameters{c.accountID, feedback.ErasedPattern}
		found, err := database.All(ctx, q, database.One[feedback.ID], "SELECT id FROM requests WHERE account_id = $1"+
			" AND submitter_external_id LIKE $2 AND id IN ("+database.List(&p, piece)+")", p...)
		if err != nil {
			return nil, err
		}
		for _, id := range found {
			erased[id] = true
		}
	}
	return erased, nil
}

type writtenComment struct{ requestID, id feedback.ID }

// presentComments returns the ids of those of the comments that exist.
func (c *personChange) presentComments(ctx context.Context, q database.Queryer, list []writtenComment) (map[string]bool, error) {
	present := map[string]bool{}
	for _, piece := range database.Pieces(list) {
		p := database.Parameters{c.accountID}
		either := make([]string, len(piece))
		for i, w := range piece {
			either[i] = "request_id = " + p.Add(w.requestID) + " AND id = " + p.Add(w.id)
		}
		found, err := database.All(ctx, q, database.One[feedback.ID], "SELECT id FROM comments WHERE account_id = $1 AND ("+
			strings.Join(either, " OR ")+")", p...)
		if err != nil {
			return nil, err
		}
		for _, id := range found {
			present[id.String()] = true
		}
	}
	return present, nil
}
