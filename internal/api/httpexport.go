package api

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
)

// exportWriteTime is how long a reader may take for a piece of an export, which is no
// longer than exportPiece as a rule.
const (
	exportWriteTime = time.Minute
	exportPiece     = 32 << 10
)

// download answers a link to an export. A refusal is the envelope, as long as nothing
// has been sent; after that, the connection breaks off, so that nobody takes a part for
// the whole.
func (a *API) download(c *call, token string) {
	h := c.w.Header()
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	if c.r.Method != http.MethodGet { // a HEAD, as from those who look where links lead, must not use it up
		h.Set("Allow", http.MethodGet)
		a.answer(c, nil, feedback.ErrMethodNotAllowed.With("Links to exports are opened with GET."))
		return
	}
	if !a.exports.TryAcquire(1) {
		a.answer(c, nil, feedback.ErrUnavailable)
		return
	}
	defer a.exports.Release(1)
	// Whether the reader is still there shows when something is sent: the server also
	// ends the request's context when a long download outlasts its time for reading.
	ctx := context.WithoutCancel(c.r.Context())
	x, err := inTime(ctx, func(ctx context.Context) (store.Export, error) { return a.Store.TakeExport(ctx, token) })
	if err != nil {
		a.answer(c, nil, err)
		return
	}
	out := &exportWriter{w: c.w, control: http.NewResponseController(c.w), begin: func() {
		name, media := "requests-"+a.Now().UTC().Format(time.DateOnly)+"."+x.Format, "text/csv; charset=utf-8; header=present"
		if x.Format == feedback.JSONL {
			media = "application/jsonl; charset=utf-8"
		}
		h.Set("Content-Type", media)
		h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
		h.Set("X-Accel-Buffering", "no") // nginx would put it all on its disk first
	}}
	err = a.export(ctx, out, x)
	switch {
	case err == nil:
		a.note(c, c.op.name, http.StatusOK, "ok")
	case !out.begun:
		a.answer(c, nil, err)
	default:
		code, took := "broken_off", time.Since(c.began)
		a.metrics.observe(c.op.name, code, took)
		a.Log.Warn("an export broke off", "operation", c.op.name, "code", code, "ms", float64(took.Microseconds())/1000, "request_id", c.requestID, "error", err)
		panic(http.ErrAbortHandler)
	}
}

// export writes an export to its end.
func (a *API) export(ctx context.Context, out *exportWriter, x store.Export) (err error) {
	defer recovered(&err)
	e := &exporter{API: a, Export: x, to: bufio.NewWriterSize(out, exportPiece), sent: out.flush}
	return e.write(ctx)
}

// exportWriter sends an export piece by piece. Each has a time of its own: the server's
// is for a whole answer, and would cut long ones.
type exportWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	begin   func() // before the first piece
	begun   bool
}

func (o *exportWriter) Write(piece []byte) (int, error) {
	if err := o.extend(); err != nil {
		return 0, err
	}
	return o.w.Write(piece)
}

func (o *exportWriter) flush() error {
	if err := o.extend(); err != nil {
		return err
	}
	return unlessUnsupported(o.control.Flush())
}

// extend gives the next piece its time.
func (o *exportWriter) extend() error {
	if !o.begun {
		o.begin()
		o.begun = true
	}
	return unlessUnsupported(o.control.SetWriteDeadline(time.Now().Add(exportWriteTime)))
}

// unlessUnsupported drops what ResponseWriters of tests say that have no deadlines.
func unlessUnsupported(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}
