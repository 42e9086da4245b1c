package torture_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// slowConnection is a way to keep a connection open without making progress.
type slowConnection struct {
	name string
	// begin is sent first, and then more every few seconds.
	begin, more string
	// unread means that the client does not read the answer.
	unread bool
	// within is the time after which the service closes such a connection.
	within time.Duration
}

// slowConnections returns all kinds. The app's list is the answer that is never read.
func slowConnections(token, app string) []slowConnection {
	const post = "POST /api/%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
	list := fmt.Sprintf(`{"limit":200,"app_id":%q}`, app)
	return []slowConnection{
		{name: "headers", begin: fmt.Sprintf(post, "auth-login"), more: "X-More: x\r\n", within: 10 * time.Second},
		{name: "body", begin: fmt.Sprintf(post, "auth-login") + "Content-Length: 1000\r\n\r\n{", more: " ", within: 30 * time.Second},
		{
			name: "answer", unread: true, within: time.Minute,
			begin: fmt.Sprintf(post+"Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", "requests-list", token, len(list), list),
		},
		{name: "idle", begin: "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n", within: 2 * time.Minute},
	}
}

// TestSlowConnections opens slow connections of all kinds. Callers with a connection are not
// affected, memory stays bounded, and the service closes each slow connection in time. If there
// are more connections than the service accepts at once, a new one replaces an idle one, or
// waits if none is idle.
func TestSlowConnections(t *testing.T) {
	storetest.Proof(t)
	t.Parallel() // it mostly waits
	place := storetest.SQLite(t)
	program.AddOwner(t, place)
	metricsAddress := program.FreeAddress(t)
	p := program.Start(t, append(program.At(place), "--metrics-listen="+metricsAddress)...)
	c := program.NewClient(t, p)
	token := c.Login(t)
	app, long := c.AddApp(t, token), c.AddApp(t, token)
	l := startLoad(t, 4, app.APIKey, c)
	for i := range 200 {
		title := fmt.Sprint("long ", i)
		got := c.Want(t, "ok", "widget-submit-request", long.APIKey, program.Params{"title": title, "description": strings.Repeat("界", 10_000)})
		l.Note(t, got.Request.ID, title)
	}
	before, quiet, began := descriptors(t, p), memory(t, p, "VmRSS"), time.Now()

	kinds := slowConnections(token, long.ID)
	var watched sync.WaitGroup
	for _, kind := range kinds[:program.Times(1, len(kinds))] {
		conn, err := kind.open(t, p) // before the others, so that the service accepts it at once
		if err != nil {
			t.Fatal(err)
		}
		watched.Go(func() { kind.wantClosed(t, conn) })
	}
	if *program.Full { // the other connections would replace the idle one too early
		watched.Wait()
	}
	var all connections
	each := program.Times(125, 3750)
	for _, kind := range kinds {
		all.add(t, p, kind, each)
		now := metrics(t, metricsAddress)
		t.Logf("%d more, slow %s: %d MiB, of which %.0f MiB heap (%.0f MiB in use) and %.0f MiB stacks; %d descriptors, %.0f goroutines",
			each, kind.name, memory(t, p, "VmRSS"),
			now["go_memstats_heap_sys_bytes"]/(1<<20), now["go_memstats_heap_alloc_bytes"]/(1<<20),
			now["go_memstats_stack_inuse_bytes"]/(1<<20), descriptors(t, p), now["go_goroutines"])
	}
	fresh := program.Client{URL: p.URL, HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: storetest.Patience}}
	asked := time.Now()
	fresh.Want(t, "ok", "auth-me", token, program.Params{})
	waited := time.Since(asked)
	watched.Wait()
	closed := func() bool { return descriptors(t, p) <= before+4 } // SQLite may have opened another reader
	if *program.Full {
		await(t, "the service closes all connections by itself", closed)
	}
	others, peak := l.between(began, time.Now()), memory(t, p, "VmHWM")
	all.close()
	await(t, "the service closes the descriptors", closed)
	settled := l.settle(t, c, c.Login(t))
	if others.failures > 0 || late(others.p99, 2*time.Second) {
		t.Errorf("other callers: %v", others)
	}
	measured(t, "%d slow connections, of which %d found no room: others' submissions %v; "+
		"a caller without a connection waited %v; memory %d MiB before, %d MiB at the peak; %s",
		4*each, all.refused.Load(), others, waited.Round(time.Millisecond), quiet, peak, settled)
	checkMemory(t, p)
}

// wantClosed waits until the service closes the connection. The test fails if that happens too
// early or too late.
func (s slowConnection) wantClosed(t *testing.T, conn net.Conn) {
	defer conn.Close() //nolint:errcheck // the service has closed it
	const more = 5 * time.Second
	began := time.Now()
	if err := conn.SetDeadline(began.Add(storetest.Patience)); err != nil {
		t.Error(err)
	}
	stop := s.trickle(conn)
	if s.unread {
		<-time.After(s.within + more/2) // the client notices the end only when it reads
	}
	answer, err := io.ReadAll(conn)
	took := time.Since(began)
	stop()
	_, body, _ := strings.Cut(string(answer), "\r\n\r\n")
	if os.IsTimeout(err) || took < s.within-time.Second || late(took, s.within+more) || s.unread && strings.HasSuffix(body, "}\n") {
		t.Errorf("slow %s: closed after %v with %v and %d bytes, want %v", s.name, took, err, len(answer), s.within)
	}
	t.Logf("slow %s: closed after %v", s.name, took.Round(100*time.Millisecond))
}

// connections is a group of slow connections.
type connections struct {
	refused atomic.Int64

	mu     sync.Mutex
	closes []func()
}

// add opens n connections. It counts those that the service refuses.
func (c *connections) add(t *testing.T, p *program.Process, kind slowConnection, n int) {
	t.Helper()
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			conn, err := kind.open(t, p)
			if err != nil {
				c.refused.Add(1)
				return
			}
			stop := kind.trickle(conn)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.closes = append(c.closes, func() { _ = conn.Close(); stop() })
		})
	}
	all.Wait()
}

// close closes all connections.
func (c *connections) close() {
	for _, end := range c.closes {
		end()
	}
}

// open opens a connection with a small receive buffer and sends begin.
func (s slowConnection) open(t *testing.T, p *program.Process) (net.Conn, error) {
	timeout := time.Duration(program.Times(60, 5)) * time.Second // a connection that is not accepted gets no answer
	dialer := net.Dialer{Timeout: timeout, Control: func(_, _ string, raw syscall.RawConn) error {
		var err error
		return errors.Join(raw.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096)
		}), err)
	}}
	conn, err := dialer.DialContext(t.Context(), "tcp", p.Address)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(conn, s.begin); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// trickle sends more every three seconds until stop is called.
func (s slowConnection) trickle(conn net.Conn) (stop func()) {
	if s.more == "" {
		return func() {}
	}
	stopped := make(chan struct{})
	go func() {
		tick := time.NewTicker(3 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				_, _ = io.WriteString(conn, s.more) // the reader gets the error
			case <-stopped:
				return
			}
		}
	}()
	return sync.OnceFunc(func() { close(stopped) })
}

// latency describes how long calls took.
type latency struct {
	calls, failures int
	p50, p99        time.Duration
}

// String returns the latency as a text for the report.
func (l latency) String() string {
	const unit = 10 * time.Microsecond
	return fmt.Sprintf("%d with %d failures, p50 %v, p99 %v", l.calls, l.failures, l.p50.Round(unit), l.p99.Round(unit))
}

// between returns the latency of the attempts that ended between two moments.
func (l *load) between(first, last time.Time) latency {
	l.mu.Lock()
	defer l.mu.Unlock()
	return latencyOf(l.attempts, first, last)
}

// latencyOf returns the latency of the attempts that ended between two moments.
func latencyOf(attempts []attempt, first, last time.Time) latency {
	var took []time.Duration
	var found latency
	for _, a := range attempts {
		if a.ended.Before(first) || a.ended.After(last) {
			continue
		}
		if a.code != "ok" {
			found.failures++
		}
		took = append(took, a.ended.Sub(a.began))
	}
	slices.Sort(took)
	if found.calls = len(took); found.calls > 0 {
		found.p50, found.p99 = took[len(took)/2], took[len(took)*99/100]
	}
	return found
}

// await is like program.Eventually, but checks less often, for checks that put load on the
// service.
func await(t *testing.T, what string, happened func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(storetest.Patience)
	for !happened() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within %v: %s", storetest.Patience, what)
		}
	}
}
