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
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/cors"

	"gatherkit/internal/blob"
	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
	"gatherkit/internal/headers"
	"gatherkit/internal/limits"
	"gatherkit/internal/lists"
	"gatherkit/internal/mail"
	"gatherkit/internal/metrics"
	"gatherkit/internal/openapi"
	"gatherkit/internal/pace"
	"gatherkit/internal/params"
	"gatherkit/internal/password"
	"gatherkit/internal/spam"
	"gatherkit/internal/store"
	"gatherkit/internal/webhook"
)

const (
	maxBody     = 256 << 10
	bodyChunk   = 16 << 10 // the first chunk of each body does not count towards maxBodies
	maxBodies   = 32 << 20 // bytes of all bodies in memory; a quarter for one address
	maxPages    = 48 << 20 // bytes of all pages in memory; two thirds for one account, one third for one session
	rowBytes    = 40 << 10 // approximate maximum size of a request in a page
	drain       = 4 << 20  // bytes read after maxBody, because many clients read the answer only after they have sent the body
	bodyTime    = 30 * time.Second
	callTime    = 15 * time.Second
	openAPIPath = "openapi.json"
	// answerTime limits the time to send a page, and answerStall the time that its reader
	// may pause.
	answerTime, answerStall = time.Minute, 20 * time.Second
)

func init() { huma.ValidateStrictCasing = true } // otherwise {"Title": …} would be accepted as title

// Options are the dependencies and settings of the API.
type Options struct {
	Store          *store.Store
	Passwords      *password.Hasher
	Log            *slog.Logger
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
	metrics   metrics.Metrics
	bodies    *fair.Pool[netip.Prefix]
	decoding  *fair.Pool[netip.Prefix] // one place for each body that is being decoded
	pages     *limits.Shares           // in bytes
	strangers *limits.Shares           // the same for pages that need no login; an app counts as an account
	routes    []route
	exports   *limits.Shares
	waits     *limits.Shares // of calls that wait for changes
	uploads   limits.UploadPlaces
	calls     limits.CallPlaces
	cors      *cors.Cors
	sameSite  *http.CrossOriginProtection
	proxies   *headers.Proxies
}

// New returns an API.
func New(ctx context.Context, o Options) (*API, error) {
	processors := int64(runtime.GOMAXPROCS(0))
	a := &API{
		Options: o,
		rates:   limits.New(o.SubmitRate), slow: newSlowLane(), ops: map[string]*op{}, metrics: metrics.New(o.Metrics),
		bodies: fair.New[netip.Prefix](maxBodies, maxBodies/4), decoding: fair.New[netip.Prefix](processors, max(1, processors/2)),
		pages: limits.NewShares(maxPages, maxPages/3*2, maxPages/3), exports: limits.NewShares(maxExports, maxExports/2, maxExports/3),
		strangers: limits.NewShares(maxPages/3, maxPages/9, maxPages/9),
		waits:     limits.NewShares(maxWaits, maxWaits/4, maxWaitsOfSession),
		uploads:   limits.NewUploadPlaces(), calls: limits.NewCallPlaces(), sameSite: http.NewCrossOriginProtection(),
		cors: headers.CORS(), proxies: &headers.Proxies{Trusted: o.TrustedProxies, Log: o.Log},
	}
	var err error
	if o.PublicURL != nil { // the page's origin is compared with Host, which a proxy may have changed
		if err := a.sameSite.AddTrustedOrigin(o.PublicURL.Scheme + "://" + o.PublicURL.Host); err != nil {
			return nil, err
		}
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
	a.routes = a.allRoutes()
	a.registry = huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	for _, operation := range a.operations() {
		operation.params = params.New(a.registry, operation.name, operation.takes)
		a.ops[operation.name] = &operation
		a.metrics.Expect(operation.name)
		a.order = append(a.order, &operation)
	}
	a.openAPI, err = openapi.Document(a.registry, a.serverURL(), a.described())
	return a, err
}

// call is the state of one HTTP request.
type call struct {
	w         http.ResponseWriter
	r         *http.Request
	op        *op // nil if the operation does not exist
	requestID string
	began     time.Time
	client    *client
	notes     []any // names and values for the log
}

// ServeHTTP implements http.Handler. All answers are JSON envelopes, except for the OpenAPI
// document, CORS preflights, and successful answers of the routes.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{w: w, r: r, requestID: a.NewID().String(), began: time.Now()}
	c.note("request_id", c.requestID)
	if id := metrics.TraceID(r.Header.Get("Traceparent")); id != "" {
		c.note("trace_id", id)
	}
	w.Header().Set("X-Request-Id", c.requestID)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	for _, route := range a.routes {
		if rest, ok := strings.CutPrefix(r.URL.Path, route.path); ok {
			c.op = route.op
			route.serve(c, rest)
			return
		}
	}
	name := strings.TrimPrefix(r.URL.Path, "/api/")
	c.op = a.ops[name]
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
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Cache-Control", "public, max-age=300")
		_, _ = w.Write(a.openAPI)
		return
	}
	result, err := a.run(c)
	a.answer(c, result, err)
}

// run authenticates a call, reads its parameters and runs its operation.
func (a *API) run(c *call) (result any, err error) {
	defer panicToError(&err)
	if c.r.Method != http.MethodPost {
		c.w.Header().Set("Allow", http.MethodPost)
		return nil, feedback.ErrMethodNotAllowed
	}
	if c.op == nil {
		return nil, feedback.ErrUnknownOperation
	}
	a.setClient(c)
	leave, err := a.calls.Enter(c.client.from)
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
	ctx, cancel := context.WithTimeout(c.r.Context(), callTime)
	defer cancel()
	if in, err = a.limit(ctx, who, in); err != nil {
		return nil, err
	}
	return c.op.call(ctx, who, in)
}

// panicToError recovers from a panic in the function that defers it and stores it in *err.
func panicToError(err *error) { //nolint:gocritic // a deferred function cannot return the error
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
	}
}

// authenticate checks the credentials that the operation's guard requires. It returns the
// first argument of the operation: a *client, a caller or a visitor.
func (a *API) authenticate(c *call) (any, error) {
	ctx, cancel := context.WithTimeout(c.r.Context(), callTime)
	defer cancel()
	switch c.op.guard {
	case guardBearer:
		return a.callerOf(ctx, c)
	case guardWidget:
		// The limit applies before the key is looked up and the body is read, because both are costly.
		if err := a.rates.Keyed.Allow(c.client.from, 1, a.Now()); err != nil {
			return nil, err
		}
		key := c.r.Header.Get("X-API-Key")
		if key == "" {
			return nil, feedback.ErrMissingAPIKey
		}
		app, err := a.Store.AppByKey(ctx, key)
		if err == nil {
			c.note("account", app.AccountID, "app", app.ID)
		}
		return visitor{c.client, app}, err
	}
	// Browsers send the cookie automatically, so calls with the cookie must come from the
	// dashboard's own pages.
	if cookie, err := c.r.Cookie(cookieName); err == nil && c.op.name == "auth-refresh" {
		if err := a.sameSite.Check(c.r); err != nil {
			return nil, feedback.ErrForbidden.With("A refresh with the cookie must come from a page of the dashboard.")
		}
		c.client.refresh = cookie.Value
	}
	token := headers.Bearer(c.r)
	if _, ok := feedback.ParseToken(feedback.RefreshToken, token); ok { // some clients send the access token with all calls
		c.client.refresh = token
	}
	return c.client, nil
}

// callerOf returns the user or the program that sends a call.
func (a *API) callerOf(ctx context.Context, c *call) (caller, error) {
	token := headers.Bearer(c.r)
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
	c.note("account", session.Account.ID, "user", session.User.ID, "session", session.ID)
	if !session.Role.Allows(c.op.role) {
		return caller{}, feedback.ErrForbidden.With("This operation needs the role %s or above; you have the role %s.", c.op.role, session.Role)
	}
	return caller{client: c.client, Session: session}, nil
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
	status, code := http.StatusOK, "ok"
	var envelope any = success{true, result}
	if err != nil {
		e := a.publicError(c, err)
		status, code = e.Status, e.Code
		envelope = failure{Error: errorBody{code, e.Message}}
		setRetryAfter(c.w, e)
	} else if c.client.setCookie != nil {
		http.SetCookie(c.w, a.cookie(cookieName, cookiePath, *c.client.setCookie, cookieLife))
	}
	var text bytes.Buffer
	if err := params.WriteJSON(&text, envelope); err != nil { // a bug: results must be valid JSON
		a.Log.Error("cannot encode the answer", c.logged("error", err)...)
		status, code = http.StatusInternalServerError, feedback.ErrInternal.Code
		text.Reset()
		fmt.Fprintf(&text, `{"ok":false,"error":{"code":%q,"message":%q}}`, code, feedback.ErrInternal.Message)
	}
	a.send(c, status, "application/json; charset=utf-8", text.Bytes())
	name := "unknown"
	if c.op != nil {
		name = c.op.name
	}
	a.record(c, name, status, code)
}

// setRetryAfter tells the client when to try again, if the error does.
func setRetryAfter(w http.ResponseWriter, e *feedback.Error) {
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
	}
}

// send sends an answer.
func (a *API) send(c *call, status int, mediaType string, text []byte) {
	if c.client != nil {
		// The page now holds only its actual size. Slow readers are disconnected, so that they
		// do not hold it for long.
		c.client.memory.shrink(int64(len(text)))
		defer c.client.memory.shrink(0)
		if c.client.memory.bytes > 0 {
			paced := pace.NewWriter(c.w, answerStall)
			paced.Until = time.Now().Add(answerTime)
			c.w = paced
		}
	}
	c.w.Header().Set("Content-Type", mediaType)
	c.w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	c.w.WriteHeader(status)
	_, _ = c.w.Write(text) // fails only if the client has disconnected
}
