package api

import (
	"errors"
	"net/http"
	"time"
)

// minRate is how fast a body or a download must pass, in bytes a second: half of what a
// slow mobile line carries.
const minRate = 8 << 10

// sendPiece is how many bytes are sent before the next deadline is set.
const sendPiece = 32 << 10

// pace bounds how long a peer may keep a transfer waiting. It has some time, each byte
// that passes gives it more, up to what it had at first, and only waiting for it uses
// time up: reading from the database or writing to the disk does not.
type pace struct {
	most, left time.Duration
	until      time.Time // the end, however fast it is; zero for none
}

func newPace(most time.Duration) pace { return pace{most: most, left: most} }

// deadline is by when something has to pass.
func (p *pace) deadline(now time.Time) time.Time {
	at := now.Add(p.left)
	if !p.until.IsZero() && at.After(p.until) {
		return p.until
	}
	return at
}

// passed notes that n bytes have passed, for which the service has waited.
func (p *pace) passed(n int, waited time.Duration) {
	p.left = min(p.most, p.left-waited+time.Duration(n)*time.Second/minRate)
}

// pacedWriter sends to a reader that has to keep the pace.
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
		sent, err = w.timed(func() (int, error) { return w.ResponseWriter.Write(b[n:min(n+sendPiece, len(b))]) })
		n += sent
	}
	return n, err
}

// flush sends what is still buffered.
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
	w.pace.passed(n, time.Since(began))
	return n, err
}

// unlessUnsupported drops what ResponseWriters of tests say that have no deadlines.
func unlessUnsupported(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}
