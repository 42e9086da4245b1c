// Package links stores the addresses of issues that the team has linked to requests. A merge moves no
// links, as it moves no votes: each stays at the request where it was added.
package links

import (
	"context"
	"database/sql"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// Max is how many links a request may have.
const Max = 20

// InRequestTx runs do in a transaction that no other change of the request can run beside, and logs the
// change that do returns, unless it is nil. It returns ErrRequestNotFound if the request does not exist or
// is in the bin.
type InRequestTx func(
	ctx context.Context, accountID, requestID feedback.ID, do func(ctx context.Context, tx *sql.Tx) (*feedback.Change, error),
) error

// Links are the links in a database.
type Links struct {
	db        *database.DB
	ids       *feedback.IDs
	inRequest InRequestTx
}

// New returns the links in a database.
func New(db *database.DB, ids *feedback.IDs, inRequest InRequestTx) *Links {
	return &Links{db, ids, inRequest}
}

// selectLinks reads the links of the request $2 in the account $1. The author is a user or a service token.
const selectLinks = `SELECT l.id, l.request_id, l.url, l.author_id,
	COALESCE((SELECT u.name FROM users u WHERE u.account_id = $1 AND u.id = l.author_id),
		(SELECT t.name FROM access_tokens t WHERE t.account_id = $1 AND t.id = l.author_id)), l.created_at
	FROM request_links l WHERE l.account_id = $1 AND l.request_id = $2`

func scan(r database.Row) (l feedback.Link, err error) {
	var author feedback.ID
	var name *string
	err = r.Scan(&l.ID, &l.RequestID, &l.URL, &author, &name, &l.CreatedAt)
	l.Author = feedback.AuthorOf(author, name, nil)
	return l, err
}

// List returns the links of a request, oldest first.
func (l *Links) List(ctx context.Context, accountID, requestID feedback.ID) ([]feedback.Link, error) {
	return list(ctx, l.db.Reader(), accountID, requestID)
}

func list(ctx context.Context, q database.Queryer, accountID, requestID feedback.ID) ([]feedback.Link, error) {
	return database.All(ctx, q, scan, selectLinks+" ORDER BY l.id", accountID, requestID)
}

// Add links a request to an address, which is valid. If the request has this link already, Add returns it
// as it is. It returns ErrRequestNotFound or ErrTooManyLinks.
func (l *Links) Add(ctx context.Context, accountID feedback.ID, by feedback.Actor, link feedback.Link) (feedback.Link, error) {
	var added feedback.Link
	err := l.inRequest(ctx, accountID, link.RequestID, func(ctx context.Context, tx *sql.Tx) (*feedback.Change, error) {
		present, err := list(ctx, tx, accountID, link.RequestID)
		if err != nil {
			return nil, err
		}
		for _, added = range present {
			if added.URL == link.URL {
				return nil, nil
			}
		}
		if len(present) >= Max {
			return nil, feedback.ErrTooManyLinks
		}
		id := l.ids.New()
		_, err = tx.ExecContext(ctx, "INSERT INTO request_links (account_id, request_id, id, url, author_id, created_at)"+
			" VALUES ($1, $2, $3, $4, $5, $6)", accountID, link.RequestID, id, link.URL, link.Author.RowID(), id.Time())
		if err != nil {
			return nil, err
		}
		added, err = find(ctx, tx, accountID, link.RequestID, id)
		return &feedback.Change{Kind: feedback.LinkAdded, Actor: by, After: fields(added)}, err
	})
	return added, err
}

// Remove removes a link of a request. It returns ErrRequestNotFound or ErrLinkNotFound.
func (l *Links) Remove(ctx context.Context, accountID feedback.ID, by feedback.Actor, requestID, id feedback.ID) error {
	return l.inRequest(ctx, accountID, requestID, func(ctx context.Context, tx *sql.Tx) (*feedback.Change, error) {
		link, err := find(ctx, tx, accountID, requestID, id)
		if err != nil {
			return nil, err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM request_links WHERE account_id = $1 AND request_id = $2 AND id = $3", accountID, requestID, id)
		return &feedback.Change{Kind: feedback.LinkRemoved, Actor: by, Before: fields(link)}, err
	})
}

func find(ctx context.Context, tx *sql.Tx, accountID, requestID, id feedback.ID) (feedback.Link, error) {
	link, err := scan(tx.QueryRowContext(ctx, selectLinks+" AND l.id = $3", accountID, requestID, id))
	return link, database.OrNotFound(err, feedback.ErrLinkNotFound)
}

// fields are those that the log of changes has of a link.
func fields(l feedback.Link) map[string]any { return map[string]any{"link_id": l.ID, "url": l.URL} }
