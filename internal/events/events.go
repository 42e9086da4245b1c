// Package events reads the log of changes: as a feed, with everything after a number in order, and as the
// audit log. The feed accounts for every number, so that a consumer can tell an entry that was removed
// from one that it has lost.
package events

import (
	"context"

	"gatherkit/internal/changelog"
	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
)

const (
	// mostRead is how many entries a call reads at most, of which a filter may leave none.
	mostRead = 2_000
	// mostBytes is how many bytes of changed fields end a page.
	mostBytes = 1 << 20
	// readAtOnce is how many entries a statement reads. An entry can contain a description of 40 kB before
	// and after a change.
	readAtOnce = 100
)

// Version is the version of all kinds of events. When the meaning of a kind changes, its version does.
const Version = 1

// FeedEvent is an entry of the log of changes.
type FeedEvent struct {
	feedback.Event
	ID        string        `json:"id" doc:"Identifies the event, also after a backup was restored."`
	Version   int           `json:"version" doc:"Version of the kind. Fields are only added; when a meaning changes, the version does."`
	AppID     *feedback.ID  `json:"app_id" format:"uuid" doc:"The app; null for the account, its users and its tokens."`
	RequestID *feedback.ID  `json:"request_id" format:"uuid" doc:"The request; null if it is not about one, and for request.purged."`
	Request   *EventRequest `json:"request" doc:"The request as it is now; null unless it is live."`
	// Quarantined reports whether the request is in quarantine now.
	Quarantined bool `json:"-"`
}

// EventRequest is a request as it is now.
type EventRequest struct {
	ID           feedback.ID     `json:"id" format:"uuid"`
	AppID        feedback.ID     `json:"app_id" format:"uuid"`
	Title        string          `json:"title"`
	Status       feedback.Status `json:"status" enum:"opened,under_review,planned,in_progress,completed,declined,duplicate"`
	Votes        int64           `json:"votes"`
	MergedIntoID *feedback.ID    `json:"merged_into_id" format:"uuid"`
	URL          string          `json:"url" doc:"Its page in the dashboard."`
}

// Range is a range of numbers, both ends included.
type Range struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// Page is a part of the feed.
type Page struct {
	Events   []FeedEvent
	Position int64   // the last number that was read
	Last     int64   // the last number of the log
	Erased   []Range // numbers up to Position whose entries were removed with their request
}

// Events reads the feed of the accounts in a database.
type Events struct{ db *database.DB }

// New returns the events in a database.
func New(db *database.DB) *Events { return &Events{db} }

// Last returns the last number of an account's log.
func (e *Events) Last(ctx context.Context, accountID feedback.ID) (last int64, err error) {
	return changelog.Last(ctx, e.db.Reader(), accountID)
}

// Read returns up to limit events after a number that fit. It returns ErrPositionAhead if the log ends
// before that number.
func (e *Events) Read(ctx context.Context, accountID feedback.ID, after int64, limit int, fits func(FeedEvent) bool) (Page, error) {
	// Entries up to last are committed, because the numbers are given in the order of the commits.
	last, err := e.Last(ctx, accountID)
	if err != nil {
		return Page{}, err
	}
	if after > last {
		return Page{}, feedback.ErrPositionAhead.With("The log of changes ends at %d, before the position %d; an older copy of the database"+
			" was restored. Read all requests again, and continue after %d.", last, after, last)
	}
	page := Page{Events: []FeedEvent{}, Position: after, Last: last, Erased: []Range{}}
	read, bytes := 0, 0
	enough := func() bool { return len(page.Events) == limit || read == mostRead || bytes >= mostBytes }
	for page.Position < last && !enough() {
		chunk, err := e.chunk(ctx, accountID, page.Position, last)
		if err != nil {
			return Page{}, err
		}
		for _, entry := range chunk {
			if enough() {
				break
			}
			page.skip(entry.Number - 1)
			page.Position = entry.Number
			read++
			bytes += entry.bytes
			if fits(entry.FeedEvent) {
				page.Events = append(page.Events, entry.FeedEvent)
			}
		}
		if len(chunk) < readAtOnce && !enough() {
			page.skip(last)
		}
	}
	return page, nil
}

// SetURLs sets the addresses of the requests of events. link returns the address of a path of the dashboard.
func SetURLs(list []FeedEvent, link func(path string) string) {
	for _, e := range list {
		if e.Request != nil {
			e.Request.URL = link("/?request=" + e.Request.ID.String())
		}
	}
}

// Get returns one event, or ErrEventNotFound.
func (e *Events) Get(ctx context.Context, accountID feedback.ID, number int64) (FeedEvent, error) {
	found, err := e.chunk(ctx, accountID, number-1, number)
	if err == nil && len(found) == 0 {
		err = feedback.ErrEventNotFound
	}
	if err != nil {
		return FeedEvent{}, err
	}
	return found[0].FeedEvent, nil
}

// skip moves the position up to a number. There are no entries in between.
func (p *Page) skip(to int64) {
	if to > p.Position {
		p.Erased = append(p.Erased, Range{p.Position + 1, to})
		p.Position = to
	}
}

// entry is an event with the size of its changed fields.
type entry struct {
	FeedEvent
	bytes int
}

// chunk reads the entries after a number, up to last.
func (e *Events) chunk(ctx context.Context, accountID feedback.ID, after, last int64) ([]entry, error) {
	return database.All(ctx, e.db.Reader(), func(r database.Row) (one entry, err error) {
		var title, status, box *string
		var votes *int64
		var there bool
		var mergedInto *feedback.ID
		one.Event, err = changelog.Scan(database.RowWith{Row: r, More: []any{
			&one.AppID, &one.RequestID, &one.bytes, &title, &status, &votes, &mergedInto, &box, &there,
		}})
		one.ID, one.Version = feedback.EventID(accountID, one.Number, one.At), Version
		switch {
		case box == nil:
		case *box == string(feedback.Quarantine):
			one.Quarantined = true
		case *box == string(feedback.Live) && there:
			one.Request = &EventRequest{*one.RequestID, *one.AppID, *title, feedback.Status(*status), *votes, mergedInto, ""}
		}
		return one, err
	}, "SELECT "+changelog.Columns+`, c.app_id, c.request_id, COALESCE(LENGTH(c.before), 0) + COALESCE(LENGTH(c.after), 0),
			r.title, r.status, r.votes, r.merged_into_id, r.box,
			(SELECT a.deleted_at FROM apps a WHERE a.account_id = $1 AND a.id = c.app_id) IS NULL
		FROM changes c
		LEFT JOIN requests r ON r.account_id = c.account_id AND r.id = c.request_id
		WHERE c.account_id = $1 AND c.seq > $2 AND c.seq <= $3 ORDER BY c.seq LIMIT CAST($4 AS BIGINT)`, accountID, after, last, readAtOnce)
}
