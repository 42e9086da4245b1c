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

// divided is a server behind divided connections. GET /wait is answered when the test
// sends to answer; every other request is answered at once.
type divided struct {
	*connections
	address string
	answer  chan struct{}
	begun   chan struct{} // receives once for each /wait
}

// serveDivided serves at most so many connections, of which one caller gets 4 and one
// network 8. The peer 127.0.0.1 is exempt.
func serveDivided(t *testing.T, most int) *divided {
	t.Helper()
	return serveWarning(t, most, func(netip.Addr) {})
}

// serveWarning is serveDivided with a function that hears of refused peers.
func serveWarning(t *testing.T, most int, refused func(netip.Addr)) *divided {
	t.Helper()
	socket, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := divide(socket, most, func(peer netip.Addr) bool { return peer.String() == "127.0.0.1" }, refused)
	l.perCaller, l.perNetwork, l.fresh = 4, 8, 0
	d := &divided{l, socket.Addr().String(), make(chan struct{}), make(chan struct{}, 64)}
	answer := func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			d.begun <- struct{}{}
			<-d.answer
		}
	}
	server := &http.Server{ConnState: l.changed, ReadHeaderTimeout: time.Hour, Handler: http.HandlerFunc(answer)}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		close(d.answer)
		if err := errors.Join(server.Close(), <-served); !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		e2e.Eventually(t, "all places are given back", func() bool { return d.taken() == 0 })
		if len(l.crowds) > 0 || l.idle.Len() > 0 {
			t.Errorf("%d callers and networks and %d idle connections are left", len(l.crowds), l.idle.Len())
		}
	})
	return d
}

// taken is how many places are taken.
func (d *divided) taken() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open
}

// caller is one connection to the server.
type caller struct {
	net.Conn
	answers *bufio.Reader
}

func (d *divided) dial(t *testing.T, from string) *caller {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.DialContext(t.Context(), "tcp", d.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &caller{conn, bufio.NewReader(conn)}
}

// served makes a call and reports whether it was answered rather than the connection
// closed.
func (c *caller) served(t *testing.T) bool {
	t.Helper()
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") // when it is closed, reading says so
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

// held opens connections that have been answered once and are idle.
func (d *divided) held(t *testing.T, from string, n int) (all []*caller) {
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

// settle waits until the server has noticed that a connection is idle: that comes
// after the answer.
func (d *divided) settle(t *testing.T, c *caller) {
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

// busy opens connections whose calls are under way.
func (d *divided) busy(t *testing.T, from string, n int) (all []*caller) {
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

// wantServed calls on connections and compares which of them still are open.
func wantServed(t *testing.T, what string, all []*caller, want string) {
	t.Helper()
	var got strings.Builder
	for _, c := range all {
		fmt.Fprint(&got, map[bool]string{true: "o", false: "x"}[c.served(t)])
	}
	if got.String() != want {
		t.Errorf("%s: %s, want %s (o is open, x closed)", what, &got, want)
	}
}

// TestCallersShare: a caller whose calls fill its share gets no more connections, and
// takes none from others.
func TestCallersShare(t *testing.T) {
	d := serveDivided(t, 64)
	d.busy(t, "127.0.1.1", 4)
	for range 3 {
		wantServed(t, "beyond the share", []*caller{d.dial(t, "127.0.1.1")}, "x")
	}
	if n := d.taken(); n != 4 {
		t.Errorf("%d places are taken, want 4", n)
	}
	d.held(t, "127.0.1.2", 1)
	// An exempt peer has no share.
	d.busy(t, "127.0.0.1", 9)
}

// TestIdleOneForNewOne: a caller that has its share gets a connection for the one that
// it has not used for the longest time.
func TestIdleOneForNewOne(t *testing.T) {
	d := serveDivided(t, 64)
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

// TestNetworksShare: a network whose calls fill its share gets no more connections,
// however many addresses it has, and its idle ones go first.
func TestNetworksShare(t *testing.T) {
	d := serveDivided(t, 64)
	d.busy(t, "127.0.1.1", 3)
	d.busy(t, "127.0.1.2", 3)
	idle := append(d.held(t, "127.0.1.3", 1), d.held(t, "127.0.2.1", 1)...)
	d.busy(t, "127.0.1.4", 2)
	wantServed(t, "idle ones of the network and of another one", idle, "xo")
	wantServed(t, "beyond the share", []*caller{d.dial(t, "127.0.1.5")}, "x")
	d.held(t, "127.0.2.2", 1)
}

// TestFull: when every place is taken, a new connection gets that of an idle one: of
// the network and then the caller with the most, the one that has waited longest.
func TestFull(t *testing.T) {
	d := serveDivided(t, 8)
	few := append(d.held(t, "127.0.2.1", 1), d.held(t, "127.0.3.1", 1)...)
	crowd := append(d.held(t, "127.0.1.1", 1), d.held(t, "127.0.1.2", 2)...)
	exempt := d.held(t, "127.0.0.1", 3)
	d.busy(t, "127.0.4.1", 1)
	d.mu.Lock()
	if n := d.crowds[netip.MustParsePrefix("127.0.1.2/32")].open; n != 1 {
		t.Errorf("the caller with the most has %d connections, want 1", n)
	}
	d.mu.Unlock()
	d.busy(t, "127.0.4.1", 1)
	wantServed(t, "those of the largest crowd", crowd, "xxo")
	wantServed(t, "those of exempt peers", exempt, "ooo")
	wantServed(t, "others", few, "oo")
	if n := d.taken(); n != 8 {
		t.Errorf("%d places are taken, want 8", n)
	}
}

// TestFullOfProxies: where nobody else has an idle connection, a proxy loses one.
func TestFullOfProxies(t *testing.T) {
	d := serveDivided(t, 4)
	d.busy(t, "127.0.2.1", 2)
	exempt := d.held(t, "127.0.0.1", 2)
	d.held(t, "127.0.3.1", 1)
	wantServed(t, "those of exempt peers", exempt, "xo")
}

// TestUnsentHeaders: a connection that has not sent the headers of a request is idle,
// the first time and after an answer.
func TestUnsentHeaders(t *testing.T) {
	d := serveDivided(t, 4)
	late := d.dial(t, "127.0.1.1")
	e2e.Eventually(t, "the connection is taken", func() bool { return d.taken() == 1 })
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

// TestNeighbourOfProxy: the connections of an exempt peer are no part of its network's
// share, whether they are busy or idle.
func TestNeighbourOfProxy(t *testing.T) {
	d := serveDivided(t, 64)
	d.busy(t, "127.0.0.1", 20)
	idle := d.held(t, "127.0.0.1", 2)
	wantServed(t, "a neighbour", d.held(t, "127.0.0.2", 2), "oo")
	wantServed(t, "the proxy's idle connections", idle, "oo")
}

// TestFreshConnections: a connection whose next request may be under way is not
// replaced; when it has been idle for a while, it is.
func TestFreshConnections(t *testing.T) {
	d := serveDivided(t, 2)
	d.fresh = time.Hour
	fresh := d.held(t, "127.0.1.1", 2)
	late := d.dial(t, "127.0.2.1")
	d.awaitRoom(t, "127.0.2.1")
	wantServed(t, "fresh ones", fresh, "oo")
	for _, c := range fresh {
		d.settle(t, c)
	}
	d.mu.Lock()
	d.fresh = 0
	d.room.Signal()
	d.mu.Unlock()
	wantServed(t, "one that waited until the others were not fresh", []*caller{late}, "o")
	wantServed(t, "the others", fresh, "xo")
}

// awaitRoom returns when a connection from there waits for room.
func (d *divided) awaitRoom(t *testing.T, from string) {
	t.Helper()
	e2e.Eventually(t, "the connection waits for room", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.crowds[netip.MustParsePrefix(from+"/32")] != nil
	})
}

// TestFullOfCalls: when every place has a call under way, a new connection waits, and
// gets the first place that a call has left, also if its connection stays open.
func TestFullOfCalls(t *testing.T) {
	d := serveDivided(t, 4)
	d.busy(t, "127.0.1.1", 2)
	d.busy(t, "127.0.2.1", 2)
	late := d.dial(t, "127.0.3.1")
	if _, err := io.WriteString(late, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	d.awaitRoom(t, "127.0.3.1")
	if n := d.taken(); n != 4 {
		t.Fatalf("%d places are taken, want 4", n)
	}
	d.answer <- struct{}{}
	if !late.answered(t) {
		t.Error("the connection that waited was closed")
	}
}

// TestCloseWhileFull: the listener ends, though it waits for room.
func TestCloseWhileFull(t *testing.T) {
	d := serveDivided(t, 4)
	d.busy(t, "127.0.1.1", 4)
	d.dial(t, "127.0.2.1")
	d.awaitRoom(t, "127.0.2.1")
	// The clean-up of the server would hang.
}

// TestGoneCallers: places are given back when callers leave.
func TestGoneCallers(t *testing.T) {
	d := serveDivided(t, 4)
	for range 12 {
		all := d.busy(t, "127.0.1.1", 4)
		for range all { // whichever of them is next
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
		e2e.Eventually(t, "the places are given back", func() bool { return d.taken() == 0 })
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

// TestShares: what one caller and one network get, and the operator's hint.
func TestShares(t *testing.T) {
	socket, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close() //nolint:errcheck // nobody has connected
	for most, want := range map[int][2]int{2048: {128, 512}, 512: {32, 128}, 10: {1, 2}} {
		if l := divide(socket, most, nil, nil); l.most != most || l.perCaller != want[0] || l.perNetwork != want[1] {
			t.Errorf("of %d: %d and %d, want %v", most, l.perCaller, l.perNetwork, want)
		}
	}
}

// TestRefusedPeers: the operator hears of the first peer that has its share, once.
func TestRefusedPeers(t *testing.T) {
	var out e2e.Output // which the listener writes at any time
	d := serveWarning(t, 64, warnOnce(slog.New(slog.NewTextHandler(&out, nil))))
	d.busy(t, "127.0.1.1", 4)
	for range 2 {
		wantServed(t, "beyond the share", []*caller{d.dial(t, "127.0.1.1")}, "x")
	}
	if text := out.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "--trusted-proxies") || !strings.Contains(text, "peer=127.0.1.1") {
		t.Error(text)
	}
}
