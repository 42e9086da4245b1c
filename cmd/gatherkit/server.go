package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"gatherkit/internal/config"
	"gatherkit/internal/deadline"
)

var (
	headerTime = deadline.Of(10 * time.Second) // for the headers of a request
	readTime   = deadline.Of(45 * time.Second) // for headers and body, even if no handler reads the body
	writeTime  = deadline.Of(time.Minute)      // from the headers of a request to the end of the response
	idleTime   = deadline.Of(2 * time.Minute)  // for a connection without a request
	drainTime  = deadline.Of(30 * time.Second) // for calls in progress when the service stops
)

const (
	maxHeader = 32 << 10        // bytes
	maxConns  = 2048            // each uses about 20 KiB
	partTime  = time.Second / 2 // during which open connections accept one more call when the service stops
)

// server answers calls from its first handler to the end of the process.
type server struct {
	settings config.Serve
	metrics  *registry
	log      *slog.Logger
	http     *http.Server
	listener *limitedListener // nil before the first handler
	handler  atomic.Pointer[http.Handler]
	ending   atomic.Bool
	served   chan error
}

// newServer returns a server that does not listen yet.
func newServer(c config.Serve, metrics *registry, log *slog.Logger) *server {
	s := &server{settings: c, metrics: metrics, log: log, served: make(chan error, 1)}
	s.http = &http.Server{
		Handler: metrics.count(s), ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader,
		ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelDebug), // malformed HTTP needs no attention
	}
	return s
}

// answer lets h answer the calls that begin from now on. The first time, it begins to listen: until then connections
// are refused, so that a proxy sends its calls to another replica.
func (s *server) answer(ctx context.Context, h http.Handler) error {
	s.handler.Store(&h)
	if s.listener != nil {
		return nil
	}
	socket, err := listen(ctx, s.settings.Listen, "--listen")
	if err != nil {
		return err
	}
	s.listener = limitConnections(socket, maxOpenConnections(), exemption(s.settings.TrustedProxies), warnOnce(s.log))
	s.http.ConnState = s.listener.stateChanged
	s.metrics.watchConnections(s.listener)
	go func() { s.served <- s.http.Serve(s.listener) }()
	return nil
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.ending.Load() {
		w.Header().Set("Connection", "close")
	}
	(*s.handler.Load()).ServeHTTP(w, r)
}

// run answers calls until ctx ends, and then finishes the calls in progress.
func (s *server) run(ctx context.Context) error {
	select {
	case err := <-s.served:
		return fmt.Errorf("the server stopped: %w", err)
	case <-ctx.Done():
	}
	s.log.Info("stopping after the calls in progress are finished")
	if err := s.leave(); err != nil {
		return errors.Join(err, s.http.Close())
	}
	drainCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if err := s.http.Shutdown(drainCtx); err != nil {
		s.log.Warn("some calls did not finish in time and are canceled", "error", err)
		return s.http.Close()
	}
	return nil
}

// leave accepts no more connections, and waits for partTime, during which each open connection can make one more
// call. A proxy may be about to use a connection; if it were closed then, the proxy could not know whether it may
// repeat the call. leave then closes the connections that have not made a call: Shutdown would wait five seconds for
// the first call of each, and browsers open connections ahead of need.
func (s *server) leave() error {
	s.ending.Store(true)
	err := s.listener.Close()
	<-time.After(partTime)
	s.listener.closeIdle()
	return err
}

func listen(ctx context.Context, address, flag string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another address with %s", address, err, flag)
	}
	return listener, nil
}
