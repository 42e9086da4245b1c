// Package gatherkit calls Gatherkit's API. It has a method for each operation, and its types come
// from the OpenAPI document of the service.
package gatherkit

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config models.yaml ../../docs/openapi.json
//go:generate go run ./generate ../../docs/openapi.json operations.go

// Client calls one service. Its methods are safe for concurrent use.
type Client struct {
	URL    string // such as https://feedback.example.com
	Token  string // the secret of a token, or the access token of a login
	APIKey string // of an app, for operations of the widget

	// Retries is how often a call is sent again. A call that was refused because of a limit is
	// sent again after the time that the service names. After an outage, a call is sent again only
	// if it belongs to a method that reads all pages, or has an idempotency key, because the service
	// may already have carried it out.
	Retries int
	// HTTP sends the calls. If it is nil, no redirect is followed.
	HTTP *http.Client
	// Sleep replaces waiting, for tests.
	Sleep func(context.Context, time.Duration) error
}

// New returns a client with the secret of a token, which sends a call again up to three times.
func New(url, token string) *Client { return &Client{URL: url, Token: token, Retries: 3} }

// Error is the refusal of a call.
type Error struct {
	Code    string // a code of the API reference, or "network" if it was not Gatherkit that answered
	Message string // a sentence for people
	Status  int    // of the HTTP answer
	// RetryAfter is after which time the service asks to call again; 0 if it does not say.
	RetryAfter time.Duration
	// RequestID identifies the call in the service's log.
	RequestID string
}

// Error returns the sentence and the code.
func (e *Error) Error() string { return e.Message + " (" + e.Code + ")" }

const (
	longestWait = 2 * time.Minute
	maxAnswer   = 64 << 20 // bytes
)

// direct follows no redirect, because the address after it could be another service.
var direct = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// outages are statuses of an outage. A proxy in front of the service sends some of them.
var outages = []int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

// call calls an operation. If safe is true, it sends the call again after an outage.
func call[In, Out any](ctx context.Context, c *Client, operation string, in In, safe bool) (out Out, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return out, err
	}
	for try := 0; ; try++ {
		text, err := c.send(ctx, operation, body)
		if err == nil {
			err = json.Unmarshal(text, &out)
			return out, err
		}
		wait, again := time.Second<<try, safe
		if refusal, ok := errors.AsType[*Error](err); ok {
			again = refusal.Code == "api.rate_limited" || safe && slices.Contains(outages, refusal.Status)
			wait = cmp.Or(refusal.RetryAfter, wait)
		}
		if !again || try >= c.Retries || wait > longestWait || ctx.Err() != nil {
			return out, err
		}
		if err := c.sleep(ctx, wait); err != nil {
			return out, err
		}
	}
}

// send sends a call once and returns its result.
func (c *Client) send(ctx context.Context, operation string, body []byte) (json.RawMessage, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(c.URL, "/")+"/api/"+operation, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	if c.APIKey != "" {
		r.Header.Set("X-API-Key", c.APIKey)
	}
	answer, err := cmp.Or(c.HTTP, direct).Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	var envelope struct {
		OK     bool            `json:"ok"`
		Result json.RawMessage `json:"result"`
		Error  struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(text, &envelope); err != nil || !envelope.OK && envelope.Error.Code == "" {
		envelope.OK, envelope.Error.Code = false, "network"
		envelope.Error.Message = fmt.Sprintf("%s answers with status %d, and not as Gatherkit does; check the address.", c.URL, answer.StatusCode)
	}
	if envelope.OK {
		return envelope.Result, nil
	}
	seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	return nil, &Error{
		Code: envelope.Error.Code, Message: envelope.Error.Message, Status: answer.StatusCode,
		RetryAfter: time.Duration(seconds) * time.Second, RequestID: answer.Header.Get("X-Request-Id"),
	}
}

func (c *Client) sleep(ctx context.Context, d time.Duration) error {
	if c.Sleep != nil {
		return c.Sleep(ctx, d)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// all returns the items of all pages, from the one that in asks for. next returns the items of a page and whether more
// follow, and makes in ask for the next page.
func all[In, Item any](first In, next func(in *In) (items []Item, more bool, err error)) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		in := first // each loop over the sequence begins at the first page
		for more := true; more; {
			var items []Item
			var err error
			if items, more, err = next(&in); err != nil {
				var none Item
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}
