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

	"gatherkit/internal/deadline"
)

// A network that drops packets reports no error, and a statement may be slow for good
// reasons, such as a lock or a distant server. So the duration of a call does not say
// whether PostgreSQL answers. A link sends it empty queries on a connection of its own,
// where an answer takes only as long as the network. Without an answer it closes every
// connection, so that calls under way fail at once and do not wait for their timeout,
// and refuses new ones until there is an answer again. If only a new connection gets an
// answer, another server may have taken over, such as a standby: then it closes the
// connections that have received nothing in the meantime.
var (
	probeTime  = deadline.Of(time.Second)             // for an answer on an existing connection
	cutTime    = deadline.Of(1500 * time.Millisecond) // for that and one on a new connection, before all are closed
	returnTime = deadline.Of(3 * time.Second)         // for an answer on a new connection, if there was none before
)

const probeEvery = 250 * time.Millisecond

var errAway = errors.New("PostgreSQL does not answer")

// link watches whether PostgreSQL answers.
type link struct {
	config *pgx.ConnConfig // of the connection for queries of its own
	log    *slog.Logger

	asked atomic.Int64          // how many times it has asked
	login atomic.Pointer[login] // of new connections

	mu    sync.Mutex
	away  bool
	conns map[*linkConn]struct{}

	stop    context.CancelFunc
	stopped chan struct{}
}

// login is the user and the password of a connection.
type login struct{ user, password string }

func newLink(config *pgx.ConnConfig, log *slog.Logger) *link {
	l := &link{config: config.Copy(), log: log, conns: map[*linkConn]struct{}{}}
	l.login.Store(&login{config.User, config.Password})
	return l
}

// logIn sets the user and the password of a new connection.
func (l *link) logIn(_ context.Context, config *pgx.ConnConfig) error {
	login := l.login.Load()
	config.User, config.Password = login.user, login.password
	return nil
}

// ErrOtherDatabase says that a URL names another database than the one that is open.
var ErrOtherDatabase = errors.New("the URL names another database")

// SetLogin makes new connections to PostgreSQL log in as the user in url, such as after a change of the password. It
// returns ErrOtherDatabase if url differs in anything else.
func (db *DB) SetLogin(url string) error {
	if db.link == nil {
		return ErrOtherDatabase
	}
	config, err := parsePostgres(url)
	if err != nil {
		return err
	}
	before, err := withoutLogin(db.url)
	if err != nil {
		return err
	}
	after, err := withoutLogin(url)
	if err != nil {
		return err
	}
	if before != after {
		return ErrOtherDatabase
	}
	db.link.login.Store(&login{config.User, config.Password})
	return nil
}

// begin watches the server until the link is closed.
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

// dial opens a connection that the link can close.
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
	if _, kept := l.conns[c]; !kept { // the link has closed it meanwhile
		return nil, errors.Join(errAway, conn.Close())
	}
	return c, nil
}

// enter adds a connection, unless the server is away.
func (l *link) enter(c *linkConn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.away {
		l.conns[c] = struct{}{}
	}
	return !l.away
}

// linkConn is a connection that the link may close.
type linkConn struct {
	net.Conn // nil while it is being dialed
	link     *link
	cancel   context.CancelFunc
	heard    atomic.Int64 // the value of link.asked when data last arrived
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

// ask asks once and returns the connection that got an answer, or nil.
func (l *link) ask(ctx context.Context, conn *pgx.Conn) *pgx.Conn {
	// A new connection to a distant server takes about seven round trips.
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
	// The process may have been suspended, or the server may have closed only this connection.
	config := l.config.Copy()
	_ = l.logIn(asking, config) // it always succeeds
	conn, err := pgx.ConnectConfig(asking, config)
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

// found records whether the server has answered. A server that refuses the connection,
// for example because there are too many, has answered.
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

// cut closes the connections for which which returns true.
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
