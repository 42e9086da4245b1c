package calls

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

const (
	// MaxBodies is how many bytes of all bodies may be in memory; a quarter for one address.
	MaxBodies = 32 << 20
	// MaxBody is the maximum size of a body.
	MaxBody = 256 << 10
	// BodyChunk is how much of a body is read at once. The first chunk does not count towards MaxBodies.
	BodyChunk = 16 << 10
	drain     = 4 << 20 // bytes read after MaxBody, because many clients read the answer only after they have sent the body
)

// FormType is the media type of forms.
const FormType = "application/x-www-form-urlencoded"

// MaxForm is the maximum size of a form in bytes. A text of 10,000 characters takes up to 120,000 of them.
const MaxForm = 128 << 10

var errFormTooLarge = feedback.ErrBodyTooLarge.With("A form may be at most 128 KiB.")

// ReadBody returns the body and the number of bytes of Bodies that it holds, which the
// caller must release even after an error. It returns ErrUnavailable if bodies hold too much
// memory, in total or for this address, and ErrUnsupportedMediaType if it is of another type.
func (c *Call) ReadBody(mediaType string) (body []byte, held int64, err error) {
	err = http.NewResponseController(c.W).SetReadDeadline(time.Now().Add(BodyTime))
	if err != nil && !errors.Is(err, http.ErrNotSupported) { // the ResponseWriters of tests have no deadlines
		return nil, 0, err
	}
	defer c.Client.Waits()()
	most, tooLarge := MaxBody, feedback.ErrBodyTooLarge
	if mediaType == FormType {
		most, tooLarge = MaxForm, errFormTooLarge
	}
	for more := true; more; {
		if len(body) > 0 { // Content-Length does not count, only bytes that have arrived
			if !c.Bodies.TryAcquire(c.Client.From, BodyChunk) {
				return nil, held, feedback.ErrUnavailable
			}
			held += BodyChunk
		}
		chunk, err := io.ReadAll(io.LimitReader(c.R.Body, BodyChunk))
		body = append(body, chunk...)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, held, feedback.ErrRequestTimeout
		case err != nil:
			return nil, held, feedback.ErrInvalidJSON.With("The connection was closed before the whole body arrived.")
		case len(body) > most:
			_, _ = io.CopyN(io.Discard, c.R.Body, drain) // an error does not change the answer
			return nil, held, tooLarge
		}
		more = len(chunk) == BodyChunk
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, held, nil
	}
	media, _, _ := strings.Cut(c.R.Header.Get("Content-Type"), ";")
	encoding := c.R.Header.Get("Content-Encoding")
	if !strings.EqualFold(strings.TrimSpace(media), mediaType) || encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, held, feedback.ErrUnsupportedMediaType.With("Send the body as Content-Type: %s, without Content-Encoding.", mediaType)
	}
	return body, held, nil
}
