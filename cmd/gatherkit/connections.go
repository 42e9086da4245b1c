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
	callerShare  = 16 // a caller gets at most 1/16 of the connections
	networkShare = 4  // a network gets at most 1/4 of the connections
	// freshTime is how long a connection must be idle before it may be closed to make room
	// for another one. Until then, a request may be on its way.
	freshTime = 250 * time.Millisecond
)

// limitedListener is a listener that divides a limited number of connections among callers.
// If a caller or a network has used its share, a new connection replaces one of its own idle
// connections; if it has none, the new connection is closed. If all connections are in use,
// a new one replaces an idle one of the network and the caller with the most connections. If
// no connection is idle, Accept waits.
//
// A connection is idle until the headers of a request have arrived, and again after the
// response. Trusted proxies and loopback peers have no limit of their own, and their idle
// connections are closed last.
type limitedListener struct {
	net.Listener
	limit, perCaller, perNetwork int
	fresh                        time.Duration
	exempt                       func(peer netip.Addr) bool
	refused                      func(peer netip.Addr) // called when a connection is closed because of a share

	mu     sync.Mutex
	freed  sync.Cond // signaled when a connection becomes idle or is closed
	closed bool
	open   int
	shares map[netip.Prefix]*share // of callers and networks
	idle   list.List               // of *connection; the longest idle one is at the front
}

// share counts the connections of a caller or a network.
type share struct {
	of   netip.Prefix
	open int
}

// connection is an accepted connection. The listener's mu guards its fields.
type connection struct {
	net.Conn
	listener        *limitedListener
	exempt, closed  bool
	caller, network *share        // nil for exempt peers
	idle            *list.Element // nil while a request is in progress
	idleSince       time.Time
}

// limitConnections returns a listener that has at most limit open connections.
func limitConnections(inner net.Listener, limit int, exempt func(netip.Addr) bool, refused func(netip.Addr)) *limitedListener {
	l := &limitedListener{
		Listener: inner, limit: limit, perCaller: max(1, limit/callerShare), perNetwork: max(1, limit/networkShare), fresh: freshTime,
		exempt: exempt, refused: refused, shares: map[netip.Prefix]*share{},
	}
	l.freed.L = &l.mu
	return l
}

// opened returns the number of open connections.
func (l *limitedListener) opened() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

// exemption returns a function that reports whether a peer is a trusted proxy or on the
// same host. Local peers are developers or proxies.
func exemption(trusted []netip.Prefix) func(netip.Addr) bool {
	return func(peer netip.Addr) bool {
		return peer.IsLoopback() || fair.Within(peer, trusted)
	}
}

// warnOnce returns a function that logs the first refused peer, and the first one with a
// private address. That one is probably a proxy, and must be logged even if other peers are
// refused before.
func warnOnce(log *slog.Logger) func(netip.Addr) {
	var private, others sync.Once
	return func(peer netip.Addr) {
		once := &others
		if peer.IsPrivate() {
			once = &private
		}
		once.Do(func() {
			log.Warn("refusing connections from a peer that has reached its limit; if it is your proxy, add it to --trusted-proxies",
				"peer", peer.String())
		})
	}
}

// Accept returns the next connection that is within the limits.
func (l *limitedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from, _ := netip.ParseAddrPort(conn.RemoteAddr().String()) // all unparsable addresses count as one caller
		peer := from.Addr().Unmap()
		if admitted := l.admit(conn, peer); admitted != nil {
			return admitted, nil
		}
		l.refused(peer)
		_ = conn.Close()
	}
}

// Close closes the listener. An Accept that is waiting returns.
func (l *limitedListener) Close() error {
	l.mu.Lock()
	l.closed = true
	l.freed.Signal()
	l.mu.Unlock()
	return l.Listener.Close()
}

// closeIdle closes all connections that are idle.
func (l *limitedListener) closeIdle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.idle.Len() > 0 {
		c := l.idle.Front().Value.(*connection) //nolint:forcetypeassert // the list has only connections
		c.release()
		_ = c.Conn.Close() // the peer may have closed it
	}
}

// stateChanged is the server's ConnState hook.
func (l *limitedListener) stateChanged(conn net.Conn, state http.ConnState) {
	c := conn.(*connection) //nolint:forcetypeassert // the server serves what Accept returns
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case state == http.StateActive && c.idle != nil:
		l.idle.Remove(c.idle)
		c.idle = nil
	case state == http.StateIdle && c.idle == nil && !c.closed:
		c.markIdle()
		l.freed.Signal()
	}
}

// admit waits until a connection is within the limits, or returns nil if it must be closed.
func (l *limitedListener) admit(conn net.Conn, peer netip.Addr) net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &connection{Conn: conn, listener: l, exempt: l.exempt(peer)}
	if !c.exempt {
		caller := fair.Caller(peer)
		c.caller, c.network = l.add(caller), l.add(fair.Network(caller))
	}
	sameCaller := func(other *connection) bool { return other.caller == c.caller }
	sameNetwork := func(other *connection) bool { return other.network == c.network }
	if !c.exempt && (c.caller.open > l.perCaller && !l.replace(sameCaller) ||
		c.network.open > l.perNetwork && !l.replace(sameNetwork)) {
		l.subtract(c.caller, c.network)
		return nil
	}
	for l.open >= l.limit && !l.closed && !l.replace(func(*connection) bool { return true }) {
		retry := time.AfterFunc(l.fresh, l.freed.Signal)
		l.freed.Wait()
		retry.Stop()
	}
	l.open++
	c.markIdle()
	return c
}

// markIdle appends the connection to the idle ones.
func (c *connection) markIdle() {
	c.idle, c.idleSince = c.listener.idle.PushBack(c), time.Now()
}

// replace closes one of the matching idle connections, and reports whether there was one.
// It does not close fresh ones.
func (l *limitedListener) replace(matches func(*connection) bool) bool {
	var first *connection
	for e := l.idle.Front(); e != nil; e = e.Next() {
		c := e.Value.(*connection) //nolint:forcetypeassert // the list has only connections
		if time.Since(c.idleSince) < l.fresh {
			break // the rest of the list is even fresher
		}
		if matches(c) && (first == nil || c.closesBefore(first)) {
			first = c
		}
	}
	if first == nil {
		return false
	}
	first.release()
	_ = first.Conn.Close()
	return true
}

// closesBefore reports whether to close c instead of other, which has been idle for longer.
func (c *connection) closesBefore(other *connection) bool {
	if c.exempt || other.exempt {
		return !c.exempt
	}
	return cmp.Or(cmp.Compare(c.network.open, other.network.open), cmp.Compare(c.caller.open, other.caller.open)) > 0
}

// Close closes the connection and removes it from the counts.
func (c *connection) Close() error {
	c.listener.mu.Lock()
	c.release()
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// release removes the connection from the counts. Further calls have no effect.
func (c *connection) release() {
	if c.closed {
		return
	}
	c.closed = true
	l := c.listener
	if c.idle != nil {
		l.idle.Remove(c.idle)
		c.idle = nil
	}
	l.open--
	if !c.exempt {
		l.subtract(c.caller, c.network)
	}
	l.freed.Signal()
}

// add counts one more connection of a caller or a network.
func (l *limitedListener) add(of netip.Prefix) *share {
	if l.shares[of] == nil {
		l.shares[of] = &share{of: of}
	}
	l.shares[of].open++
	return l.shares[of]
}

// subtract reverses add.
func (l *limitedListener) subtract(shares ...*share) {
	for _, s := range shares {
		s.open--
		if s.open == 0 {
			delete(l.shares, s.of)
		}
	}
}
