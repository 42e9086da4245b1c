package torture_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"gatherkit/e2e/program"
)

// mode is how a receiver behaves.
type mode int

const (
	good       mode = iota
	failing         // answers 500
	resetting       // resets connections
	hanging         // does not answer
	forgetting      // handles a delivery and resets the connection, so that it comes again
	stopped         // does not listen
	modes
)

// receiver is the other service, with an endpoint for each path. It verifies what it receives with the
// library of Standard Webhooks.
type receiver struct {
	address string
	held    atomic.Int64 // deliveries that hang

	mu        sync.Mutex
	mode      mode
	changed   chan struct{} // closed when the mode changes
	server    *http.Server
	endpoints map[string]*endpoint // by path
	faults    []string
}

// endpoint is what an endpoint knows.
type endpoint struct {
	secret, rotated     *standardwebhooks.Webhook
	rotatedAt           time.Time
	numbers             map[int64]int // how often each event has come
	after, highest      int64         // the position at which it began, and the last event
	missing             int64         // how many events before the last had not come, at most, if it wants all
	calls, rotatedCalls int
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{address: program.FreeAddress(t), mode: stopped, changed: make(chan struct{}), endpoints: map[string]*endpoint{}}
	r.become(t, good)
	t.Cleanup(func() { r.become(t, stopped) })
	return r
}

// rotationTime is after what time a new secret must sign. Deliveries that have begun before have the old one.
const rotationTime = 10 * time.Second

// add adds an endpoint that receives what comes after a position.
func (r *receiver) add(t *testing.T, path, secret string, position int64) {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endpoints[path] = &endpoint{secret: verifier, numbers: map[int64]int{}, after: position, highest: position}
}

// rotate says that deliveries to an endpoint from now on must verify with a new secret, too.
func (r *receiver) rotate(t *testing.T, path, secret string) {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endpoints[path].rotated, r.endpoints[path].rotatedAt = verifier, time.Now()
}

// become changes how the receiver behaves.
func (r *receiver) become(t *testing.T, m mode) {
	t.Helper()
	r.mu.Lock()
	before, server := r.mode, r.server
	r.mode = m
	close(r.changed)
	r.changed = make(chan struct{})
	r.mu.Unlock()
	switch {
	case m == stopped && before != stopped:
		_ = server.Close() // without those that are in progress
	case m != stopped && before == stopped:
		listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", r.address)
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: r, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
		r.mu.Lock()
		r.server = server
		r.mu.Unlock()
		go func() { _ = server.Serve(listener) }()
	}
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // the process was killed
	}
	r.mu.Lock()
	mode, changed := r.mode, r.changed
	r.mu.Unlock()
	switch mode {
	case failing:
		w.WriteHeader(http.StatusInternalServerError)
	case hanging:
		r.held.Add(1)
		select {
		case <-changed:
		case <-request.Context().Done():
		}
		r.held.Add(-1)
		reset(w)
	case good, forgetting:
		r.mu.Lock()
		if r.mode == stopped { // closing the server does not end this call
			mode = forgetting
		} else {
			r.receive(request, body)
		}
		r.mu.Unlock()
		if mode == forgetting {
			reset(w)
		}
	default:
		reset(w)
	}
}

func reset(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}
}

// receive verifies a delivery and notes its number.
func (r *receiver) receive(request *http.Request, body []byte) {
	e := r.endpoints[request.URL.Path]
	if e == nil {
		return // a process had claimed it before it was deleted
	}
	e.calls++
	if err := e.secret.Verify(body, request.Header); err != nil {
		r.faults = append(r.faults, fmt.Sprintf("with the first secret: %v", err))
	}
	sent, _ := strconv.ParseInt(request.Header.Get(standardwebhooks.HeaderWebhookTimestamp), 10, 64)
	if e.rotated != nil {
		err := e.rotated.Verify(body, request.Header)
		switch {
		case err == nil:
			e.rotatedCalls++
		case time.Unix(sent, 0).After(e.rotatedAt.Add(rotationTime)):
			r.faults = append(r.faults, fmt.Sprintf("with the second secret: %v", err))
		}
	}
	var event struct{ Data program.Event }
	if err := json.Unmarshal(body, &event); err != nil || event.Data.ID != request.Header.Get(standardwebhooks.HeaderWebhookID) {
		r.faults = append(r.faults, fmt.Sprintf("%q: %v", body, err))
	}
	n := event.Data.Number
	e.numbers[n]++
	if e.numbers[n] > 1 {
		return
	}
	if n > e.highest {
		e.highest = n
		e.missing = max(e.missing, n-e.after-int64(len(e.numbers)))
	}
}

// got returns how many events an endpoint has got.
func (r *receiver) got(path string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.endpoints[path].numbers)
}

// missing returns how many events had not come to an endpoint when a later one did, at most.
func (r *receiver) missing(path string) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.endpoints[path].missing
}
