// Package pace limits how long a client may delay a transfer over HTTP.
package pace

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// minRate is the minimum rate of an upload or a download, in bytes per second: half of that
// of a slow mobile connection.
const minRate = 8 << 10

// sendChunk is the number of bytes that are sent with one deadline.
const sendChunk = 32 << 10

// budget is the time that may be spent waiting for a client. Each byte transferred adds to the
// budget, up to its initial size. Only waiting for the client uses it up, not the database or
// the disk.
type budget struct {
	// Until is when the transfer must have ended; zero for no limit.
	Until time.Time

	most, left time.Duration
}

func newBudget(stall time.Duration) budget { return budget{most: stall, left: stall} }

// deadline returns the time by which the next bytes must be transferred.
func (b *budget) deadline(now time.Time) time.Time {
	at := now.Add(b.left)
	if !b.Until.IsZero() && at.After(b.Until) {
		return b.Until
	}
	return at
}

// transferred records that n bytes were transferred after waiting for the client.
func (b *budget) transferred(n int, waited time.Duration) {
	b.left = min(b.most, b.left-waited+time.Duration(n)*time.Second/minRate)
}

// Writer writes to a client that must not be too slow.
type Writer struct {
	http.ResponseWriter
	budget
	control *http.ResponseController
}

// NewWriter returns a Writer for a client that may pause for as long as stall.
func NewWriter(w http.ResponseWriter, stall time.Duration) *Writer {
	return &Writer{w, newBudget(stall), http.NewResponseController(w)}
}

// Write implements io.Writer.
func (w *Writer) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var sent int
		sent, err = w.timed(func() (int, error) { return w.ResponseWriter.Write(b[n:min(n+sendChunk, len(b))]) })
		n += sent
	}
	return n, err
}

// Flush sends buffered bytes.
func (w *Writer) Flush() error {
	_, err := w.timed(func() (int, error) { return 0, unlessUnsupported(w.control.Flush()) })
	return err
}

func (w *Writer) timed(send func() (int, error)) (int, error) {
	began := time.Now()
	if err := unlessUnsupported(w.control.SetWriteDeadline(w.deadline(began))); err != nil {
		return 0, err
	}
	n, err := send()
	w.transferred(n, time.Since(began))
	return n, err
}

// Reader reads a body from a client that must not be too slow.
type Reader struct {
	budget
	from    io.Reader
	control *http.ResponseController
	err     error
}

// NewReader returns a Reader of a body, or of a part of it, from a client that may pause for as
// long as stall. w is for the answer, which gets as much time again.
func NewReader(body io.Reader, w http.ResponseWriter, stall time.Duration) *Reader {
	return &Reader{budget: newBudget(stall), from: body, control: http.NewResponseController(w)}
}

// Read implements io.Reader.
func (r *Reader) Read(b []byte) (int, error) {
	began := time.Now()
	deadline := r.deadline(began)
	err := errors.Join(r.control.SetReadDeadline(deadline), r.control.SetWriteDeadline(deadline.Add(r.most)))
	if err := unlessUnsupported(err); err != nil {
		return 0, err
	}
	n, err := r.from.Read(b)
	r.transferred(n, time.Since(began))
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// Err returns the error with which reading the client's bytes failed, or nil.
func (r *Reader) Err() error { return r.err }

// unlessUnsupported returns nil for http.ErrNotSupported, because the ResponseWriters of
// tests have no deadlines.
func unlessUnsupported(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}
