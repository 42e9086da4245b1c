// Package pages serves the portals of apps: pages for people outside, and what they send with forms. A page needs
// no script, and shows one state of the database.
package pages

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"gatherkit/internal/blob"
	"gatherkit/internal/board"
	"gatherkit/internal/calls"
	"gatherkit/internal/feedback"
	"gatherkit/internal/headers"
	"gatherkit/internal/limits"
	"gatherkit/internal/lists"
	"gatherkit/internal/portal"
	"gatherkit/internal/spam"
	"gatherkit/internal/store"
	"gatherkit/internal/visitors"
)

// Options are what the pages need.
type Options struct {
	Calls *calls.Server
	Store *store.Store
	Now   func() time.Time
	Rates limits.Rates
	Key   []byte // signs the cookies of visitors who are not signed in
	// Cursors sign the cursors of calls with an API key.
	Cursors lists.Cursors
	// MailKey signs links in mails.
	MailKey []byte
	Files   *blob.Store // nil if the service does not store files
	// FilePath returns the path of a file of an account, which works for a while.
	FilePath func(accountID, id feedback.ID) string
	// Memory limits what the pages that are being made take, and Reads how many read the database.
	Memory, Reads *limits.Shares
}

// Pages serves the portals.
type Pages struct {
	Options
	strangers limits.Strangers
	bursts    spam.Bursts
}

// New returns the pages.
func New(o Options) *Pages { return &Pages{Options: o, strangers: limits.NewStrangers()} }

// visit is a call of a page.
type visit struct {
	*calls.Call
	pages *Pages
	at    visitors.At
	home  string // path of the board, with a slash at its end
	who   board.Credentials
	sent  string // what the visitor has just sent, and is not yet thanked for

	view *board.View
	site portal.Site
}

// rendered is a page.
type rendered interface {
	Render(acceptLanguage string) ([]byte, error)
}

// answer is what a visit is answered with: a page, another file, or the path of another page of the portal.
type answer struct {
	page    rendered
	file    []byte
	draw    func() ([]byte, error) // makes the file when the database is no longer read
	media   string
	next    *string // path below home
	moved   bool    // next is the address of the page from now on
	away    string  // an address outside the portal
	refused *feedback.Error
}

// Path is where portals without a host of their own are: below /p/{slug}/.
const Path = "/p/"

// ServeBelow answers a call of a page below Path.
func (p *Pages) ServeBelow(c *calls.Call, rest string) {
	slug, name, found := strings.Cut(rest, "/")
	if !found { // relative links need the slash
		c.W.Header().Set("Location", c.PublicPath()+Path+slug+"/")
		c.Send(http.StatusPermanentRedirect, "text/plain; charset=utf-8", nil)
		c.Record(http.StatusPermanentRedirect, "ok")
		return
	}
	p.Serve(c, visitors.At{Slug: slug}, name)
}

// Serve answers a call of a page of the portal at a place. name is its path below the portal.
func (p *Pages) Serve(c *calls.Call, at visitors.At, name string) {
	v := &visit{Call: c, pages: p, at: at, home: "/"}
	if at.Host == "" {
		v.home = c.PublicPath() + Path + at.Slug + "/"
	}
	c.Name = "portal-page"
	c.SetClient()
	defer func() { v.Client.Memory.Shrink(0) }()
	a, err := v.answer(name)
	v.send(a, err)
}

func (v *visit) answer(name string) (a answer, err error) {
	defer calls.PanicToError(&err)
	leave, err := v.Places.Enter(v.Client.From)
	if err != nil {
		return a, err
	}
	defer leave()
	if err := v.pages.Rates.Keyed.Allow(v.Client.From, 1, v.pages.Now()); err != nil {
		return a, err
	}
	v.readCookies()
	ctx, cancel := context.WithTimeout(v.R.Context(), calls.BodyTime+calls.Time)
	defer cancel()
	switch v.R.Method {
	case http.MethodGet, http.MethodHead:
		if err := v.pages.hold(ctx, v.Client, v.at, sizeOf(name)); err != nil {
			return a, err
		}
		return v.get(ctx, name)
	case http.MethodPost:
		return v.post(ctx, name)
	}
	v.W.Header().Set("Allow", "GET, HEAD, POST")
	return a, feedback.ErrMethodNotAllowed.With("Use GET or POST for this page.")
}

const (
	rowBytes  = 40 << 10                   // about as much as the texts of an idea or a comment can take
	pageBytes = (boardPage + 2) * rowBytes // the page with the most long texts is the board, which reads one more idea
	cardBytes = 2 * pageBytes              // a picture is drawn with a byte for each pixel, and then compressed
)

// NewMemory returns the memory of pages: total bytes, of which a portal has a third, and an address two pages.
func NewMemory(total int64) *limits.Shares { return limits.NewShares(total, total/3, 2*pageBytes) }

// sizeOf returns how much memory a page below the portal takes at most.
func sizeOf(name string) int64 {
	if strings.HasPrefix(name, "card/") {
		return cardBytes
	}
	return pageBytes
}

// holder is a visitor of a portal, among those who share its memory and its places to read.
func holder(of visitors.At, c *calls.Client) limits.Holder {
	return limits.Visitor(of.Host+"/"+of.Slug, c.From)
}

// hold waits for the memory of a page, and holds it until the page is sent. Each portal and each address has a share.
// A form has arrived before: a slow sender holds nothing that others need.
func (p *Pages) hold(ctx context.Context, c *calls.Client, of visitors.At, size int64) error {
	memory := calls.Memory{Claims: p.Memory.Of(holder(of, c)), Bytes: size}
	if err := memory.Claims.Acquire(ctx, memory.Bytes); err != nil {
		return err
	}
	c.Memory = memory
	return nil
}

// errUnchanged says that the browser has the page already.
var errUnchanged = errors.New("the page is unchanged")

// read calls read with the state of the portal.
func (v *visit) read(ctx context.Context, read func(context.Context) error) error {
	ctx, leave, err := v.pages.Reads.Of(holder(v.at, v.Client)).Enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	view, err := v.pages.Store.Board.Read(ctx, v.at, v.who, func(ctx context.Context, view *board.View) (err error) {
		v.view, v.site = view, v.siteOf(view)
		v.Client.Account = view.App.AccountID
		if v.site.Changelog, err = view.HasEntries(ctx); err != nil {
			return err
		}
		return read(ctx)
	})
	if errors.Is(err, feedback.ErrSignInNeeded) {
		v.view, v.site = view, v.siteOf(view)
	}
	return err
}

// siteOf returns what all pages of the portal have in common.
func (v *visit) siteOf(view *board.View) portal.Site {
	app := view.App
	set := app.Settings.Portal
	s := portal.Site{
		ID: app.ID, App: app.PublicName(), Color: app.Settings.Widget.PrimaryColor, Home: v.home, Files: v.root() + "/portal/",
		Address: v.address(), Theme: set.Theme, Locale: set.Locale, Intro: set.Intro, Logo: set.LogoName(), Statuses: app.Settings.Statuses,
		Indexed: set.Access == feedback.AccessPublic && set.Index, Roadmap: len(app.Settings.Roadmap()) > 0,
		Submits: set.Submit.From(view.Person != nil) || set.Submit == feedback.FromVerified && set.SignInURL != "",
		Votes:   set.Voting, Comments: set.Comments, SignIn: set.SignInURL != "",
		Moderated: set.Holds(view.Person != nil),
	}
	if p := view.Person; p != nil {
		s.Visitor = &portal.Visitor{}
		if p.Name != nil {
			s.Visitor.Name = *p.Name
		}
	}
	return s
}

// root is the path of the service on the host of the portal, without a slash at its end.
func (v *visit) root() string {
	if v.at.Host != "" {
		return ""
	}
	return v.PublicPath()
}

// address is that of the board, or "" if the service does not know its own.
func (v *visit) address() string {
	switch {
	case v.at.Host != "":
		return v.AddressOf(v.at.Host)
	case v.PublicURL == nil:
		return ""
	}
	return v.PublicURL.Scheme + "://" + v.PublicURL.Host + v.home
}

// send sends the answer.
func (v *visit) send(a answer, err error) {
	h := v.W.Header()
	var embed []string
	if v.view != nil {
		embed = v.view.App.Settings.Portal.FrameAncestors
	}
	maps.Copy(h, v.site.Headers(embed))
	h.Set("Vary", "Accept-Encoding, Accept-Language, Cookie")
	if errors.Is(err, errUnchanged) {
		v.Client.Memory.Shrink(0)
		v.W.WriteHeader(http.StatusNotModified)
		v.Record(http.StatusNotModified, "ok")
		return
	}
	status, code := http.StatusOK, "ok"
	if err != nil {
		a.refused = v.PublicError(err)
		a.page, a.next = v.failure(a.refused), nil
	}
	if a.refused != nil {
		status, code = a.refused.Status, a.refused.Code
		v.SetRetryAfter(a.refused)
		h.Del("ETag")
		h.Set("Cache-Control", "no-store")
	}
	if a.next != nil || a.away != "" {
		v.redirect(a)
		return
	}
	media := a.media
	if a.page != nil {
		a.draw, media = func() ([]byte, error) { return a.page.Render(v.R.Header.Get("Accept-Language")) }, htmlType
	}
	text, err := a.body()
	if err != nil {
		v.Log.Error("cannot render a page", v.Logged("error", err)...)
		status, code, text, media = http.StatusInternalServerError, feedback.ErrInternal.Code, []byte(feedback.ErrInternal.Message), plainType
		h.Del("ETag")
		h.Set("Cache-Control", "no-store")
	}
	if headers.AcceptsGzip(v.R.Header.Values("Accept-Encoding")) && media != pictureType {
		h.Set("Content-Encoding", "gzip")
		text = compressed(text)
	}
	v.Send(status, media, text)
	v.Record(status, code)
}

// body returns the file of an answer.
func (a answer) body() ([]byte, error) {
	if a.draw == nil {
		return a.file, nil
	}
	return drawn(a.draw)
}

// drawn returns what draw makes, or an error if it panics: texts of strangers must not do more than that.
func drawn(draw func() ([]byte, error)) (file []byte, err error) {
	defer calls.PanicToError(&err)
	return draw()
}

// redirect sends the browser to another page.
func (v *visit) redirect(a answer) {
	status, to := http.StatusSeeOther, a.away
	if a.next != nil {
		to = v.home + *a.next
	}
	if a.moved {
		status = http.StatusMovedPermanently
	}
	h := v.W.Header()
	h.Del("ETag")
	h.Set("Location", to)
	h.Set("Cache-Control", "no-store")
	v.Send(status, plainType, nil)
	v.Record(status, "ok")
}

// writers compress pages. Each needs much memory, so they are used again.
var writers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

func compressed(text []byte) []byte {
	var b bytes.Buffer
	w, _ := writers.Get().(*gzip.Writer)
	defer writers.Put(w)
	w.Reset(&b)
	_, _ = w.Write(text) // to memory, so it cannot fail
	_ = w.Close()
	return b.Bytes()
}

// isAt reports whether the page that the visitor wants is at a path, which is escaped.
func (v *visit) isAt(page string) bool {
	wanted, _, _ := strings.Cut(v.wanted(), "?")
	unescaped, err := url.PathUnescape(page)
	return err == nil && wanted == unescaped
}

// failure returns the page that says why a call failed.
func (v *visit) failure(e *feedback.Error) rendered {
	switch {
	case errors.Is(e, feedback.ErrSignInNeeded) && v.view != nil:
		return portal.SignInPage{Site: v.site, To: v.signInAddress(v.wanted()), Private: true}
	case e.Status == http.StatusNotFound:
		return portal.Missing{Site: v.missingSite()}
	}
	return portal.Problem{Site: v.missingSite(), Error: e}
}

// missingSite is the site of pages that may have none: nobody learns from them whether there is a portal.
func (v *visit) missingSite() portal.Site {
	if v.site.Home == "" {
		return portal.Site{Home: v.home, Files: v.root() + "/portal/", Theme: "auto"}
	}
	return v.site
}

// wanted is the path of the page that the visitor wants, below the portal.
func (v *visit) wanted() string {
	name := strings.TrimPrefix(v.R.URL.Path, "/")
	if v.at.Host == "" {
		name = strings.TrimPrefix(name, "p/"+v.at.Slug)
		name = strings.TrimPrefix(name, "/")
	}
	if v.R.URL.RawQuery != "" {
		name += "?" + v.R.URL.RawQuery
	}
	return name
}
