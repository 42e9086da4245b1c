package database

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A network that swallows packets tells nobody, and a statement may be slow for good
// reasons: a lock, a distant server. So how long a call takes does not say whether
// PostgreSQL can be reached. A link asks it all the time on a connection of its own,
// where an answer takes no longer than the network. When there is none, it cuts every
// connection, so that calls under way fail at once instead of waiting for their
// timeout, and lets no new one begin until there is an answer again. When there is one
// on a new connection only, the way has changed, such as to a standby that took over:
// then it cuts those on which nothing has come meanwhile.
const (
	probeEvery = 250 * time.Millisecond
	probeTime  = time.Second             // for an answer on a connection that is there
	cutTime    = 1500 * time.Millisecond // for that or one on a new connection, before the link is cut
	returnTime = 3 * time.Second         // for one on a new connection, when there was none to ask on
)

var errAway = errors.New("PostgreSQL does not answer")

// link is the way to PostgreSQL.
type link struct {
	config *pgx.ConnConfig // of the connection that asks
	log    *slog.Logger

	asked atomic.Int64 // how often

	mu    sync.Mutex
	away  bool
	conns map[*linkConn]struct{}

	stop    context.CancelFunc
	stopped chan struct{}
}

func newLink(config *pgx.ConnConfig, log *slog.Logger) *link {
	return &link{config: config.Copy(), log: log, conns: map[*linkConn]struct{}{}}
}

// begin watches the way to the server until the link is closed.
func (l *link) begin() {
	ctx, stop := context.WithCancel(context.Background())
	l.stop, l.stopped = stop, make(chan struct{})
	go func() {
		defer close(l.stopped)
		l.watch(ctx)
	}()
}

func (l *link) close() {
	if l.stop == nil { // it has not begun
		return
	}
	l.stop()
	<-l.stopped
}

// dial is a connection's way to the server.
func (l *link) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c := &linkConn{link: l}
	c.heard.Store(l.asked.Load())
	ctx, c.cancel = context.WithCancel(ctx)
	defer c.cancel()
	if !l.enter(c) {
		return nil, errAway
	}
	conn, err := (&net.Dialer{KeepAlive: time.Minute}).DialContext(ctx, network, address)
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.Conn = conn; err != nil {
		delete(l.conns, c)
		return nil, err
	}
	if _, kept := l.conns[c]; !kept { // cut in between
		return nil, errors.Join(errAway, conn.Close())
	}
	return c, nil
}

// enter notes a connection, unless the server is away.
func (l *link) enter(c *linkConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.away {
		l.conns[c] = struct{}{}
	}
	return !l.away
}

// linkConn is a connection that the link may cut.
type linkConn struct {
	net.Conn // nil while it is being dialed
	link     *link
	cancel   context.CancelFunc
	heard    atomic.Int64 // link.asked when something has come last
}

func (c *linkConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.heard.Store(c.link.asked.Load())
	}
	return n, err
}

// Close closes the connection.
func (c *linkConn) Close() error {
	c.link.mu.Lock()
	delete(c.link.conns, c)
	c.link.mu.Unlock()
	return c.Conn.Close()
}

func (l *link) watch(ctx context.Context) {
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	var conn *pgx.Conn
	for {
		conn = l.ask(ctx, conn)
		select {
		case <-ctx.Done():
			if conn != nil {
				_ = conn.Close(ctx)
			}
			return
		case <-tick.C:
		}
	}
}

// ask asks once and returns the connection on which there was an answer.
func (l *link) ask(ctx context.Context, conn *pgx.Conn) *pgx.Conn {
	// Letting us in takes a distant server some seven times the way there and back.
	patience := returnTime
	if conn != nil {
		patience = cutTime
	}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	round, silent := l.asked.Add(1), false
	if conn != nil {
		err := within(asking, probeTime, conn.Ping)
		if err == nil {
			return conn
		}
		silent = pgconn.Timeout(err)
		_ = within(ctx, time.Millisecond, conn.Close)
	}
	// The process may have slept, or the server may have ended this connection alone.
	conn, err := pgx.ConnectConfig(asking, l.config)
	if ctx.Err() == nil {
		l.found(err)
	}
	if err == nil && silent {
		l.cut(func(c *linkConn) bool { return c.heard.Load() < round })
	}
	return conn
}

func within(ctx context.Context, d time.Duration, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	return do(ctx)
}

// found notes whether the server has answered. One that refuses this connection for a
// reason of its own, such as too many of them, is there.
func (l *link) found(err error) {
	var refusal *pgconn.PgError
	away := err != nil && (!errors.As(err, &refusal) || refusal.Code[:2] == "57") // shutting down, starting
	l.mu.Lock()
	before := l.away
	l.away = away
	l.mu.Unlock()
	if away == before {
		return
	}
	if !away {
		l.log.Info("the database answers again")
		return
	}
	l.log.Warn("the database does not answer; calls get 503 until it does", "error", err)
	l.cut(func(*linkConn) bool { return true })
}

// cut closes some connections.
func (l *link) cut(which func(*linkConn) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		if !which(c) {
			continue
		}
		delete(l.conns, c)
		c.cancel()
		if c.Conn != nil {
			_ = c.Conn.Close()
		}
	}
}
