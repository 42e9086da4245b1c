package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"gatherkit/internal/api"
	"gatherkit/internal/blob"
	"gatherkit/internal/config"
	"gatherkit/internal/feedback"
	"gatherkit/internal/password"
	"gatherkit/internal/store"
	"gatherkit/web"
)

const (
	headerTime = 10 * time.Second // for a request's headers
	readTime   = 45 * time.Second // for headers and body, also of calls whose body nobody wants
	writeTime  = time.Minute      // from the headers to the end of the answer
	idleTime   = 2 * time.Minute  // for a connection without a request
	maxHeader  = 32 << 10
	maxConns   = 2048             // each takes some 20 KiB
	drainTime  = 30 * time.Second // for calls under way when the service is told to stop
	partTime   = time.Second / 2  // in which open connections may bring one more call, before they are closed

	// The heap is small beside what calls allocate: at Go's default it was collected
	// some hundred times a second under load, which took a sixth of the time. It may
	// grow to five times what is in use, as long as that is little.
	heapGrowth = 400       // percent, as GOGC
	heapLimit  = 128 << 20 // bytes, as GOMEMLIMIT
)

type serveCommand struct {
	config.Serve `embed:""`
}

// Run serves until the program is told to stop.
func (c *serveCommand) Run(p *program) error {
	log := slog.New(slog.NewJSONHandler(p.stderr, nil))
	return p.serve(c.Serve, log, nil, func(s *store.Store, address string) error { return p.announceSetup(s, c.Serve, address) })
}

// serve opens the store and answers calls until the program is told to stop; then
// it lets those under way end. demo is the example's page, or nil; ready is called when
// calls can come.
func (p *program) serve(c config.Serve, log *slog.Logger, demo *web.Demo, ready func(s *store.Store, address string) error) (err error) {
	tuneMemory()
	metrics := newRegistry()
	s, files, closeBoth, err := p.openServed(c, metrics, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeBoth()) }()

	handler, err := newHandler(p.ctx, c, s, files, demo, metrics, log)
	if err != nil {
		return err
	}
	socket, err := listen(p.ctx, c.Listen, "--listen")
	if err != nil {
		return err
	}
	listener := divide(socket, connsAtOnce(), exemption(c.TrustedProxies), warnOnce(log))
	stopMetrics, err := metrics.serve(p.ctx, c.MetricsListen)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer stopMetrics()

	workCtx, stopWork := context.WithCancel(context.Background())
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		s.Work(workCtx)
	}()
	defer func() { stopWork(); <-worked }()

	parting := parting{Handler: handler}
	server := &http.Server{
		Handler: &parting, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ConnState: listener.changed,
		ErrorLog:  slog.NewLogLogger(log.Handler(), slog.LevelDebug), // malformed HTTP, for which nobody needs to get up
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if err := ready(s, listener.Addr().String()); err != nil {
		return errors.Join(err, server.Close())
	}
	debug.FreeOSMemory() // what was needed to start, and would be kept for the load to come
	logServing(log, c, listener.Addr().String())
	select {
	case err := <-served:
		return fmt.Errorf("the server stopped: %w", err)
	case <-p.ctx.Done():
	}
	log.Info("stopping; calls under way are finished first")
	if err := parting.from(listener); err != nil {
		return errors.Join(err, server.Close())
	}
	drainCtx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	if err := server.Shutdown(drainCtx); err != nil {
		log.Warn("some calls did not end in time", "error", err)
		return server.Close()
	}
	return nil
}

// parting is a handler that can take leave of those who hold connections open.
type parting struct {
	http.Handler
	begun atomic.Bool
}

func (p *parting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.begun.Load() {
		w.Header().Set("Connection", "close")
	}
	p.Handler.ServeHTTP(w, r)
}

// from takes no new connections and lets the open ones bring one more call each. A
// proxy may be about to use one: closed under its hands, it could not know whether the
// call may be made again.
func (p *parting) from(listener net.Listener) error {
	p.begun.Store(true)
	err := listener.Close()
	<-time.After(partTime)
	return err
}

// tuneMemory tells Go when to collect, unless the operator has.
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heapLimit)
	}
}

// uploadsPlace is where attached files are kept. With PostgreSQL there is no place, "",
// unless it is named: replicas do not see each other's folders.
func uploadsPlace(c config.Serve) string {
	if c.Uploads == "" && c.Database == "" {
		return filepath.Join(c.Data, "uploads")
	}
	return string(c.Uploads)
}

// openFiles opens the place for attached files, or returns nil when there is none.
func openFiles(ctx context.Context, c config.Serve) (*blob.Store, error) {
	place := uploadsPlace(c)
	if place == "" {
		return nil, nil
	}
	return blob.Open(ctx, place)
}

// warnOfOpenFolders says which folders with data other users of the machine may look into.
func warnOfOpenFolders(c config.Serve, log *slog.Logger) {
	folders := []string{uploadsPlace(c)}
	if c.Database == "" {
		folders = append(folders, c.Data)
	}
	for _, folder := range folders {
		if openToOthers(folder) {
			log.Warn("other users of this machine can open the data folder; run chmod 700 on it", "folder", folder)
		}
	}
}

// openServed opens the store, whose figures are watched, and the place for its files, which
// is nil where there is none.
func (p *program) openServed(c config.Serve, metrics *registry, log *slog.Logger) (s *store.Store, files *blob.Store, closeBoth func() error, err error) {
	if files, err = openFiles(p.ctx, c); err != nil {
		return nil, nil, nil, err
	}
	closeFiles := func() error { return nil }
	if files != nil {
		closeFiles = files.Close
	}
	s, err = p.open(c.Store, log, func(o *store.Options) {
		o.ObserveGroup = metrics.observeGroup
		if files != nil {
			o.RemoveFile, o.FilesSentPast = files.Remove, files.SentPast()
		}
	})
	if err != nil {
		return nil, nil, nil, errors.Join(err, closeFiles())
	}
	metrics.watch(s)
	warnOfOpenFolders(c, log)
	return s, files, func() error { return errors.Join(s.Close(), closeFiles()) }, nil
}

// newHandler is the whole service as one handler.
func newHandler(ctx context.Context, c config.Serve, s *store.Store, files *blob.Store, demo *web.Demo, metrics *registry, log *slog.Logger) (http.Handler, error) {
	passwords := password.New(rand.Reader)
	operations, err := api.New(ctx, api.Options{
		Store: s, Passwords: passwords, Log: log, Now: time.Now, NewID: feedback.NewIDs(time.Now, rand.Reader).New,
		Metrics: metrics, PublicURL: c.PublicURL.URL, TrustedProxies: c.TrustedProxies, SubmitRate: c.SubmitRate, Files: files,
	})
	if err != nil {
		return nil, err
	}
	return web.New(operations, s.Ping, demo)
}

func listen(ctx context.Context, address, flag string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s: %w; choose another address with %s", address, err, flag)
	}
	return listener, nil
}

// announceSetup prints, as long as there is no user, a link to the page that creates the
// first owner. It goes to the terminal and not to the log.
func (p *program) announceSetup(s *store.Store, c config.Serve, address string) error {
	has, err := s.HasUsers(p.ctx)
	if err != nil || has {
		return err
	}
	token := feedback.NewSetupToken(rand.Reader)
	if err := s.AddSetupToken(p.ctx, token); err != nil {
		return err
	}
	p.printf(`There are no users yet. Open this link to create the first account and its owner;
it works once, until there is a user:

  %s/setup#%s

`, strings.TrimSuffix(baseURL(c, address), "/"), token)
	return nil
}

// logServing says that calls can come, and from where.
func logServing(log *slog.Logger, c config.Serve, address string) {
	log.Info("serving", "address", address, "version", programVersion())
	if hint := reachHint(c, address); hint != "" {
		log.Info(hint)
	}
}

// reachHint returns how to open a service to other machines that only this one can
// reach, or "" when it is open or behind a proxy on this machine.
func reachHint(c config.Serve, address string) string {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsLoopback() || c.PublicURL.URL != nil || len(c.TrustedProxies) > 0 {
		return ""
	}
	return fmt.Sprintf("the service can be reached from this machine only; --listen :%d opens it to others", at.Port())
}

// baseURL is where the service can be reached from this machine, or from anywhere
// when that is configured.
func baseURL(c config.Serve, address string) string {
	if c.PublicURL.URL != nil {
		return c.PublicURL.String()
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil || net.ParseIP(host).IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}
