// Package remote calls the operations of a running service, for commands.
package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"gatherkit/internal/deadline"
)

var timeout = deadline.Of(2 * time.Minute)

const (
	maxBody  = 256 << 20       // bytes of an answer
	maxTries = 5               // of a call that is refused because there were too many
	maxWait  = 2 * time.Minute // longer ones are left to the caller
)

// Service is a service at a URL, and the token with which it is called.
type Service struct {
	URL   string // without a slash at its end
	Token string // of a program; "" for operations that need none
	// Sleep waits until a call may be sent again. Nil stands for a real pause.
	Sleep func(context.Context, time.Duration) error
}

// client follows no redirects, which would take the token to another address.
var client = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Parse checks the address of a service, such as https://feedback.example.com, and removes a slash at its end.
func Parse(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("%q is not the address of a service; set --url to an address such as https://feedback.example.com", address)
	}
	return strings.TrimSuffix(address, "/"), nil
}

// Refusal is the error of a call that the service has refused.
type Refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

// Call calls an operation and returns its result. It returns a *Refusal if the service refuses the call. A call that
// is refused with 429 has done nothing, so it is sent again when the service says so, unless that is in more than maxWait.
func (s Service) Call(ctx context.Context, operation string, params any) (json.RawMessage, error) {
	body, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		result, wait, err := s.send(ctx, operation, body)
		if wait == 0 || wait > maxWait || try == maxTries {
			return result, err
		}
		if err := s.sleep(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// send sends a call once. wait is how long to wait before the call is sent again, or 0.
func (s Service) send(ctx context.Context, operation string, body []byte) (result json.RawMessage, wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/api/"+url.PathEscape(operation), bytes.NewReader(body))
	if err != nil {
		return nil, 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	if s.Token != "" {
		r.Header.Set("Authorization", "Bearer "+s.Token)
	}
	answer, err := client.Do(r)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxBody))
	if err != nil {
		return nil, 0, fmt.Errorf("the answer of %s is cut off: %w", s.URL, err)
	}
	if to := answer.Header.Get("Location"); to != "" && answer.StatusCode/100 == 3 {
		return nil, 0, fmt.Errorf("%s redirects to %s; set --url to the address of the service there", s.URL, to)
	}
	var envelope struct {
		OK     bool            `json:"ok"`
		Result json.RawMessage `json:"result"`
		Error  Refusal         `json:"error"`
	}
	if err := json.Unmarshal(text, &envelope); err != nil || !envelope.OK && envelope.Error.Code == "" {
		return nil, 0, fmt.Errorf("%s answers with status %d, and not as Gatherkit does; check the address", s.URL, answer.StatusCode)
	}
	if envelope.OK {
		return envelope.Result, 0, nil
	}
	if answer.StatusCode == http.StatusTooManyRequests {
		seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
		wait = time.Duration(max(seconds, 1)) * time.Second
	}
	return nil, wait, &envelope.Error
}

func (s Service) sleep(ctx context.Context, d time.Duration) error {
	if s.Sleep != nil {
		return s.Sleep(ctx, d)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Each calls an operation that returns a page of a list, and visit with each item of all pages. It returns an error if
// the result is not a page with exactly one list.
func (s Service) Each(ctx context.Context, operation string, params map[string]any, visit func(json.RawMessage) error) error {
	for {
		result, err := s.Call(ctx, operation, params)
		if err != nil {
			return err
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(result, &fields); err != nil {
			return err
		}
		items, err := onlyList(fields)
		if err != nil {
			return fmt.Errorf("%s: %w", operation, err)
		}
		for _, item := range items {
			if err := visit(item); err != nil {
				return err
			}
		}
		var page struct {
			HasMore    bool   `json:"has_more"`
			NextCursor string `json:"next_cursor"`
		}
		if err := json.Unmarshal(result, &page); err != nil || !page.HasMore || page.NextCursor == "" {
			return err
		}
		params["cursor"] = page.NextCursor
	}
}

// errNoList is the error of a result that is no page of a list.
var errNoList = errors.New("the result is not a list with pages; leave out --jsonl")

func onlyList(fields map[string]json.RawMessage) (list []json.RawMessage, err error) {
	found := 0
	if _, pages := fields["has_more"]; !pages {
		return nil, errNoList
	}
	for _, value := range fields {
		if bytes.HasPrefix(value, []byte("[")) {
			found++
			if err := json.Unmarshal(value, &list); err != nil {
				return nil, err
			}
		}
	}
	if found != 1 {
		return nil, errNoList
	}
	return list, nil
}

// Ready returns an error unless the service answers that it is ready for calls.
func (s Service) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, deadline.Of(5*time.Second))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s is not ready: status %d", s.URL, answer.StatusCode)
	}
	return nil
}
