package api

import (
	"context"
	"errors"
	"io"
	"math"
	"mime"
	"net/http"
	"net/netip"
	"os"
	"time"

	"gatherkit/internal/blob"
	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
)

const (
	// maxUploads is how many files come in at once: a quarter of them from one address,
	// half from one network, and three quarters for one account.
	maxUploads = 64
	// uploadStall is how long the sender of a file may stand still.
	uploadStall = 30 * time.Second
)

// upload takes a file's bytes to where it waits to be attached. Sent again, as the answer
// was lost, it is answered alike.
func (a *API) upload(c *call, token string) {
	a.cors.HandlerFunc(c.w, c.r)
	if isPreflight(c.r) {
		return
	}
	c.client = a.clientOf(c.r)
	a.answer(c, struct{}{}, a.receive(c, token))
}

func (a *API) receive(c *call, token string) (err error) {
	defer recovered(&err)
	if c.r.Method != http.MethodPut {
		c.w.Header().Set("Allow", http.MethodPut)
		return feedback.ErrMethodNotAllowed.With("Files are sent with PUT.")
	}
	link, ok := parseLink(a.linkKey, toSend, token, a.Now())
	if !ok || a.Files == nil {
		return feedback.ErrUploadNotFound
	}
	release, err := a.uploads.wait(c.r.Context(), c.client.from, link.accountID)
	if err != nil {
		return err
	}
	defer release()
	// By when the link says that the bytes can be sent, they have to be here.
	ctx, cancel := context.WithTimeout(c.r.Context(), link.until.Std().Sub(a.Now()))
	defer cancel()
	u, err := inTime(ctx, func(ctx context.Context) (feedback.Upload, error) {
		return a.Store.Upload(ctx, link.accountID, link.fileID)
	})
	if err != nil {
		return err
	}
	body := newPieces(io.LimitReader(c.r.Body, u.Size+1), c.w)
	body.pace.until, _ = ctx.Deadline() // which a read of the body does not see
	come := u.Ready || u.RequestID != nil
	if come {
		_, err = io.Copy(io.Discard, body)
	} else {
		err = a.Files.Receive(ctx, u.ID, body)
	}
	switch {
	case errors.Is(body.err, os.ErrDeadlineExceeded):
		return feedback.ErrRequestTimeout
	case body.err != nil:
		return feedback.ErrInvalidFile.With("The file broke off before its end.")
	case err != nil || come:
		return err
	}
	return a.acceptFile(ctx, link.accountID, u)
}

// sendingPlaces are the places for files that come in at once.
type sendingPlaces struct {
	callers, networks *fair.Pool[netip.Prefix]
	accounts          *fair.Pool[feedback.ID]
}

func newSendingPlaces() sendingPlaces {
	return sendingPlaces{
		fair.New[netip.Prefix](math.MaxInt64, maxUploads/4), fair.New[netip.Prefix](math.MaxInt64, maxUploads/2),
		fair.New[feedback.ID](maxUploads, maxUploads*3/4),
	}
}

// of returns the claim of a caller that sends a file to an account.
func (p sendingPlaces) of(caller netip.Prefix, account feedback.ID) fair.Claims {
	return fair.Claims{p.callers.For(caller), p.networks.For(fair.Network(caller)), p.accounts.For(account)}
}

// wait waits for a place, for as long as a call may take. A sender that waits for its own
// share takes nothing from its network's and its account's meanwhile.
func (p sendingPlaces) wait(ctx context.Context, caller netip.Prefix, account feedback.ID) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	claims := p.of(caller, account)
	if claims.Acquire(ctx, 1) != nil {
		return nil, feedback.ErrUnavailable.With("Too many files are being sent at once; send this one again shortly.")
	}
	return func() { claims.Release(1) }, nil
}

// pieces reads a body that has to keep the pace.
type pieces struct {
	from    io.Reader
	control *http.ResponseController
	pace    pace
	err     error // that ended it before its end
}

func newPieces(from io.Reader, w http.ResponseWriter) *pieces {
	return &pieces{from: from, control: http.NewResponseController(w), pace: newPace(uploadStall)}
}

func (p *pieces) Read(b []byte) (int, error) {
	began := time.Now()
	last := p.pace.deadline(began)
	if err := unlessUnsupported(errors.Join(p.control.SetReadDeadline(last), p.control.SetWriteDeadline(last.Add(uploadStall)))); err != nil {
		return 0, err
	}
	n, err := p.from.Read(b)
	p.pace.passed(n, time.Since(began))
	if err != nil && !errors.Is(err, io.EOF) {
		p.err = err
	}
	return n, err
}

// attachment sends a file. It comes from somebody unknown, so browsers are told to keep
// it and not to show it, to believe its type, and to run nothing in it.
func (a *API) attachment(c *call, token string) {
	u, file, err := a.openFile(c, token)
	if err != nil {
		a.answer(c, nil, err)
		return
	}
	defer file.Close() //nolint:errcheck // it was read
	h := c.w.Header()
	h.Set("Content-Type", u.ContentType)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": feedback.SafeFilename(u.Filename, u.ContentType)}))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-site")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "private, max-age=3600")
	h.Set("ETag", `"`+u.ID.String()+`"`)
	c.w = newPacedWriter(c.w, downloadStall)
	a.serveWhole(c, file)
}

func (a *API) openFile(c *call, token string) (u feedback.Upload, file io.ReadSeekCloser, err error) {
	defer recovered(&err)
	if err := a.mustRead(c); err != nil {
		return feedback.Upload{}, nil, err
	}
	link, ok := parseLink(a.linkKey, toDownload, token, a.Now())
	if !ok || a.Files == nil {
		return feedback.Upload{}, nil, feedback.ErrUploadNotFound
	}
	ctx := c.r.Context()
	u, err = inTime(ctx, func(ctx context.Context) (feedback.Upload, error) {
		return a.Store.Upload(ctx, link.accountID, link.fileID)
	})
	if err != nil || u.RequestID == nil {
		return u, nil, errOr(err, feedback.ErrUploadNotFound)
	}
	file, err = a.Files.Open(ctx, u.ID)
	if errors.Is(err, blob.ErrNotFound) {
		err = feedback.ErrUploadNotFound
	}
	return u, file, err
}

func errOr(err, other error) error {
	if err == nil {
		return other
	}
	return err
}
