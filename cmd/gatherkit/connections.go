package main

import (
	"cmp"
	"container/list"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"gatherkit/internal/fair"
)

const (
	callerShare  = 16 // one caller gets at most 1/16 of the connections,
	networkShare = 4  // and one network at most 1/4
	// freshTime is how long an idle connection is left alone: its next request, or its
	// first one, may be under way.
	freshTime = 250 * time.Millisecond
)

// connections is a listener that divides a limited number of connections among
// callers. A caller or a network that has its share gets another connection only in
// exchange for an idle one of its own; without one, the new connection is closed.
// When all connections are taken, a new one replaces an idle one of the network and
// the caller with the most. When none is idle, it waits.
//
// A connection is idle until the headers of a request have arrived, and again after
// the answer. Proxies that the operator has named and loopback peers have no share,
// and lose idle connections last.
type connections struct {
	net.Listener
	most, perCaller, perNetwork int
	fresh                       time.Duration
	exempt                      func(peer netip.Addr) bool
	refused                     func(peer netip.Addr) // called when a connection is closed because of a share

	mu     sync.Mutex
	room   sync.Cond // signaled when a connection becomes idle or is closed
	closed bool
	open   int
	crowds map[netip.Prefix]*crowd // callers and networks
	idle   list.List               // of *connection, the one that has been idle longest first
}

// crowd is a caller or a network that has connections.
type crowd struct {
	who  netip.Prefix
	open int
}

// connection is one of the connections; its fields are guarded by their mu.
type connection struct {
	net.Conn
	all             *connections
	exempt, closed  bool
	caller, network *crowd        // nil of an exempt peer
	idle            *list.Element // nil while a request is under way
	idleSince       time.Time
}

// divide returns a listener for at most so many connections at once.
func divide(listener net.Listener, most int, exempt func(netip.Addr) bool, refused func(netip.Addr)) *connections {
	l := &connections{
		Listener: listener, most: most, perCaller: max(1, most/callerShare), perNetwork: max(1, most/networkShare), fresh: freshTime,
		exempt: exempt, refused: refused, crowds: map[netip.Prefix]*crowd{},
	}
	l.room.L = &l.mu
	return l
}

// exemption returns whether a peer is a trusted proxy or on the same host, which is
// a developer or a proxy.
func exemption(trusted []netip.Prefix) func(netip.Addr) bool {
	return func(peer netip.Addr) bool {
		return peer.IsLoopback() || fair.Within(peer, trusted)
	}
}

// warnOnce returns a function that logs the first peer that had no share left, and the
// first in a private network: a stranger must not use up the warning about a proxy.
func warnOnce(log *slog.Logger) func(netip.Addr) {
	var private, others sync.Once
	return func(peer netip.Addr) {
		once := &others
		if peer.IsPrivate() {
			once = &private
		}
		once.Do(func() {
			log.Warn("refusing connections from a peer that has used up its share; if it is your proxy, add it to --trusted-proxies",
				"peer", peer.String())
		})
	}
}

// Accept returns the next connection that may be served.
func (l *connections) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from, _ := netip.ParseAddrPort(conn.RemoteAddr().String()) // the zero address counts as one caller
		peer := from.Addr().Unmap()
		if admitted := l.admit(conn, peer); admitted != nil {
			return admitted, nil
		}
		l.refused(peer)
		_ = conn.Close()
	}
}

// Close ends Accept, also while it waits for room.
func (l *connections) Close() error {
	l.mu.Lock()
	l.closed = true
	l.room.Signal()
	l.mu.Unlock()
	return l.Listener.Close()
}

// changed is the server's hook that says whether a connection is idle.
func (l *connections) changed(conn net.Conn, state http.ConnState) {
	c := conn.(*connection) //nolint:forcetypeassert // the server serves what Accept returns
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case state == http.StateActive && c.idle != nil:
		l.idle.Remove(c.idle)
		c.idle = nil
	case state == http.StateIdle && c.idle == nil && !c.closed:
		c.rest()
		l.room.Signal()
	}
}

// admit makes room for a connection, or returns nil.
func (l *connections) admit(conn net.Conn, peer netip.Addr) net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &connection{Conn: conn, all: l, exempt: l.exempt(peer)}
	if !c.exempt { // its connections are no part of anybody's share
		caller := fair.Caller(peer)
		c.caller, c.network = l.join(caller), l.join(fair.Network(caller))
	}
	own := func(other *connection) bool { return other.caller == c.caller }
	near := func(other *connection) bool { return other.network == c.network }
	if !c.exempt && (c.caller.open > l.perCaller && !l.replace(own) || c.network.open > l.perNetwork && !l.replace(near)) {
		l.part(c.caller, c.network)
		return nil
	}
	for l.open >= l.most && !l.closed && !l.replace(func(*connection) bool { return true }) {
		again := time.AfterFunc(l.fresh, l.room.Signal)
		l.room.Wait()
		again.Stop()
	}
	l.open++
	c.rest()
	return c
}

// rest puts a connection behind the other idle ones.
func (c *connection) rest() {
	c.idle, c.idleSince = c.all.idle.PushBack(c), time.Now()
}

// replace closes the first of the matching idle connections to go, and reports
// whether there was one. Fresh ones stay.
func (l *connections) replace(matches func(*connection) bool) bool {
	var first *connection
	for e := l.idle.Front(); e != nil; e = e.Next() {
		c := e.Value.(*connection) //nolint:forcetypeassert // there is nothing else in it
		if time.Since(c.idleSince) < l.fresh {
			break // and so are those behind it
		}
		if matches(c) && (first == nil || c.goesBefore(first)) {
			first = c
		}
	}
	if first == nil {
		return false
	}
	first.leave()
	_ = first.Conn.Close()
	return true
}

// goesBefore reports whether c is closed rather than another one, which has been
// idle for longer.
func (c *connection) goesBefore(other *connection) bool {
	if c.exempt || other.exempt {
		return !c.exempt
	}
	return cmp.Or(cmp.Compare(c.network.open, other.network.open), cmp.Compare(c.caller.open, other.caller.open)) > 0
}

// Close closes the connection and gives its place back.
func (c *connection) Close() error {
	c.all.mu.Lock()
	c.leave()
	c.all.mu.Unlock()
	return c.Conn.Close()
}

// leave gives the place of a connection back, once.
func (c *connection) leave() {
	if c.closed {
		return
	}
	c.closed = true
	l := c.all
	if c.idle != nil {
		l.idle.Remove(c.idle)
		c.idle = nil
	}
	l.open--
	if !c.exempt {
		l.part(c.caller, c.network)
	}
	l.room.Signal()
}

// join counts one more connection of a caller or a network.
func (l *connections) join(who netip.Prefix) *crowd {
	if l.crowds[who] == nil {
		l.crowds[who] = &crowd{who: who}
	}
	l.crowds[who].open++
	return l.crowds[who]
}

// part takes back what join did.
func (l *connections) part(crowds ...*crowd) {
	for _, c := range crowds {
		c.open--
		if c.open == 0 {
			delete(l.crowds, c.who)
		}
	}
}
