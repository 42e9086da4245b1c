package api

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"gatherkit/internal/feedback"
)

// cursor says where in a list a page begins. Callers get it signed and opaque: it
// carries the account and the filter, so that it fits nothing else.
type cursor struct {
	Operation string         `json:"o"`
	AccountID feedback.ID    `json:"a"`
	Filter    requestsFilter `json:"f,omitzero"`
	RequestID feedback.ID    `json:"r,omitzero"`
	Limit     int            `json:"l"`
	Began     feedback.Time  `json:"b,omitempty"` // when the first page was read

	// What the last record of the page before is known by.
	After  feedback.ID `json:"i"`
	Number int64       `json:"n,omitempty"`
	Text   string      `json:"x,omitempty"`
}

const macBytes = 16

// cursorText refuses trailing bits, so that no two texts are the same cursor.
var cursorText = base64.RawURLEncoding.Strict()

// signCursor makes the text of a cursor.
func signCursor(key []byte, c cursor) (string, error) {
	payload, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	return cursorText.EncodeToString(append(payload, mac(key, payload)...)), nil
}

// parseCursor reads a text that signCursor has made with the same key. It refuses fields
// that it does not know: a newer replica may have written a filter that this one would
// leave out, and the next page would list requests that do not match.
func parseCursor(key []byte, text string) (cursor, bool) {
	payload, ok := unsealed(key, text)
	if !ok {
		return cursor{}, false
	}
	var c cursor
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.DisallowUnknownFields()
	return c, decoder.Decode(&c) == nil
}

// unsealed returns what a text says that was signed with the key.
func unsealed(key []byte, text string) ([]byte, bool) {
	raw, err := cursorText.DecodeString(text)
	// The decoder skips line breaks; encoding again shows whether there were any.
	if err != nil || len(raw) < macBytes || cursorText.EncodeToString(raw) != text {
		return nil, false
	}
	payload, sum := raw[:len(raw)-macBytes], raw[len(raw)-macBytes:]
	return payload, hmac.Equal(sum, mac(key, payload))
}

func mac(key, payload []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(payload)
	return h.Sum(nil)[:macBytes]
}

// PageResult is what every list returns beside its records. It is exported, as the schema
// of a result knows embedded structs only when they are.
type PageResult struct {
	NextCursor string `json:"next_cursor" doc:"Send it back as cursor for the next page; empty on the last one."`
	HasMore    bool   `json:"has_more"`
	TotalCount int64  `json:"total_count" doc:"How many there are in all, whatever the page."`
}

// resume returns the cursor that a caller sent, for the same operation and account,
// or a fresh one. The refusal is <area>.invalid_cursor.
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

// resumeOf is resume for a list of what belongs to a request, which the cursor carries.
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
	return feedback.Invalid(area, "cursor", "cursor must be the next_cursor of a page with the same filter; send an empty one for the first page.")
}

// page cuts what was fetched, one more than wanted, to the page and describes it;
// after notes the last record of the page in the cursor.
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

// limit sets the page's size: what the caller sent, at most maxLimit, else what
// the cursor carries, else the operation's own.
func (c *cursor) limit(sent *int, without int) {
	switch {
	case sent != nil:
		c.Limit = min(*sent, maxLimit)
	case c.Limit == 0:
		c.Limit = without
	}
}
