package api

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"gatherkit/internal/feedback"
)

// input returns the call's parameters. Only a few bodies are decoded at once, because even a
// small body can contain many values, each of which takes memory. Addresses take turns, and
// a client that disconnects leaves the queue.
func (a *API) input(c *call) (any, error) {
	from := c.client.from
	body, held, err := a.readBody(c, "application/json")
	defer a.bodies.Release(from, held)
	if err != nil {
		return nil, err
	}
	if err := a.decoding.Acquire(c.r.Context(), from, 1); err != nil {
		return nil, err
	}
	defer a.decoding.Release(from, 1)
	return c.op.params.Decode(body)
}

// readBody returns the body and the number of bytes of a.bodies that it holds, which the
// caller must release even after an error. It returns ErrUnavailable if bodies hold too much
// memory, in total or for this address, and ErrUnsupportedMediaType if it is of another type.
func (a *API) readBody(c *call, mediaType string) (body []byte, held int64, err error) {
	err = http.NewResponseController(c.w).SetReadDeadline(time.Now().Add(bodyTime))
	if err != nil && !errors.Is(err, http.ErrNotSupported) { // the ResponseWriters of tests have no deadlines
		return nil, 0, err
	}
	for more := true; more; {
		if len(body) > 0 { // Content-Length does not count, only bytes that have arrived
			if !a.bodies.TryAcquire(c.client.from, bodyChunk) {
				return nil, held, feedback.ErrUnavailable
			}
			held += bodyChunk
		}
		chunk, err := io.ReadAll(io.LimitReader(c.r.Body, bodyChunk))
		body = append(body, chunk...)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, held, feedback.ErrRequestTimeout
		case err != nil:
			return nil, held, feedback.ErrInvalidJSON.With("The connection was closed before the whole body arrived.")
		case len(body) > maxBody:
			_, _ = io.CopyN(io.Discard, c.r.Body, drain) // an error does not change the answer
			return nil, held, feedback.ErrBodyTooLarge
		}
		more = len(chunk) == bodyChunk
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, held, nil
	}
	media, _, _ := strings.Cut(c.r.Header.Get("Content-Type"), ";")
	encoding := c.r.Header.Get("Content-Encoding")
	if !strings.EqualFold(strings.TrimSpace(media), mediaType) || encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, held, feedback.ErrUnsupportedMediaType
	}
	return body, held, nil
}
