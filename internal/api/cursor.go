package api

import (
	"bytes"
	"encoding/json"

	"gatherkit/internal/feedback"
	"gatherkit/internal/signed"
)

// cursor is the position in a list where a page starts. Callers receive it as an opaque,
// signed text. It contains the account and the filter, so it is valid only for the list that
// it belongs to.
type cursor struct {
	Operation string         `json:"o"`
	AccountID feedback.ID    `json:"a"`
	Filter    requestsFilter `json:"f,omitzero"`
	RequestID feedback.ID    `json:"r,omitzero"`
	About     string         `json:"t,omitempty"` // of audit-list
	Unread    bool           `json:"u,omitempty"` // of mentions-list
	Limit     int            `json:"l"`
	Began     feedback.Time  `json:"b,omitempty"` // when the first page was read

	// The sort key of the last record of the previous page.
	After  feedback.ID `json:"i"`
	Number int64       `json:"n,omitempty"`
	Text   string      `json:"x,omitempty"`
}

// signCursor returns the signed text of a cursor.
func signCursor(key []byte, c cursor) (string, error) {
	payload, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	return signed.Text(key, payload), nil
}

// parseCursor verifies and decodes the text of a cursor. It refuses unknown fields, because
// a newer replica may have added a filter, and ignoring it would return records that do not
// match.
func parseCursor(key []byte, text string) (cursor, bool) {
	payload, ok := signed.Payload(key, text)
	if !ok {
		return cursor{}, false
	}
	var c cursor
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

// resume returns the cursor that a caller sent, or a fresh one if text is empty. It returns
// the error <area>.invalid_cursor unless the cursor is for the same operation and account.
func (a *API) resume(c caller, area, operation, text string) (cur cursor, fresh bool, err error) {
	if text == "" {
		return cursor{Operation: operation, AccountID: c.Account.ID}, true, nil
	}
	cur, ok := parseCursor(a.cursorKey, text)
	if !ok || cur.Operation != operation || cur.AccountID != c.Account.ID {
		return cursor{}, false, invalidCursor(area)
	}
	return cur, false, nil
}

// resumeOf is resume for a list of the records of one request, whose id the cursor contains.
func (a *API) resumeOf(c caller, area, operation, text string, requestID feedback.ID) (cursor, error) {
	cur, fresh, err := a.resume(c, area, operation, text)
	if fresh {
		cur.RequestID = requestID
	}
	if err == nil && cur.RequestID != requestID {
		err = invalidCursor(area)
	}
	return cur, err
}

func invalidCursor(area string) error {
	return feedback.Invalid(area, "cursor",
		"cursor must be the next_cursor of a page with the same filter; leave it empty for the first page.")
}

// page returns the fetched records that belong on the page, and the fields that describe it.
// Callers fetch one record more than the limit, which shows whether there is another page.
// after stores the sort key of the page's last record in the cursor.
func page[T any](a *API, cur cursor, fetched []T, total int64, after func(*cursor, T)) ([]T, PageResult, error) {
	result := PageResult{TotalCount: total}
	if len(fetched) <= cur.Limit {
		return fetched, result, nil
	}
	fetched = fetched[:cur.Limit]
	after(&cur, fetched[cur.Limit-1])
	var err error
	result.HasMore = true
	result.NextCursor, err = signCursor(a.cursorKey, cur)
	return fetched, result, err
}

// limit sets the page size: the limit that the caller sent, at most maxLimit, or that of the
// previous page, or the operation's default.
func (c *cursor) limit(sent *int, byDefault int) {
	switch {
	case sent != nil:
		c.Limit = min(*sent, maxLimit)
	case c.Limit == 0:
		c.Limit = byDefault
	}
}
