// Package api is the service's operations and the HTTP around them. An operation
// is a method that knows nothing of HTTP: ops.go lists them, a file per noun holds
// them, and this file alone speaks HTTP.
package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"net/url"
	"os"
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
	"gatherkit/internal/password"
	"gatherkit/internal/store"
)

const (
	maxBody     = 256 << 10
	bodyChunk   = 16 << 10 // the first of a body is read without asking, each further one counts
	maxBodies   = 32 << 20 // bytes of larger bodies that are held at once, a quarter of them for one address
	maxPages    = 48 << 20 // bytes of pages that are held at once; two thirds for an account, one for a session
	rowBytes    = 40 << 10 // about the most that a request takes in a page
	drain       = 4 << 20  // read beyond maxBody, so that a client that sends first gets to see the refusal
	bodyTime    = 30 * time.Second
	callTime    = 15 * time.Second
	openAPIPath = "openapi.json"
	// answerTime is how long a page may take to be sent, and answerStall how long its
	// reader may stand still.
	answerTime, answerStall = time.Minute, 20 * time.Second
)

func init() { huma.ValidateStrictCasing = true } // or {"Title": …} passes as title

// Options are what the API depends on.
type Options struct {
	Store          *store.Store
	Passwords      *password.Hasher
	Log            *slog.Logger
	Now            func() time.Time
	NewID          func() feedback.ID
	Metrics        prometheus.Registerer
	PublicURL      *url.URL // nil when none is configured
	TrustedProxies []netip.Prefix
	SubmitRate     int         // submissions a minute and address, by which the other rates go; 0 = no limit
	Files          *blob.Store // nil when there is no place for files
}

// API answers every path under /api/, and those of its doors.
type API struct {
	Options
	cursorKey []byte
	linkKey   []byte // signs links to files
	rates     rates
	slow      slowLane
	bursts    bursts
	ops       map[string]*op
	order     []*op
	registry  huma.Registry
	openAPI   []byte
	metrics   metrics
	bodies    *fair.Pool[netip.Prefix]
	decoding  *fair.Pool[netip.Prefix] // a place for each body that is being decoded
	pages     *shares                  // in bytes
	doors     []door
	exports   *shares
	uploads   sendingPlaces
	calls     callPlaces
	cors      *cors.Cors
	sameSite  *http.CrossOriginProtection
	warned    struct{ loopback, private, others sync.Once } // of proxies that nobody has named
}

// New returns the API on a store.
func New(ctx context.Context, o Options) (*API, error) {
	processors := int64(runtime.GOMAXPROCS(0))
	a := &API{
		Options: o,
		rates:   newRates(o.SubmitRate), slow: newSlowLane(), ops: map[string]*op{}, metrics: newMetrics(o.Metrics),
		bodies: fair.New[netip.Prefix](maxBodies, maxBodies/4), decoding: fair.New[netip.Prefix](processors, max(1, processors/2)),
		pages: newShares(maxPages, maxPages/3*2, maxPages/3), exports: newShares(maxExports, maxExports/2, maxExports/3),
		uploads: newSendingPlaces(), calls: newCallPlaces(), sameSite: http.NewCrossOriginProtection(),
		cors: newCORS(),
	}
	var err error
	if o.PublicURL != nil { // a proxy may have changed the Host that the page's origin is compared with
		if err := a.sameSite.AddTrustedOrigin(o.PublicURL.Scheme + "://" + o.PublicURL.Host); err != nil {
			return nil, err
		}
	}
	if a.cursorKey, err = o.Store.Secret(ctx, "cursor"); err != nil {
		return nil, err
	}
	if a.linkKey, err = o.Store.Secret(ctx, "link"); err != nil {
		return nil, err
	}
	a.doors = a.allDoors()
	a.registry = huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	for _, operation := range a.operations() {
		operation.params = newParams(a.registry, operation.name, operation.takes)
		a.ops[operation.name] = &operation
		a.order = append(a.order, &operation)
	}
	a.openAPI, err = a.document()
	return a, err
}

// call is one request on its way through.
type call struct {
	w         http.ResponseWriter
	r         *http.Request
	op        *op // nil when there is no such operation
	requestID string
	began     time.Time
	client    *client
}

// ServeHTTP answers with the envelope whatever happens, except for the OpenAPI
// document, CORS preflights, and what the doors let out.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{w: w, r: r, requestID: a.NewID().String(), began: time.Now()}
	w.Header().Set("X-Request-Id", c.requestID)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	for _, d := range a.doors {
		if rest, ok := strings.CutPrefix(r.URL.Path, d.path); ok {
			c.op = d.op
			d.open(c, rest)
			return
		}
	}
	name := strings.TrimPrefix(r.URL.Path, "/api/")
	c.op = a.ops[name]
	preflight := isPreflight(r)
	if c.op != nil && c.op.guard == guardWidget {
		a.cors.HandlerFunc(w, r)
		if preflight {
			return
		}
	}
	switch {
	case preflight:
		w.WriteHeader(http.StatusNoContent) // without the headers that would allow it
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

// run takes a call from its headers to its result.
func (a *API) run(c *call) (result any, err error) {
	defer recovered(&err)
	if c.r.Method != http.MethodPost {
		c.w.Header().Set("Allow", http.MethodPost)
		return nil, feedback.ErrMethodNotAllowed
	}
	if c.op == nil {
		return nil, feedback.ErrUnknownOperation
	}
	c.client = a.clientOf(c.r)
	leave, err := a.calls.enter(c.client.from)
	if err != nil {
		return nil, err
	}
	defer leave()
	who, err := a.authenticate(c)
	if err != nil {
		return nil, err
	}
	in, err := a.input(c)
	if err != nil {
		return nil, err
	}
	// A slow body does not use up the operation's own time.
	ctx, cancel := context.WithTimeout(c.r.Context(), callTime)
	defer cancel()
	return c.op.call(ctx, who, in)
}

// recovered makes a panic an error, of the function that defers it.
func recovered(err *error) { //nolint:gocritic // which has nothing to return by
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
	}
}

// authenticate returns who calls, as the operation's guard demands.
func (a *API) authenticate(c *call) (any, error) {
	ctx, cancel := context.WithTimeout(c.r.Context(), callTime)
	defer cancel()
	switch c.op.guard {
	case guardBearer:
		token := bearerToken(c.r)
		if token == "" {
			return nil, feedback.ErrMissingToken
		}
		session, err := a.Store.Session(ctx, token)
		if err != nil {
			return nil, err
		}
		if !session.Role.Allows(c.op.role) {
			return nil, feedback.ErrForbidden.With("This operation needs the role %s or above; you have the role %s.", c.op.role, session.Role)
		}
		return caller{c.client, session}, nil
	case guardWidget:
		// Before the key is looked up and the body is read: both cost something.
		if err := a.rates.keyed.allow(c.client.from, 1, a.Now()); err != nil {
			return nil, err
		}
		key := c.r.Header.Get("X-API-Key")
		if key == "" {
			return nil, feedback.ErrMissingAPIKey
		}
		app, err := a.Store.AppByKey(ctx, key)
		return visitor{c.client, app}, err
	}
	// The cookie is sent by browsers on their own, so calls that carry it must come
	// from the dashboard's own pages.
	if cookie, err := c.r.Cookie(cookieName); err == nil && c.op.name == "auth-refresh" {
		if err := a.sameSite.Check(c.r); err != nil {
			return nil, feedback.ErrForbidden.With("A refresh by cookie must come from the dashboard's own page.")
		}
		c.client.refresh = cookie.Value
	}
	token := bearerToken(c.r)
	if _, ok := feedback.ParseToken(feedback.RefreshToken, token); ok { // not the access token that some clients send always
		c.client.refresh = token
	}
	return c.client, nil
}

// input returns the call's parameters. Bodies are decoded a few at a time: a small
// one can hold a great many values, each of which takes memory. Addresses take turns,
// and a caller who leaves gives up the place in the queue.
func (a *API) input(c *call) (any, error) {
	from := c.client.from
	body, held, err := a.readBody(c)
	defer a.bodies.Release(from, held)
	if err != nil {
		return nil, err
	}
	if err := a.decoding.Acquire(c.r.Context(), from, 1); err != nil {
		return nil, err
	}
	defer a.decoding.Release(from, 1)
	return c.op.params.decode(body)
}

// readBody returns the whole body, and how many bytes of it are held of a.bodies.
// It refuses with ErrBodyTooLarge, ErrRequestTimeout, ErrUnsupportedMediaType, or
// ErrUnavailable when too much is held at once, by everybody or by this address.
func (a *API) readBody(c *call) (body []byte, held int64, err error) {
	// Some ResponseWriters of tests have no deadlines; the server's do.
	if err := http.NewResponseController(c.w).SetReadDeadline(time.Now().Add(bodyTime)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, 0, err
	}
	for more := true; more; {
		if len(body) > 0 { // what has arrived counts, not what was announced
			if !a.bodies.TryAcquire(c.client.from, bodyChunk) {
				return nil, held, feedback.ErrUnavailable
			}
			held += bodyChunk
		}
		chunk, err := io.ReadAll(io.LimitReader(c.r.Body, bodyChunk))
		body = append(body, chunk...)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, held, feedback.ErrRequestTimeout
		case err != nil:
			return nil, held, feedback.ErrInvalidJSON.With("The body broke off before its end.")
		case len(body) > maxBody:
			_, _ = io.CopyN(io.Discard, c.r.Body, drain) // whatever comes, the refusal is the same
			return nil, held, feedback.ErrBodyTooLarge
		}
		more = len(chunk) == bodyChunk
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, held, nil
	}
	media, _, _ := strings.Cut(c.r.Header.Get("Content-Type"), ";")
	encoding := c.r.Header.Get("Content-Encoding")
	if !strings.EqualFold(strings.TrimSpace(media), "application/json") || encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, held, feedback.ErrUnsupportedMediaType
	}
	return body, held, nil
}

// success and failure are the two forms of the envelope.
type (
	success struct {
		OK     bool `json:"ok"`
		Result any  `json:"result"`
	}
	failure struct {
		OK    bool  `json:"ok"`
		Error fault `json:"error"`
	}
	fault struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
)

// answer sends the envelope and notes the call.
func (a *API) answer(c *call, result any, err error) {
	status, code := http.StatusOK, "ok"
	var envelope any = success{true, result}
	if err != nil {
		refusal := a.refusal(c, err)
		status, code = refusal.Status, refusal.Code
		envelope = failure{Error: fault{code, refusal.Message}}
		if refusal.RetryAfter > 0 {
			c.w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(refusal.RetryAfter.Seconds()))))
		}
	} else if c.client.setCookie != nil {
		http.SetCookie(c.w, a.refreshCookie(*c.client.setCookie))
	}
	var text bytes.Buffer
	if err := write(&text, envelope); err != nil { // a result that is no JSON is a mistake in the program
		a.Log.Error("the answer cannot be written", "request_id", c.requestID, "error", err)
		status, code = http.StatusInternalServerError, feedback.ErrInternal.Code
		text.Reset()
		fmt.Fprintf(&text, `{"ok":false,"error":{"code":%q,"message":%q}}`, code, feedback.ErrInternal.Message)
	}
	if c.client != nil {
		// The caller holds no more than there is to send, and must not read too slowly.
		c.client.room.shrink(int64(text.Len()))
		defer c.client.room.shrink(0)
		if c.client.room.bytes > 0 {
			paced := newPacedWriter(c.w, answerStall)
			paced.pace.until = time.Now().Add(answerTime)
			c.w = paced
		}
	}
	c.w.Header().Set("Content-Type", "application/json; charset=utf-8")
	c.w.Header().Set("Content-Length", strconv.Itoa(text.Len()))
	c.w.WriteHeader(status)
	_, _ = c.w.Write(text.Bytes()) // a client that is gone needs no answer
	name := "unknown"
	if c.op != nil {
		name = c.op.name
	}
	a.note(c, name, status, code)
}

// note counts a call and writes it into the log.
func (a *API) note(c *call, name string, status int, code string) {
	took := time.Since(c.began)
	a.metrics.observe(name, code, took)
	a.Log.Info("call", "operation", name, "status", status, "code", code, "ms", float64(took.Microseconds())/1000, "request_id", c.requestID)
}

// refusal is what a caller gets to see of an error; the rest goes to the log.
func (a *API) refusal(c *call, err error) *feedback.Error {
	var refusal *feedback.Error
	switch {
	case a.Store.Unavailable(err) || errors.Is(err, password.ErrBusy):
		refusal = feedback.ErrUnavailable
		if c.r.Context().Err() == nil { // else the caller has left, which is no trouble of ours
			a.Log.Warn("unavailable", "request_id", c.requestID, "error", err)
		}
	case errors.As(err, &refusal):
	default:
		refusal = feedback.ErrInternal
		a.Log.Error("failed", "request_id", c.requestID, "error", err)
	}
	return refusal
}
