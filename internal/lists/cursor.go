// Package lists reads what callers send to page through lists: filters of requests and cursors.
package lists

import (
	"bytes"
	"encoding/json"

	"gatherkit/internal/feedback"
	"gatherkit/internal/signed"
)

// Cursor is the position in a list where a page starts. Callers receive it as an opaque,
// signed text. It contains the account and the filter, so it is valid only for the list that
// it belongs to.
type Cursor struct {
	Operation string         `json:"o"`
	AccountID feedback.ID    `json:"a"`
	Filter    RequestsFilter `json:"f,omitzero"`
	RequestID feedback.ID    `json:"r,omitzero"`
	About     string         `json:"t,omitempty"` // of audit-list, and the state in entries-list
	Unread    bool           `json:"u,omitempty"` // of mentions-list
	Limit     int            `json:"l"`
	Began     feedback.Time  `json:"b,omitempty"` // when the first page was read

	// The sort key of the last record of the previous page.
	After  feedback.ID `json:"i"`
	Number int64       `json:"n,omitempty"`
	Text   string      `json:"x,omitempty"`
}

// Cursors signs cursors with a key.
type Cursors struct{ Key []byte }

// Sign returns the signed text of a cursor.
func (cs Cursors) Sign(c Cursor) (string, error) {
	payload, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	return signed.Text(cs.Key, payload), nil
}

// Parse verifies and decodes the text of a cursor. It refuses unknown fields, because a newer
// replica may have added a filter, and ignoring it would return records that do not match.
func (cs Cursors) Parse(text string) (Cursor, bool) {
	payload, ok := signed.Payload(cs.Key, text)
	if !ok {
		return Cursor{}, false
	}
	var c Cursor
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.DisallowUnknownFields()
	return c, decoder.Decode(&c) == nil
}

// PageResult are the fields that all lists return besides the records. It is exported because
// schemas only include the fields of exported embedded structs.
type PageResult struct {
	NextCursor string `json:"next_cursor" doc:"Send it as cursor to get the next page; empty on the last page."`
	HasMore    bool   `json:"has_more"`
	TotalCount int64  `json:"total_count" doc:"Number of matching records on all pages."`
}

// Resume returns the cursor that a caller sent, or a fresh one if text is empty. It returns
// the error <area>.invalid_cursor unless the cursor is for the same operation and account.
func (cs Cursors) Resume(accountID feedback.ID, area, operation, text string) (cur Cursor, fresh bool, err error) {
	if text == "" {
		return Cursor{Operation: operation, AccountID: accountID}, true, nil
	}
	cur, ok := cs.Parse(text)
	if !ok || cur.Operation != operation || cur.AccountID != accountID {
		return Cursor{}, false, InvalidCursor(area)
	}
	return cur, false, nil
}

// ResumeOf is Resume for a list of what belongs to one record, whose id the cursor contains.
func (cs Cursors) ResumeOf(accountID feedback.ID, area, operation, text string, id feedback.ID) (Cursor, error) {
	cur, fresh, err := cs.Resume(accountID, area, operation, text)
	if fresh {
		cur.RequestID = id
	}
	if err == nil && cur.RequestID != id {
		err = InvalidCursor(area)
	}
	return cur, err
}

// InvalidCursor returns the error <area>.invalid_cursor.
func InvalidCursor(area string) error {
	return feedback.Invalid(area, "cursor",
		"cursor must be the next_cursor of a page with the same filter; leave it empty for the first page.")
}

// Page returns the fetched records that belong on the page, and the fields that describe it.
// Callers fetch one record more than the limit, which shows whether there is another page.
// after stores the sort key of the page's last record in the cursor.
func Page[T any](cs Cursors, cur Cursor, fetched []T, total int64, after func(*Cursor, T)) ([]T, PageResult, error) {
	result := PageResult{TotalCount: total}
	if len(fetched) <= cur.Limit {
		return fetched, result, nil
	}
	fetched = fetched[:cur.Limit]
	after(&cur, fetched[cur.Limit-1])
	var err error
	result.HasMore = true
	result.NextCursor, err = cs.Sign(cur)
	return fetched, result, err
}

// The number of records on a page.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// SetLimit sets the page size: the limit that the caller sent, at most MaxLimit, or that of
// the previous page, or the operation's default.
func (c *Cursor) SetLimit(sent *int, byDefault int) {
	switch {
	case sent != nil:
		c.Limit = min(*sent, MaxLimit)
	case c.Limit == 0:
		c.Limit = byDefault
	}
}
