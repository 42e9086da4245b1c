package api

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"time"

	"gatherkit/internal/blob"
	"gatherkit/internal/calls"
	"gatherkit/internal/deadline"
	"gatherkit/internal/feedback"
	"gatherkit/internal/headers"
	"gatherkit/internal/pace"
	"gatherkit/internal/signed"
)

// uploadStall is how long the sender of a file may pause.
var uploadStall = deadline.Of(30 * time.Second)

// upload serves a link to upload a file. A repeated upload gets the same answer as the
// first one, in case that was lost.
func (a *API) upload(c *call, token string) {
	a.cors.HandlerFunc(c.W, c.R)
	if headers.Preflight(c.R) {
		return
	}
	a.setClient(c)
	a.answer(c, struct{}{}, a.receive(c, token))
}

func (a *API) receive(c *call, token string) (err error) {
	defer calls.PanicToError(&err)
	if c.R.Method != http.MethodPut {
		c.W.Header().Set("Allow", http.MethodPut)
		return feedback.ErrMethodNotAllowed.With("Use PUT to send a file.")
	}
	link, ok := signed.ParseFileLink(a.linkKey, signed.ForUpload, token, a.Now())
	if !ok || a.Files == nil {
		return feedback.ErrUploadNotFound
	}
	release, err := a.uploads.Wait(c.R.Context(), c.client.From, link.AccountID)
	if err != nil {
		return err
	}
	defer release()
	// The whole file must arrive before the link expires.
	ctx, cancel := context.WithTimeout(c.R.Context(), link.Until.Std().Sub(a.Now()))
	defer cancel()
	u, err := withTimeout(ctx, func(ctx context.Context) (feedback.Upload, error) {
		return a.Store.Uploads.GetOutside(ctx, link.AccountID, link.FileID)
	})
	if err != nil {
		return err
	}
	c.Client.Account = link.AccountID
	body := pace.NewReader(io.LimitReader(c.R.Body, u.Size+1), c.W, uploadStall)
	body.Until, _ = ctx.Deadline() // because reading the body ignores ctx
	arrived := c.client.Waits()
	stored := u.Ready || u.RequestID != nil
	if stored {
		_, err = io.Copy(io.Discard, body)
	} else {
		err = a.Files.Receive(ctx, u.ID, body, min(c.R.ContentLength, u.Size+1)) // -1 if it is not known
	}
	arrived()
	switch {
	case errors.Is(body.Err(), os.ErrDeadlineExceeded):
		return feedback.ErrRequestTimeout
	case body.Err() != nil:
		return feedback.ErrInvalidFile.With("The connection was closed before the whole file arrived.")
	case err != nil || stored:
		return a.server.Metrics.FileError("receive", err)
	}
	return a.acceptFile(ctx, link.AccountID, u)
}

// attachment serves a link to download a file. Files come from strangers, so the headers
// tell browsers to save the file instead of showing it, not to guess its type, and not to
// run anything in it.
func (a *API) attachment(c *call, token string) {
	u, file, err := a.openFile(c, token)
	if err != nil {
		a.answer(c, nil, err)
		return
	}
	defer file.Close() //nolint:errcheck // the file was only read
	h := c.W.Header()
	h.Set("Content-Type", u.ContentType)
	name := feedback.SafeFilename(u.Filename, u.ContentType)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-site")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "private, max-age=3600")
	h.Set("ETag", `"`+u.ID.String()+`"`)
	c.W = pace.NewWriter(c.W, downloadStall)
	a.serveContent(c, file)
}

func (a *API) openFile(c *call, token string) (u feedback.Upload, file io.ReadSeekCloser, err error) {
	defer calls.PanicToError(&err)
	if err := c.RequireGET(); err != nil {
		return feedback.Upload{}, nil, err
	}
	link, ok := signed.ParseFileLink(a.linkKey, signed.ForDownload, token, a.Now())
	if !ok || a.Files == nil {
		return feedback.Upload{}, nil, feedback.ErrUploadNotFound
	}
	a.setClient(c)
	ctx := c.R.Context()
	u, err = withTimeout(ctx, func(ctx context.Context) (feedback.Upload, error) {
		return a.Store.Uploads.GetOutside(ctx, link.AccountID, link.FileID)
	})
	if err == nil && u.RequestID == nil {
		err = feedback.ErrUploadNotFound
	}
	if err != nil {
		return u, nil, err
	}
	c.Client.Account = link.AccountID
	file, err = a.Files.Open(ctx, u.ID)
	if errors.Is(err, blob.ErrNotFound) {
		a.server.Metrics.MissingFiles.Inc()
		a.Log.Warn("the content of an attached file is missing", c.Logged("file", u.ID, "request", u.RequestID)...)
		return u, nil, feedback.ErrUploadNotFound
	}
	return u, file, a.server.Metrics.FileError("open", err)
}
