package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	e2e "gatherkit/e2e/program"
)

// limitedServer is a server behind a limitedListener. It answers GET /wait when the test
// sends to answer, and every other request at once.
type limitedServer struct {
	*limitedListener
	address string
	answer  chan struct{}
	begun   chan struct{} // receives once for each GET /wait
}

// serveLimited starts a server with at most limit connections, of which a caller gets 4 and
// a network 8. The peer 127.0.0.1 is exempt.
func serveLimited(t *testing.T, limit int) *limitedServer {
	t.Helper()
	return serveWarning(t, limit, func(netip.Addr) {})
}

// serveWarning is like serveLimited, and calls refused for each refused peer.
func serveWarning(t *testing.T, limit int, refused func(netip.Addr)) *limitedServer {
	t.Helper()
	socket, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := limitConnections(socket, limit, func(peer netip.Addr) bool { return peer.String() == "127.0.0.1" }, refused)
	l.perCaller, l.perNetwork, l.fresh = 4, 8, 0
	d := &limitedServer{l, socket.Addr().String(), make(chan struct{}), make(chan struct{}, 64)}
	answer := func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			d.begun <- struct{}{}
			<-d.answer
		}
	}
	server := &http.Server{ConnState: l.stateChanged, ReadHeaderTimeout: time.Hour, Handler: http.HandlerFunc(answer)}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		close(d.answer)
		if err := errors.Join(server.Close(), <-served); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		e2e.Eventually(t, "all connections are closed", func() bool { return d.openConnections() == 0 })
		if len(l.shares) > 0 || l.idle.Len() > 0 {
			t.Errorf("%d callers and networks and %d idle connections are left", len(l.shares), l.idle.Len())
		}
	})
	return d
}

// openConnections returns the number of open connections.
func (d *limitedServer) openConnections() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open
}

// caller is a client's connection to the server.
type caller struct {
	net.Conn
	answers *bufio.Reader
}

func (d *limitedServer) dial(t *testing.T, from string) *caller {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.DialContext(t.Context(), "tcp", d.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &caller{conn, bufio.NewReader(conn)}
}

// served makes a call. It reports whether the call was answered; if not, the connection was
// closed.
func (c *caller) served(t *testing.T) bool {
	t.Helper()
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") // reading reports a closed connection
	return c.answered(t)
}

func (c *caller) answered(t *testing.T) bool {
	t.Helper()
	response, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return false
	}
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("%d, %v", response.StatusCode, err)
	}
	return true
}

// held opens connections, makes a call on each and leaves them idle.
func (d *limitedServer) held(t *testing.T, from string, n int) (all []*caller) {
	t.Helper()
	for range n {
		c := d.dial(t, from)
		if !c.served(t) {
			t.Fatalf("the connection %d from %s was refused", len(all)+1, from)
		}
		d.settle(t, c)
		all = append(all, c)
	}
	return all
}

// settle waits until the server has marked a connection as idle, which happens after the
// response.
func (d *limitedServer) settle(t *testing.T, c *caller) {
	t.Helper()
	e2e.Eventually(t, "the connection is idle", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		for e := d.idle.Back(); e != nil; e = e.Prev() {
			if e.Value.(*connection).RemoteAddr().String() == c.LocalAddr().String() {
				return true
			}
		}
		return false
	})
}

// busy opens connections, each with a call in progress.
func (d *limitedServer) busy(t *testing.T, from string, n int) (all []*caller) {
	t.Helper()
	for range n {
		c := d.dial(t, from)
		if _, err := io.WriteString(c, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		select {
		case <-d.begun:
		case <-time.After(time.Minute):
			t.Fatalf("the call %d from %s did not begin within a minute", len(all)+1, from)
		}
		all = append(all, c)
	}
	return all
}

// wantServed makes a call on each connection and checks which of them are still open.
func wantServed(t *testing.T, what string, all []*caller, want string) {
	t.Helper()
	var got strings.Builder
	for _, c := range all {
		fmt.Fprint(&got, map[bool]string{true: "o", false: "x"}[c.served(t)])
	}
	if got.String() != want {
		t.Errorf("%s: %s, want %s (o: open, x: closed)", what, &got, want)
	}
}

// TestCallersShare checks that a caller whose calls use up its share gets no more
// connections, and takes none from others.
func TestCallersShare(t *testing.T) {
	d := serveLimited(t, 64)
	d.busy(t, "127.0.1.1", 4)
	for range 3 {
		wantServed(t, "beyond the share", []*caller{d.dial(t, "127.0.1.1")}, "x")
	}
	if n := d.openConnections(); n != 4 {
		t.Errorf("%d connections are open, want 4", n)
	}
	d.held(t, "127.0.1.2", 1)
	// Exempt peers have no limit.
	d.busy(t, "127.0.0.1", 9)
}

// TestIdleOneForNewOne checks that a new connection of a caller that has used up its share
// replaces the connection that has been idle longest.
func TestIdleOneForNewOne(t *testing.T) {
	d := serveLimited(t, 64)
	other := d.held(t, "127.0.1.2", 1)
	own := d.held(t, "127.0.1.1", 3)
	d.busy(t, "127.0.1.1", 1)
	if !own[0].served(t) {
		t.Fatal("the first connection was closed")
	}
	d.settle(t, own[0])
	wantServed(t, "a new connection", []*caller{d.dial(t, "127.0.1.1")}, "o")
	wantServed(t, "those of the same caller", own, "oxo")
	wantServed(t, "that of another caller", other, "o")
}

// TestNetworksShare checks that a network whose calls use up its share gets no more
// connections, however many addresses it has, and that its idle ones are closed first.
func TestNetworksShare(t *testing.T) {
	d := serveLimited(t, 64)
	d.busy(t, "127.0.1.1", 3)
	d.busy(t, "127.0.1.2", 3)
	idle := append(d.held(t, "127.0.1.3", 1), d.held(t, "127.0.2.1", 1)...)
	d.busy(t, "127.0.1.4", 2)
	wantServed(t, "idle ones of the network and of another one", idle, "xo")
	wantServed(t, "beyond the share", []*caller{d.dial(t, "127.0.1.5")}, "x")
	d.held(t, "127.0.2.2", 1)
}

// TestFull checks that a new connection beyond the limit replaces an idle one: of the
// network and then the caller with the most connections, the one that has been idle longest.
func TestFull(t *testing.T) {
	d := serveLimited(t, 8)
	few := append(d.held(t, "127.0.2.1", 1), d.held(t, "127.0.3.1", 1)...)
	most := append(d.held(t, "127.0.1.1", 1), d.held(t, "127.0.1.2", 2)...)
	exempt := d.held(t, "127.0.0.1", 3)
	d.busy(t, "127.0.4.1", 1)
	d.mu.Lock()
	if n := d.shares[netip.MustParsePrefix("127.0.1.2/32")].open; n != 1 {
		t.Errorf("the caller with the most has %d connections, want 1", n)
	}
	d.mu.Unlock()
	d.busy(t, "127.0.4.1", 1)
	wantServed(t, "those of the largest network", most, "xxo")
	wantServed(t, "those of exempt peers", exempt, "ooo")
	wantServed(t, "others", few, "oo")
	if n := d.openConnections(); n != 8 {
		t.Errorf("%d connections are open, want 8", n)
	}
}

// TestFullOfProxies checks that a proxy loses an idle connection if nobody else has one.
func TestFullOfProxies(t *testing.T) {
	d := serveLimited(t, 4)
	d.busy(t, "127.0.2.1", 2)
	exempt := d.held(t, "127.0.0.1", 2)
	d.held(t, "127.0.3.1", 1)
	wantServed(t, "those of exempt peers", exempt, "xo")
}

// TestUnsentHeaders checks that a connection is idle until the headers of a request have
// arrived, both at first and after a response.
func TestUnsentHeaders(t *testing.T) {
	d := serveLimited(t, 4)
	late := d.dial(t, "127.0.1.1")
	e2e.Eventually(t, "the connection is taken", func() bool { return d.openConnections() == 1 })
	again := d.held(t, "127.0.1.1", 1)[0]
	d.busy(t, "127.0.2.1", 2)
	for _, c := range []*caller{late, again} {
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nX-More: "); err != nil {
			t.Fatal(err)
		}
	}
	d.busy(t, "127.0.3.1", 2)
	for _, c := range []*caller{late, again} {
		if c.answered(t) {
			t.Error("a connection without a request kept its place")
		}
	}
}

// TestNeighborOfProxy checks that the connections of an exempt peer do not count toward the
// share of its network, whether they are busy or idle.
func TestNeighborOfProxy(t *testing.T) {
	d := serveLimited(t, 64)
	d.busy(t, "127.0.0.1", 20)
	idle := d.held(t, "127.0.0.1", 2)
	wantServed(t, "a neighbor", d.held(t, "127.0.0.2", 2), "oo")
	wantServed(t, "the proxy's idle connections", idle, "oo")
}

// TestFreshConnections checks that a connection is replaced only after it has been idle for
// a while, because its next request may be on its way before.
func TestFreshConnections(t *testing.T) {
	d := serveLimited(t, 2)
	d.fresh = time.Hour
	fresh := d.held(t, "127.0.1.1", 2)
	late := d.dial(t, "127.0.2.1")
	d.awaitRoom(t, "127.0.2.1")
	for _, c := range fresh { // one after the other, so that the first is idle the longest
		wantServed(t, "a fresh one", []*caller{c}, "o")
		d.settle(t, c)
	}
	d.mu.Lock()
	d.fresh = 0
	d.freed.Signal()
	d.mu.Unlock()
	wantServed(t, "one that waited until the others were not fresh", []*caller{late}, "o")
	wantServed(t, "the others", fresh, "xo")
}

// awaitRoom returns when a connection from there waits until another one closes.
func (d *limitedServer) awaitRoom(t *testing.T, from string) {
	t.Helper()
	e2e.Eventually(t, "the connection waits", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.shares[netip.MustParsePrefix(from+"/32")] != nil
	})
}

// TestFullOfCalls checks that a new connection waits while all connections have a call in
// progress, and replaces the first one whose call ends, even if that one stays open.
func TestFullOfCalls(t *testing.T) {
	d := serveLimited(t, 4)
	d.busy(t, "127.0.1.1", 2)
	d.busy(t, "127.0.2.1", 2)
	late := d.dial(t, "127.0.3.1")
	if _, err := io.WriteString(late, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	d.awaitRoom(t, "127.0.3.1")
	if n := d.openConnections(); n != 4 {
		t.Fatalf("%d connections are open, want 4", n)
	}
	d.answer <- struct{}{}
	if !late.answered(t) {
		t.Error("the connection that waited was closed")
	}
}

// TestCloseWhileFull checks that Close ends an Accept that waits for a free connection.
func TestCloseWhileFull(t *testing.T) {
	d := serveLimited(t, 4)
	d.busy(t, "127.0.1.1", 4)
	d.dial(t, "127.0.2.1")
	d.awaitRoom(t, "127.0.2.1")
	// The cleanup of the server would hang if Accept did not return.
}

// TestGoneCallers checks that connections are released when callers close them.
func TestGoneCallers(t *testing.T) {
	d := serveLimited(t, 4)
	for range 12 {
		all := d.busy(t, "127.0.1.1", 4)
		for range all {
			d.answer <- struct{}{}
		}
		for _, c := range all {
			if !c.answered(t) {
				t.Fatal("a call was not answered")
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		e2e.Eventually(t, "all connections are closed", func() bool { return d.openConnections() == 0 })
	}
}

func TestExemption(t *testing.T) {
	exempt := exemption([]netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fe80::1/128")})
	for peer, want := range map[string]bool{
		"127.0.0.1": true, "127.9.9.9": true, "::1": true, "10.1.2.3": true, "10.2.0.1": false, "2001:db8::1": false,
		"fe80::1": true, "fe80::1%eth0": true,
	} {
		if got := exempt(netip.MustParseAddr(peer)); got != want {
			t.Errorf("%s: %v, want %v", peer, got, want)
		}
	}
}

// TestShares checks the shares of a caller and of a network.
func TestShares(t *testing.T) {
	socket, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close() //nolint:errcheck // there are no connections
	for limit, want := range map[int][2]int{2048: {128, 512}, 512: {32, 128}, 10: {1, 2}} {
		if l := limitConnections(socket, limit, nil, nil); l.limit != limit || l.perCaller != want[0] || l.perNetwork != want[1] {
			t.Errorf("of %d: %d and %d, want %v", limit, l.perCaller, l.perNetwork, want)
		}
	}
}

// TestRefusedPeers checks that the first refused peer is logged, once.
func TestRefusedPeers(t *testing.T) {
	var out e2e.Output // safe for concurrent use: the listener writes at any time
	d := serveWarning(t, 64, warnOnce(slog.New(slog.NewTextHandler(&out, nil))))
	d.busy(t, "127.0.1.1", 4)
	for range 2 {
		wantServed(t, "beyond the share", []*caller{d.dial(t, "127.0.1.1")}, "x")
	}
	text := out.String()
	if strings.Count(text, "\n") != 1 || !strings.Contains(text, "--trusted-proxies") || !strings.Contains(text, "peer=127.0.1.1") {
		t.Error(text)
	}
}
