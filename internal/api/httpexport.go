package api

import (
	"context"
	"net/http"
	"time"

	"gatherkit/internal/calls"
	"gatherkit/internal/deadline"
	"gatherkit/internal/export"
	"gatherkit/internal/feedback"
	"gatherkit/internal/limits"
	"gatherkit/internal/pace"
	"gatherkit/internal/store"
)

// downloadStall is how long the reader of an export or a file may pause. A proxy that
// forwards 16 KiB per second without buffering may read nothing for up to 90 seconds, until
// there is space in the socket buffers again.
var downloadStall = deadline.Of(2 * time.Minute)

// download serves a link to an export. Errors are sent as an envelope until the first bytes
// of the export are sent. After that, download aborts the connection, so that an incomplete
// file does not look complete.
func (a *API) download(c *call, token string) {
	h := c.W.Header()
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	if c.R.Method != http.MethodGet { // HEAD must not use up the link, because link checkers send it
		h.Set("Allow", http.MethodGet)
		a.answer(c, nil, feedback.ErrMethodNotAllowed.With("Use GET to download an export."))
		return
	}
	// The server cancels the request's context after its read timeout, which a download may
	// exceed. A client that disconnects is noticed when writing fails.
	ctx := context.WithoutCancel(c.R.Context())
	// Finding the link first ensures that an invalid link takes no place, and that a valid one
	// stays valid if no place is free.
	x, err := withTimeout(ctx, func(ctx context.Context) (store.Export, error) { return a.Store.FindExport(ctx, token) })
	if err != nil {
		a.answer(c, nil, err)
		return
	}
	a.setClient(c)
	c.Client.Account = x.AccountID
	place := a.exports.Of(limits.Holder{Account: x.AccountID, Session: x.SessionID})
	if !place.TryAcquire(1) {
		a.answer(c, nil, feedback.ErrUnavailable.With("Too many exports are being downloaded; open the link again when one has finished."))
		return
	}
	defer place.Release(1)
	x, err = withTimeout(ctx, func(ctx context.Context) (store.Export, error) { return a.Store.TakeExport(ctx, token) })
	if err != nil {
		a.answer(c, nil, err)
		return
	}
	out := &exportWriter{to: pace.NewWriter(c.W, downloadStall), client: c.Client, begin: func() {
		name, media := "requests-"+a.Now().UTC().Format(time.DateOnly)+"."+x.Format, "text/csv; charset=utf-8; header=present"
		if x.Format == feedback.JSONL {
			media = "application/jsonl; charset=utf-8"
		}
		h.Set("Content-Type", media)
		h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
		h.Set("X-Accel-Buffering", "no") // otherwise nginx would write the whole export to its disk
	}}
	err = a.export(ctx, out, x)
	switch {
	case err == nil:
		c.Record(http.StatusOK, "ok")
	case !out.begun:
		a.answer(c, nil, err)
	default:
		const code = "broken_off"
		took := c.Observe(code)
		a.Log.Warn("an export was not completed",
			c.Logged("operation", c.Name, "code", code, "ms", float64(took.Microseconds())/1000, "error", err)...)
		panic(http.ErrAbortHandler)
	}
}

// export writes a whole export.
func (a *API) export(ctx context.Context, out *exportWriter, x store.Export) (err error) {
	defer calls.PanicToError(&err)
	return export.Writer{
		Store: a.Store, WithLinks: a.withLinks, ReadTime: calls.Time,
		Places: a.reads.Users.Of(limits.Holder{Account: x.AccountID, Session: x.SessionID}),
	}.Write(ctx, x, out, out.flush)
}

// exportWriter calls begin before it writes for the first time.
type exportWriter struct {
	to     *pace.Writer
	client *calls.Client
	begin  func()
	begun  bool
}

func (o *exportWriter) Write(b []byte) (int, error) {
	o.start()
	defer o.client.Waits()()
	return o.to.Write(b)
}

func (o *exportWriter) flush() error {
	o.start()
	defer o.client.Waits()()
	return o.to.Flush()
}

func (o *exportWriter) start() {
	if !o.begun {
		o.begin()
		o.begun = true
	}
}
