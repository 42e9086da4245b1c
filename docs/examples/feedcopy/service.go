package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// service calls the operations of a Gatherkit service.
type service struct {
	url, token string
	http       *http.Client
	// away is set when a call fails without an answer.
	away bool
}

type params map[string]any

// refusal is the error in an answer.
type refusal struct{ Code, Message string }

// Error implements error.
func (r *refusal) Error() string { return r.Code + ": " + r.Message }

func isCode(err error, code string) bool {
	r, ok := errors.AsType[*refusal](err)
	return ok && r.Code == code
}

// call calls an operation and decodes the result, unless result is nil. Networks fail and services are
// restarted, so it repeats the call until there is an answer or ctx ends.
func (s *service) call(ctx context.Context, operation string, in params, result any) error {
	const first, longest = 200 * time.Millisecond, 30 * time.Second
	for pause := first; ; pause = min(2*pause, longest) {
		after, err := s.try(ctx, operation, in, result)
		if after < 0 || ctx.Err() != nil {
			return err
		}
		// Half of the pause is random, so that the clients of a service do not all come back at once.
		wait := max(after, pause/2+rand.N(pause/2)) //nolint:gosec // nothing secret
		log.Printf("%s: %v; the next try is in %v", operation, err, wait.Round(time.Millisecond))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

// final is what try returns instead of a time if the call must not be repeated.
const final = -1

// try makes a call once. It returns after what time the call may be repeated at the earliest.
func (s *service) try(ctx context.Context, operation string, in params, result any) (after time.Duration, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return final, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/api/"+operation, bytes.NewReader(body))
	if err != nil {
		return final, err
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Content-Type", "application/json")
	response, err := s.http.Do(r)
	if err != nil {
		s.away = true
		return 0, err
	}
	defer response.Body.Close() //nolint:errcheck // the body is read below
	text, err := io.ReadAll(response.Body)
	var answer struct {
		OK     bool
		Result json.RawMessage
		Error  refusal
	}
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After")) // 0 without the header
	switch status := response.StatusCode; {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return final, fmt.Errorf("the service refuses the token for %s, which must be one with the scope admin: %w", operation, &answer.Error)
	case status == http.StatusTooManyRequests:
		return time.Duration(seconds) * time.Second, &answer.Error
	case err != nil || status >= http.StatusInternalServerError:
		s.away = true
		return time.Duration(seconds) * time.Second, fmt.Errorf("%s %w", response.Status, errors.Join(err, &answer.Error))
	case !answer.OK:
		return final, fmt.Errorf("%s: %w", operation, &answer.Error)
	case result == nil:
		return final, nil
	}
	return final, json.Unmarshal(answer.Result, result)
}
