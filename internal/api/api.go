// Package api implements the operations of the service and serves them over HTTP. Each
// operation is a method that does not depend on HTTP. ops.go lists all operations, and
// there is a file for each kind of record. Only this file and http*.go use net/http.
package api

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/cors"

	"gatherkit/internal/blob"
	"gatherkit/internal/calls"
	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
	"gatherkit/internal/headers"
	"gatherkit/internal/limits"
	"gatherkit/internal/lists"
	"gatherkit/internal/mail"
	"gatherkit/internal/metrics"
	"gatherkit/internal/pages"
	"gatherkit/internal/params"
	"gatherkit/internal/password"
	"gatherkit/internal/sessions"
	"gatherkit/internal/spam"
	"gatherkit/internal/static"
	"gatherkit/internal/store"
	"gatherkit/internal/webhook"
)

const (
	maxPages    = 48 << 20 // bytes of all pages in memory; two thirds for one account, one third for one session
	rowBytes    = 40 << 10 // approximate maximum size of a request in a page
	openAPIPath = "openapi.json"
)

func init() { huma.ValidateStrictCasing = true } // otherwise {"Title": …} would be accepted as title

// Options are the dependencies and settings of the API.
type Options struct {
	Store          *store.Store
	Passwords      *password.Hasher
	Log            *slog.Logger
	QuietLog       bool // whether only calls that fail because of the service are logged
	Now            func() time.Time
	NewID          func() feedback.ID
	Metrics        prometheus.Registerer
	PublicURL      *url.URL // nil if none is configured
	TrustedProxies []netip.Prefix
	SubmitRate     int         // submissions per minute and address; the other rates follow from it; 0 = no limit
	Files          *blob.Store // nil if the service does not store files
	Webhooks       *webhook.Sender
	Mail           *mail.Sender // nil if the service sends no mail
	// Ending is closed when the service stops. Calls that wait for changes are answered then.
	Ending <-chan struct{}
}

// API is an http.Handler for all paths under /api/ and for its routes.
type API struct {
	Options
	cursors   lists.Cursors
	linkKey   []byte // signs links to files
	mailKey   []byte // signs links in mails
	rates     limits.Rates
	slow      slowLane
	bursts    spam.Bursts
	ops       map[string]*op
	order     []*op
	registry  huma.Registry
	openAPI   []byte
	document  http.Handler // serves openAPI
	server    *calls.Server
	decoding  *fair.Pool[netip.Prefix] // one place for each body that is being decoded
	reads     limits.Reads
	pages     *limits.Shares // in bytes
	strangers *limits.Shares // the same for pages that need no login; an app counts as an account
	routes    []route
	portals   *pages.Pages
	exports   *limits.Shares
	waits     *limits.Shares // of calls that wait for changes
	uploads   limits.UploadPlaces
	cors      *cors.Cors
}

// New returns an API.
func New(ctx context.Context, o Options) (*API, error) {
	processors := int64(runtime.GOMAXPROCS(0))
	a := &API{
		Options: o,
		rates:   limits.New(o.SubmitRate), slow: newSlowLane(), ops: map[string]*op{},
		decoding: fair.New[netip.Prefix](processors, max(1, processors/2)),
		reads:    limits.NewReads(int64(o.Store.ReadLanes()), int64(runtime.GOMAXPROCS(0))),
		pages:    limits.NewShares(maxPages, maxPages/3*2, maxPages/3), exports: limits.NewShares(maxExports, maxExports/2, maxExports/3),
		strangers: limits.NewShares(maxPages/3, maxPages/9, maxPages/9),
		waits:     limits.NewShares(math.MaxInt64, maxWaitsOfAccount, maxWaitsOfSession),
		uploads:   limits.NewUploadPlaces(),
		cors:      headers.CORS(),
	}
	var err error
	if a.server, err = calls.New(calls.Server{
		Log: o.Log, Quiet: o.QuietLog, NewID: o.NewID, PublicURL: o.PublicURL, Metrics: metrics.New(o.Metrics), Used: o.Store.Usage.Call,
		Proxies: &headers.Proxies{Trusted: o.TrustedProxies, Log: o.Log, Now: o.Now}, Unavailable: o.Store.Unavailable,
	}); err != nil {
		return nil, err
	}
	if a.cursors.Key, err = o.Store.Secret(ctx, "cursor"); err != nil {
		return nil, err
	}
	if a.linkKey, err = o.Store.Secret(ctx, "link"); err != nil {
		return nil, err
	}
	if a.mailKey, err = o.Store.Secret(ctx, mail.KeyName); err != nil {
		return nil, err
	}
	key, err := o.Store.Secret(ctx, "voter")
	if err != nil {
		return nil, err
	}
	a.portals = pages.New(pages.Options{
		Calls: a.server, Store: o.Store, Now: o.Now, Rates: a.rates, Reads: a.reads.Visitors, Memory: pages.NewMemory(maxPages / 3),
		Key: key, Cursors: a.cursors, MailKey: a.mailKey,
		Files: o.Files, FilePath: a.filePath,
	})
	a.routes = a.allRoutes()
	a.registry = huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	for _, operation := range a.operations() {
		operation.params = params.New(a.registry, operation.name, operation.takes)
		a.ops[operation.name] = &operation
		a.server.Metrics.Expect(operation.name)
		a.order = append(a.order, &operation)
	}
	if a.openAPI, err = openAPIOf(a.PublicURL); err != nil {
		return nil, err
	}
	a.document = static.Content(a.openAPI, map[string]string{
		"Content-Type": "application/json; charset=utf-8", "Cache-Control": "public, max-age=300",
	})
	return a, nil
}

// Starting returns a handler that answers all calls while the service starts: it is not available yet.
func Starting() http.Handler {
	widgets := headers.CORS()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		widgets.HandlerFunc(w, r)
		if headers.Preflight(r) {
			return
		}
		e := feedback.ErrUnavailable.With("The service is starting; try again shortly.")
		c := calls.Call{W: w, R: r}
		c.SetRetryAfter(e)
		w.Header().Set("Cache-Control", "no-store")
		text, _ := inJSON(failure{Error: errorBody{e.Code, e.Message}}) // the text is constant
		c.Send(e.Status, "application/json; charset=utf-8", text)
	})
}

// Hosts serves portals at hosts of their own, and everything else with next.
func (a *API) Hosts(next http.Handler) http.Handler { return a.portals.Hosts(next) }

// call is the state of one HTTP request.
type call struct {
	*calls.Call
	op     *op // nil if the operation does not exist
	client *client
}

// ServeHTTP implements http.Handler. All answers are JSON envelopes, except for the OpenAPI
// document, CORS preflights, and successful answers of the routes.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{Call: a.server.Begin(w, r)}
	for _, route := range a.routes {
		if rest, ok := strings.CutPrefix(r.URL.Path, route.path); ok {
			c.op, c.Name = route.op, route.op.name
			route.serve(c, rest)
			return
		}
	}
	name := strings.TrimPrefix(r.URL.Path, "/api/")
	c.op = a.ops[name]
	if c.op != nil {
		c.Name = c.op.name
	}
	preflight := headers.Preflight(r)
	if c.op != nil && c.op.guard == guardWidget {
		a.cors.HandlerFunc(w, r)
		if preflight {
			return
		}
	}
	switch {
	case preflight:
		w.WriteHeader(http.StatusNoContent) // no CORS headers, so that the browser does not send the call
		return
	case name == openAPIPath && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		a.document.ServeHTTP(w, r)
		return
	}
	text, err := a.run(c)
	a.send(c, text, err)
}

// setClient sets the sender of a call.
func (a *API) setClient(c *call) {
	c.SetClient()
	c.client = &client{Client: c.Client, cookie: c.R.Header.Get("X-Token-Transport") == "cookie"}
}

// run authenticates a call, reads its parameters, runs its operation and encodes the answer.
func (a *API) run(c *call) (text []byte, err error) {
	defer calls.PanicToError(&err)
	if c.R.Method != http.MethodPost {
		c.W.Header().Set("Allow", http.MethodPost)
		return nil, feedback.ErrMethodNotAllowed
	}
	if c.op == nil {
		return nil, feedback.ErrUnknownOperation
	}
	a.setClient(c)
	leave, err := c.Places.Enter(c.client.From)
	if err != nil {
		return nil, err
	}
	c.client.leave = sync.OnceFunc(leave)
	defer c.client.leave()
	who, err := a.authenticate(c)
	if err != nil {
		return nil, err
	}
	in, err := a.input(c)
	if err != nil {
		return nil, err
	}
	// The time to read the body does not count.
	ctx, cancel := context.WithTimeout(c.R.Context(), calls.Time)
	defer cancel()
	ctx, leave, err = a.enter(ctx, c, who)
	if err != nil {
		return nil, err
	}
	defer leave()
	if in, err = a.limit(ctx, who, in); err != nil {
		return nil, err
	}
	result, err := c.op.call(ctx, who, in)
	if err != nil {
		return nil, err
	}
	return inJSON(success{true, result}) // a long answer takes processor time, which others share
}

// enter waits for a place to read the database. Calls of visitors that only add something need none: what they read is
// little, and their rate is limited.
func (a *API) enter(ctx context.Context, c *call, who any) (on context.Context, leave func(), err error) {
	switch who := who.(type) {
	case caller:
		ctx = fair.By(ctx, who.Account.ID)
		return a.reads.Users.Of(limits.Holder{Account: who.Account.ID, Session: who.ID}).Enter(ctx)
	case visitor:
		ctx = fair.By(ctx, who.app.AccountID)
		if c.op.reads {
			return a.enterVisitor(ctx, who.app.ID, c.client)
		}
	}
	return ctx, func() {}, nil
}

// enterVisitor waits for a place of an app's visitors to read the database.
func (a *API) enterVisitor(ctx context.Context, app feedback.ID, c *client) (on context.Context, leave func(), err error) {
	return a.reads.Visitors.Of(limits.Visitor(app.String(), c.From)).Enter(ctx)
}

// input returns the call's parameters. Only a few bodies are decoded at once, because even a
// small body can contain many values, each of which takes memory. Addresses take turns, and
// a client that disconnects leaves the queue.
func (a *API) input(c *call) (any, error) {
	from := c.client.From
	body, held, err := c.ReadBody("application/json")
	defer c.Bodies.Release(from, held)
	if err != nil {
		return nil, err
	}
	if err := a.decoding.Acquire(c.R.Context(), from, 1); err != nil {
		return nil, err
	}
	defer a.decoding.Release(from, 1)
	return c.op.params.Decode(body)
}

// authenticate checks the credentials that the operation's guard requires. It returns the
// first argument of the operation: a *client, a caller or a visitor.
func (a *API) authenticate(c *call) (any, error) {
	ctx, cancel := context.WithTimeout(c.R.Context(), calls.Time)
	defer cancel()
	switch c.op.guard {
	case guardBearer:
		return a.callerOf(ctx, c)
	case guardWidget:
		// The limit applies before the key is looked up and the body is read, because both are costly.
		if err := a.rates.Keyed.Allow(c.client.From, 1, a.Now()); err != nil {
			return nil, err
		}
		key := c.R.Header.Get("X-API-Key")
		if key == "" {
			return nil, feedback.ErrMissingAPIKey
		}
		app, err := a.Store.AppByKey(ctx, key)
		if err == nil {
			c.Client.Account = app.AccountID
			c.Note("app", app.ID)
		}
		return visitor{c.client, app}, err
	}
	// Browsers send the cookie automatically, so calls with the cookie must come from the
	// dashboard's own pages.
	if cookie, err := c.R.Cookie(cookieName); err == nil && c.op.name == "auth-refresh" {
		if err := c.SameSite.Check(c.R); err != nil {
			return nil, feedback.ErrForbidden.With("A refresh with the cookie must come from a page of the dashboard.")
		}
		c.client.refresh = cookie.Value
	}
	token := headers.Bearer(c.R)
	if _, ok := feedback.ParseToken(feedback.RefreshToken, token); ok { // some clients send the access token with all calls
		c.client.refresh = token
	}
	return c.client, nil
}

// callerOf returns the user or the program that sends a call.
func (a *API) callerOf(ctx context.Context, c *call) (caller, error) {
	token := headers.Bearer(c.R)
	if token == "" {
		return caller{}, feedback.ErrMissingToken
	}
	if _, ok := feedback.ParseToken(feedback.ProgramToken, token); ok {
		return a.programOf(ctx, c, token)
	}
	session, err := a.Store.Sessions.Of(ctx, token)
	if err != nil {
		return caller{}, err
	}
	c.Client.Account = session.Account.ID
	c.Note("user", session.User.ID, "session", session.ID)
	if err := a.allowSession(c, session); err != nil {
		return caller{}, err
	}
	if !session.Role.Allows(c.op.role) {
		return caller{}, feedback.ErrForbidden.With("This operation needs the role %s or above; you have the role %s.", c.op.role, session.Role)
	}
	return caller{client: c.client, Session: session}, nil
}

// allowSession returns ErrRateLimited if a session makes too many calls. Calls from this machine are exempt, as they are
// from the limits of addresses.
func (a *API) allowSession(c *call, s sessions.Session) error {
	if c.client.From.Addr().IsLoopback() {
		return nil
	}
	return a.rates.Sessions.Allow(limits.Holder{Account: s.Account.ID, Session: s.ID}, 1, a.Now())
}

// success and failure are the two forms of the envelope.
type (
	success struct {
		OK     bool `json:"ok"`
		Result any  `json:"result"`
	}
	failure struct {
		OK    bool      `json:"ok"`
		Error errorBody `json:"error"`
	}
	errorBody struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
)

// answer sends the envelope, and records the call in metrics and log.
func (a *API) answer(c *call, result any, err error) {
	var text []byte
	if err == nil {
		text, err = inJSON(success{true, result})
	}
	a.send(c, text, err)
}

func inJSON(envelope any) ([]byte, error) {
	var text bytes.Buffer
	if err := params.WriteJSON(&text, envelope); err != nil { // a bug: results must be valid JSON
		return nil, fmt.Errorf("cannot encode the answer: %w", err)
	}
	return text.Bytes(), nil
}

// send sends the text of an answer, or that of an error.
func (a *API) send(c *call, text []byte, err error) {
	status, code := http.StatusOK, "ok"
	if err != nil {
		e := c.PublicError(err)
		status, code = e.Status, e.Code
		c.SetRetryAfter(e)
		if text, err = inJSON(failure{Error: errorBody{code, e.Message}}); err != nil {
			_ = c.PublicError(err) // logs it
			status, code = http.StatusInternalServerError, feedback.ErrInternal.Code
			text, _ = inJSON(failure{Error: errorBody{code, feedback.ErrInternal.Message}})
		}
	} else if c.client != nil && c.client.setCookie != nil {
		http.SetCookie(c.W, c.Cookie(cookieName, cookiePath, *c.client.setCookie, cookieLife))
	}
	c.Send(status, "application/json; charset=utf-8", text)
	c.Record(status, code)
}
