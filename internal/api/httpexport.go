package api

import (
	"bufio"
	"context"
	"net/http"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
)

// downloadStall is how long the reader of an export or a file may stand still. A proxy
// that passes on 16 KiB a second and does not buffer takes nothing for up to 90 s, until
// the system's buffers have room again.
const downloadStall = 2 * time.Minute

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
	// Whether the reader is still there shows when something is sent: the server also
	// ends the request's context when a long download outlasts its time for reading.
	ctx := context.WithoutCancel(c.r.Context())
	// A dead link takes no place, and a good link that finds no free place stays valid.
	x, err := inTime(ctx, func(ctx context.Context) (store.Export, error) { return a.Store.FindExport(ctx, token) })
	if err != nil {
		a.answer(c, nil, err)
		return
	}
	place := a.exports.of(holder{x.AccountID, x.SessionID})
	if !place.TryAcquire(1) {
		a.answer(c, nil, feedback.ErrUnavailable.With("Too many exports are being downloaded; open the link again once one has finished."))
		return
	}
	defer place.Release(1)
	x, err = inTime(ctx, func(ctx context.Context) (store.Export, error) { return a.Store.TakeExport(ctx, token) })
	if err != nil {
		a.answer(c, nil, err)
		return
	}
	out := &exportWriter{to: newPacedWriter(c.w, downloadStall), begin: func() {
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
	e := &exporter{API: a, Export: x, to: bufio.NewWriterSize(out, sendPiece), sent: out.flush}
	return e.write(ctx)
}

// exportWriter sends an export piece by piece.
type exportWriter struct {
	to    *pacedWriter
	begin func() // before the first piece
	begun bool
}

func (o *exportWriter) Write(piece []byte) (int, error) {
	o.start()
	return o.to.Write(piece)
}

func (o *exportWriter) flush() error {
	o.start()
	return o.to.flush()
}

func (o *exportWriter) start() {
	if !o.begun {
		o.begin()
		o.begun = true
	}
}
