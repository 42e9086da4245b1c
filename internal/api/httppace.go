package api

import (
	"errors"
	"net/http"
	"time"
)

// minRate is the minimum rate of an upload or a download, in bytes per second: half of that
// of a slow mobile connection.
const minRate = 8 << 10

// sendChunk is the number of bytes that are sent with one deadline.
const sendChunk = 32 << 10

// pace limits how long a client may delay a transfer. The client has a budget of waiting
// time. Each byte transferred adds to the budget, up to its initial size. Only waiting for
// the client uses it up, not the database or the disk.
type pace struct {
	most, left time.Duration
	until      time.Time // absolute deadline; zero for none
}

func newPace(most time.Duration) pace { return pace{most: most, left: most} }

// deadline returns the time by which the next bytes must be transferred.
func (p *pace) deadline(now time.Time) time.Time {
	at := now.Add(p.left)
	if !p.until.IsZero() && at.After(p.until) {
		return p.until
	}
	return at
}

// transferred records that n bytes were transferred after waiting for the client.
func (p *pace) transferred(n int, waited time.Duration) {
	p.left = min(p.most, p.left-waited+time.Duration(n)*time.Second/minRate)
}

// pacedWriter writes to a client that must not be too slow.
type pacedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	pace    pace
}

func newPacedWriter(w http.ResponseWriter, stall time.Duration) *pacedWriter {
	return &pacedWriter{w, http.NewResponseController(w), newPace(stall)}
}

// Write implements io.Writer.
func (w *pacedWriter) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var sent int
		sent, err = w.timed(func() (int, error) { return w.ResponseWriter.Write(b[n:min(n+sendChunk, len(b))]) })
		n += sent
	}
	return n, err
}

// flush sends buffered bytes.
func (w *pacedWriter) flush() error {
	_, err := w.timed(func() (int, error) { return 0, unlessUnsupported(w.control.Flush()) })
	return err
}

func (w *pacedWriter) timed(send func() (int, error)) (int, error) {
	began := time.Now()
	if err := unlessUnsupported(w.control.SetWriteDeadline(w.pace.deadline(began))); err != nil {
		return 0, err
	}
	n, err := send()
	w.pace.transferred(n, time.Since(began))
	return n, err
}

// unlessUnsupported returns nil for http.ErrNotSupported, because the ResponseWriters of
// tests have no deadlines.
func unlessUnsupported(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}
