package entries

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"math"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

// MaxPage is the highest limit of a page for people outside the account.
const MaxPage = 50

// PublicEntry is a published entry, as anybody sees it.
type PublicEntry struct {
	ID          feedback.ID              `json:"id" format:"uuid"`
	Title       string                   `json:"title"`
	Body        string                   `json:"body" doc:"Markdown."`
	Labels      []string                 `json:"labels"`
	PublishedAt feedback.Time            `json:"published_at" format:"date-time"`
	Requests    []feedback.SharedRequest `json:"requests" doc:"Those that it is about and that the app shares, oldest first. A merged request counts as the one that it is merged into."`

	UpdatedAt feedback.Time `json:"-"`
}

// Place is the place of a published entry in the order of publication.
type Place struct {
	At feedback.Time // when it was published
	ID feedback.ID
}

// Place returns the place of the entry.
func (e PublicEntry) Place() Place { return Place{e.PublishedAt, e.ID} }

const selectPublic = "SELECT id, title, body, labels, published_at, updated_at FROM entries" +
	" WHERE account_id = $1 AND app_id = $2 AND published_at IS NOT NULL"

func scanPublic(r database.Row) (e PublicEntry, err error) {
	var labels []byte
	err = r.Scan(&e.ID, &e.Title, &e.Body, &labels, &e.PublishedAt, &e.UpdatedAt)
	if err != nil {
		return e, err
	}
	e.Requests = []feedback.SharedRequest{}
	return e, json.Unmarshal(labels, &e.Labels)
}

// Published returns up to limit published entries of an app, the latest first, that were published before a
// place, or from the latest on if it is nil. AddPublicRequests adds their requests.
func Published(
	ctx context.Context, q database.Queryer, accountID, appID feedback.ID, before *Place, limit int,
) ([]PublicEntry, error) {
	if before == nil {
		before = &Place{At: math.MaxInt64}
	}
	return database.All(ctx, q, scanPublic, selectPublic+" AND (published_at, id) < ($3, $4)"+
		" ORDER BY published_at DESC, id DESC LIMIT CAST($5 AS BIGINT)", accountID, appID, before.At, before.ID, limit)
}

// PublishedOne returns a published entry of an app, or ErrEntryNotFound. AddPublicRequests adds its requests.
func PublishedOne(ctx context.Context, q database.Queryer, accountID, appID, id feedback.ID) (PublicEntry, error) {
	e, err := scanPublic(q.QueryRowContext(ctx, selectPublic+" AND id = $3", accountID, appID, id))
	return e, database.OrNotFound(err, feedback.ErrEntryNotFound)
}

// Latest returns the id of the entry of an app that was published last, or nil if none is published.
func Latest(ctx context.Context, q database.Queryer, accountID, appID feedback.ID) (*feedback.ID, error) {
	var id feedback.ID
	err := q.QueryRowContext(ctx, "SELECT id FROM entries WHERE account_id = $1 AND app_id = $2 AND published_at IS NOT NULL"+
		" ORDER BY published_at DESC, id DESC LIMIT 1", accountID, appID).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // there is none
	}
	return &id, err
}

// AddPublicRequests adds to entries of an app the requests that they are about, as far as the app shares them.
func AddPublicRequests(ctx context.Context, q database.Queryer, app feedback.App, list []PublicEntry) error {
	if len(list) == 0 || len(app.Settings.Shared()) == 0 {
		return nil
	}
	place := map[feedback.ID]int{}
	ids := make([]feedback.ID, len(list))
	for i := range list {
		ids[i], place[list[i].ID] = list[i].ID, i
	}
	// CROSS JOIN has SQLite begin with the entries: otherwise, it would walk over all live requests.
	p := database.Parameters{app.AccountID}
	err := database.Each(ctx, q, func(r database.Row) error {
		var id feedback.ID
		var shown feedback.SharedRequest
		var counts feedback.Request
		err := r.Scan(&id, &shown.ID, &shown.Title, &shown.Status, &shown.Votes, (*string)(&counts.Box), &counts.Hidden)
		if counts.Status = shown.Status; app.Settings.Shares(counts) {
			e := &list[place[id]]
			e.Requests = append(e.Requests, shown)
		}
		return err
	}, `SELECT DISTINCT l.entry_id, c.id, c.title, c.status, c.votes, c.box, c.hidden
		FROM entry_requests l CROSS JOIN requests r CROSS JOIN requests c
		WHERE l.account_id = $1 AND l.entry_id IN (`+database.List(&p, database.Padded(ids))+`)
		AND r.account_id = $1 AND r.id = l.request_id AND r.box = 'live'
		AND c.account_id = $1 AND c.id = COALESCE(r.merged_into_id, r.id) ORDER BY l.entry_id, c.id`, p...)
	return err
}

// Public returns a page as Published does, with the requests of the entries.
func (e *Entries) Public(ctx context.Context, app feedback.App, before *Place, limit int) (list []PublicEntry, err error) {
	err = e.db.Read(ctx, func(tx *sql.Tx) error {
		if list, err = Published(ctx, tx, app.AccountID, app.ID, before, limit); err != nil {
			return err
		}
		return AddPublicRequests(ctx, tx, app, list)
	})
	return list, err
}

// Latest returns the id of the entry of an app that was published last, or nil if none is published.
func (e *Entries) Latest(ctx context.Context, accountID, appID feedback.ID) (*feedback.ID, error) {
	return Latest(ctx, e.db.Reader(), accountID, appID)
}
