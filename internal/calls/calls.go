// Package calls has what all calls over HTTP have in common, those of operations and those of pages: who
// sends them, their bodies, cookies and answers, and their lines in the log.
package calls

import (
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"strconv"
	"time"

	"gatherkit/internal/deadline"
	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
	"gatherkit/internal/headers"
	"gatherkit/internal/limits"
	"gatherkit/internal/metrics"
	"gatherkit/internal/pace"
)

var (
	// Time is how long the work for a call may take. The time to read the body does not count.
	Time = deadline.Of(15 * time.Second)
	// BodyTime is how long a client may take to send the body.
	BodyTime = deadline.Of(30 * time.Second)
	// answerTime limits the time to send a page.
	answerTime = deadline.Of(time.Minute)
	// AnswerStall is how long the reader of a page may pause.
	AnswerStall = deadline.Of(20 * time.Second)
)

// Server answers calls.
type Server struct {
	Log       *slog.Logger
	Quiet     bool // whether only calls that fail because of the service are logged
	NewID     func() feedback.ID
	PublicURL *url.URL // nil if none is configured
	Metrics   metrics.Metrics
	Proxies   *headers.Proxies
	SameSite  *http.CrossOriginProtection // refuses forms of other sites
	Places    limits.CallPlaces
	Bodies    *fair.Pool[netip.Prefix] // in bytes
	// Unavailable reports whether an error is temporary.
	Unavailable func(error) bool
	// Used counts a call of an account that kept the service busy for a time.
	Used func(accountID feedback.ID, busy time.Duration)
}

// New returns a server. It returns an error if the public URL is no origin.
func New(s Server) (*Server, error) {
	s.SameSite, s.Places = http.NewCrossOriginProtection(), limits.NewCallPlaces()
	s.Bodies = fair.New[netip.Prefix](MaxBodies, MaxBodies/4)
	if s.PublicURL == nil {
		return &s, nil
	}
	// The page's origin is compared with Host, which a proxy may have changed.
	return &s, s.SameSite.AddTrustedOrigin(s.PublicURL.Scheme + "://" + s.PublicURL.Host)
}

// Call is the state of one HTTP request.
type Call struct {
	*Server
	W         http.ResponseWriter
	R         *http.Request
	Name      string // of the operation or the page, in the log and the metrics
	RequestID string
	Began     time.Time
	Client    *Client
	notes     []any // names and values for the log
	fault     error // of the service, or nil
	level     slog.Level
}

// Client is the sender of a call.
type Client struct {
	From    netip.Prefix  // its address; an IPv6 /64 counts as one
	Origin  string        // Origin header; "" unless a page sent the call
	Agent   string        // User-Agent header
	Memory  Memory        // what the call holds until it is answered
	Account feedback.ID   // whose data the call is about; zero until its credentials are checked
	Idle    time.Duration // how long the call waited for the client or for events
}

// Waits notes that a call waits for its client or for events until done is called.
func (c *Client) Waits() (done func()) {
	began := time.Now()
	return func() { c.Idle += time.Since(began) }
}

// Memory is the memory that a call holds for a page until the answer is sent.
type Memory struct {
	Claims fair.Claims
	Bytes  int64
}

// Shrink releases all but n bytes.
func (m *Memory) Shrink(n int64) {
	if m.Bytes > n {
		m.Claims.Release(m.Bytes - n)
		m.Bytes = n
	}
}

// Begin returns a call that has just arrived. Its answer is not cached unless a header says otherwise.
func (s *Server) Begin(w http.ResponseWriter, r *http.Request) *Call {
	c := &Call{Server: s, W: w, R: r, Name: "unknown", RequestID: s.NewID().String(), Began: time.Now()}
	c.Note("request_id", c.RequestID)
	if id := metrics.TraceID(r.Header.Get("Traceparent")); id != "" {
		c.Note("trace_id", id)
	}
	w.Header().Set("X-Request-Id", c.RequestID)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	return c
}

// SetClient sets the sender of a call, and notes its network, unless it is unknown: that says where calls come from, and
// not who sends them.
func (c *Call) SetClient() {
	c.Client = &Client{From: c.Proxies.From(c.R), Origin: c.R.Header.Get("Origin"), Agent: headers.Agent(c.R)}
	if network := fair.Network(c.Client.From); network.IsValid() {
		c.Note("network", network.String())
	}
}

// PanicToError recovers from a panic in the function that defers it and stores it in *err.
func PanicToError(err *error) { //nolint:gocritic // a deferred function cannot return the error
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
	}
}

// RequireGET returns an error unless the method is GET or HEAD.
func (c *Call) RequireGET() error {
	if c.R.Method != http.MethodGet && c.R.Method != http.MethodHead {
		c.W.Header().Set("Allow", "GET, HEAD")
		return feedback.ErrMethodNotAllowed.With("Use GET for this URL.")
	}
	return nil
}

// SetRetryAfter tells the client when to try again, and which quota is spent, if the error does.
func (c *Call) SetRetryAfter(e *feedback.Error) {
	if e.RetryAfter > 0 {
		c.W.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
	}
	if e.RateLimit != "" {
		c.W.Header().Set("RateLimit", e.RateLimit)
	}
}

// Send sends an answer.
func (c *Call) Send(status int, mediaType string, text []byte) {
	if c.Client != nil {
		// The page now holds only its actual size. Slow readers are disconnected, so that they
		// do not hold it for long.
		c.Client.Memory.Shrink(int64(len(text)))
		defer c.Client.Memory.Shrink(0)
		if c.Client.Memory.Bytes > 0 {
			paced := pace.NewWriter(c.W, AnswerStall)
			paced.Until = time.Now().Add(answerTime)
			c.W = paced
		}
	}
	c.W.Header().Set("Content-Type", mediaType)
	c.W.Header().Set("Content-Length", strconv.Itoa(len(text)))
	c.W.WriteHeader(status)
	_, _ = c.W.Write(text) // fails only if the client has disconnected
}
