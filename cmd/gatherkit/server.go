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

	"gatherkit/internal/api"
	"gatherkit/internal/config"
	"gatherkit/internal/deadline"
	"gatherkit/web"
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

// server answers calls from the start of the process to its end. Until the service is ready, it answers 503: a
// migration may take long, and a process that does not answer at all would be restarted.
type server struct {
	http     *http.Server
	listener *limitedListener
	handler  atomic.Pointer[http.Handler]
	ending   atomic.Bool
	served   chan error
}

// startServer listens, and answers that the service is starting.
func startServer(ctx context.Context, c config.Serve, metrics *registry, log *slog.Logger) (*server, error) {
	socket, err := listen(ctx, c.Listen, "--listen")
	if err != nil {
		return nil, err
	}
	s := &server{
		listener: limitConnections(socket, maxOpenConnections(), exemption(c.TrustedProxies), warnOnce(log)),
		served:   make(chan error, 1),
	}
	s.answer(web.Starting(api.Starting()))
	s.http = &http.Server{
		Handler: metrics.count(s), ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader, ConnState: s.listener.stateChanged,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug), // malformed HTTP needs no attention
	}
	metrics.watchConnections(s.listener)
	go func() { s.served <- s.http.Serve(s.listener) }()
	return s, nil
}

// answer sets what answers the calls that begin from now on.
func (s *server) answer(h http.Handler) { s.handler.Store(&h) }

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.ending.Load() {
		w.Header().Set("Connection", "close")
	}
	(*s.handler.Load()).ServeHTTP(w, r)
}

// run answers calls until ctx ends, and then finishes the calls in progress.
func (s *server) run(ctx context.Context, log *slog.Logger) error {
	select {
	case err := <-s.served:
		return fmt.Errorf("the server stopped: %w", err)
	case <-ctx.Done():
	}
	log.Info("stopping after the calls in progress are finished")
	if err := s.leave(); err != nil {
		return errors.Join(err, s.http.Close())
	}
	drainCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if err := s.http.Shutdown(drainCtx); err != nil {
		log.Warn("some calls did not finish in time and are canceled", "error", err)
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
