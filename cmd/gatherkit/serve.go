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
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"gatherkit/internal/api"
	"gatherkit/internal/blob"
	"gatherkit/internal/config"
	"gatherkit/internal/feedback"
	"gatherkit/internal/mail"
	"gatherkit/internal/mcp"
	"gatherkit/internal/password"
	"gatherkit/internal/quota"
	"gatherkit/internal/store"
	"gatherkit/internal/webhook"
	"gatherkit/web"
)

// The live heap is small compared with what calls allocate. With Go's default, garbage
// collection ran about a hundred times a second under load, which took a sixth of the
// time. So the heap may grow to five times its live size while it is small.
const (
	heapGrowth = 400       // percent, as GOGC
	heapLimit  = 128 << 20 // bytes, as GOMEMLIMIT
)

type serveCommand struct {
	config.Serve `embed:""`
}

// Run serves until the program is stopped.
func (c *serveCommand) Run(p *program) error {
	var level slog.LevelVar
	level.Set(c.Level())
	return p.serve(&serving{
		Serve: c.Serve, log: c.Log(p.stderr, &level), level: &level,
		announce: func(s *store.Store, address string) error { return p.announceSetup(s, c.Serve, address) },
	})
}

// serving is what serve runs.
type serving struct {
	config.Serve
	log   *slog.Logger
	level *slog.LevelVar // of log, which SIGHUP changes; nil if SIGHUP ends the process
	demo  *web.Demo      // the page of the example, or nil
	// announce is called before the service is ready, because the program stops if it fails.
	announce func(s *store.Store, address string) error
}

// serve answers calls until the program is stopped. It then finishes the calls in progress.
func (p *program) serve(o *serving) (err error) {
	c, log := o.Serve, o.log
	tuneMemory()
	metrics := newRegistry()
	server := newServer(c, metrics, log)
	defer func() { err = errors.Join(err, server.http.Close()) }()
	stopMetrics, err := metrics.serve(p.ctx, c.MetricsListen)
	if err != nil {
		return err
	}
	defer stopMetrics()

	// A migration may take long, and a process that does not answer meanwhile would be restarted.
	s, files, err := p.openStores(c, metrics, log, func() error { return server.answer(p.ctx, web.Starting(api.Starting())) })
	if p.ctx.Err() != nil && err != nil {
		log.Info("stopped before the service was ready", "error", err)
		return nil
	}
	if err != nil {
		return err
	}
	unlock := func() {}
	defer func() {
		err = errors.Join(s.Explain(err), s.Close())
		unlock() // not before: another service may start then
	}()

	sender := newSender(c, s, metrics)
	mails, err := newMailSender(p.ctx, c, s, metrics)
	if err != nil {
		return err
	}
	handler, err := newHandler(p.ctx, c, s, files, sender, mails, o.demo, metrics, log)
	if err != nil {
		return err
	}
	warnOfFiles(p.ctx, c, files, log)
	if unlock, err = lockFolder(c.Store, log); err != nil { // after the first write, whose error says more
		return err
	}
	reload := &reloader{read: p.settings, current: c, log: log, level: o.level, store: s, mails: mails}
	defer inBackground(s.Work, s.Usage.Run, sender.Run, mails.Run,
		func(ctx context.Context) { removeIncomplete(ctx, files, log) },
		func(ctx context.Context) { reload.run(ctx, hangups) },
	)()

	if err := s.Warm(p.ctx); err != nil {
		log.Warn("cannot open all connections to the database ahead; the first calls will", "error", err)
	}
	debug.FreeOSMemory() // Go would keep the memory that was needed only to start
	if err := server.answer(p.ctx, handler); err != nil {
		return err
	}
	address := server.listener.Addr().String()
	if err := o.announce(s, address); err != nil {
		return err
	}
	logServing(log, c, address)
	return server.run(p.ctx)
}

// inBackground runs functions until stop is called, which waits for them.
func inBackground(runs ...func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	for _, run := range runs {
		work.Go(func() { run(ctx) })
	}
	return func() { cancel(); work.Wait() }
}

// tuneMemory sets when garbage collection runs, unless the operator has set it.
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(heapLimit)
	}
}

// warnOfOpenFolders logs which data folders other users of the machine can open.
func warnOfOpenFolders(c config.Serve, log *slog.Logger) {
	folders := []string{c.Place()}
	if c.Database == "" {
		folders = append(folders, c.Data)
	}
	for _, folder := range folders {
		if openToOthers(folder) {
			log.Warn("other users of this machine can open the data folder; run chmod 700 on it", "folder", folder)
		}
	}
}

// warnOfFiles logs if attached files cannot be stored.
func warnOfFiles(ctx context.Context, c config.Serve, files *blob.Store, log *slog.Logger) {
	if files == nil {
		return
	}
	if err := files.Try(ctx); err != nil {
		log.Warn("attached files cannot be stored now", "place", c.Place(), "error", err)
	}
}

// removeIncomplete removes incomplete files that are a day old, because no upload takes so long.
func removeIncomplete(ctx context.Context, files *blob.Store, log *slog.Logger) {
	if files == nil {
		return
	}
	if err := files.RemoveIncomplete(ctx, time.Now().Add(-24*time.Hour)); err != nil && ctx.Err() == nil {
		log.Warn("incomplete files cannot be removed", "error", err)
	}
}

// openStores opens the store and the store for attached files, which is nil if there is
// none, and adds the metrics of the store. It calls migrating before it migrates an existing database.
func (p *program) openStores(
	c config.Serve, metrics *registry, log *slog.Logger, migrating func() error,
) (s *store.Store, files *blob.Store, err error) {
	place := c.Place()
	s, err = p.open(c.Store, log, func(o *store.Options) {
		o.Migrating = migrating
		o.Quotas = quota.Limits(c.Quotas)
		const day = 24 * time.Hour
		o.Retention = store.Retention{Metadata: time.Duration(c.MetadataDays) * day, People: time.Duration(c.PeopleDays) * day}
		o.ObserveGroup, o.ObserveWrite = metrics.observeGroup, metrics.observeWrite
		if place != "" { // files is opened below, before the store removes any
			o.RemoveFile = func(ctx context.Context, id feedback.ID) error { return files.Remove(ctx, id) }
			o.FilesSentPast = blob.Direct(place)
		}
	})
	if err != nil {
		return nil, nil, err
	}
	if place != "" {
		if files, err = blob.Open(place); err != nil {
			return nil, nil, errors.Join(err, s.Close())
		}
	}
	metrics.watch(s)
	metrics.watchDisks(c)
	warnOfOpenFolders(c, log)
	return s, files, nil
}

// newSender returns what delivers webhooks.
func newSender(c config.Serve, s *store.Store, metrics *registry) *webhook.Sender {
	return webhook.NewSender(s.Webhooks, webhook.Options{
		Home: baseURL(c, c.Listen), Allow: c.WebhookAllow, Metrics: metrics, Submissions: s.Submissions,
	})
}

// newHandler returns the handler of the whole service.
func newHandler(
	ctx context.Context, c config.Serve, s *store.Store, files *blob.Store, sender *webhook.Sender, mails *mail.Sender, demo *web.Demo,
	metrics *registry, log *slog.Logger,
) (http.Handler, error) {
	passwords := password.New(rand.Reader)
	operations, err := api.New(ctx, api.Options{
		Store: s, Passwords: passwords, Log: log, QuietLog: c.LogCalls == "failed",
		Now: time.Now, NewID: feedback.NewIDs(time.Now, rand.Reader).New,
		Metrics: metrics, PublicURL: c.PublicURL.URL, TrustedProxies: c.TrustedProxies, SubmitRate: c.SubmitRate, Files: files,
		Webhooks: sender, Mail: mails, Ending: ctx.Done(),
	})
	if err != nil {
		return nil, err
	}
	service, err := web.New(operations, s.Ping, demo)
	if err != nil {
		return nil, err
	}
	agents, err := mcp.New(operations, operations.OpenAPI(), programVersion(), log)
	if err != nil {
		return nil, err
	}
	return operations.Hosts(agents.Before(service)), nil
}

// announceSetup prints a link to the page that creates the first owner, unless there are
// users. The link is secret, so it goes to standard output and not to the log.
func (p *program) announceSetup(s *store.Store, c config.Serve, address string) error {
	has, err := s.Team.HasUsers(p.ctx)
	if err != nil || has {
		return err
	}
	token := feedback.NewSetupToken(rand.Reader)
	if err := s.Team.AddSetupToken(p.ctx, token); err != nil {
		return err
	}
	p.printf(`There are no users yet. To create the first account and its owner, open this link.
It works once, and expires as soon as there is a user:

  %s/setup#%s

`, strings.TrimSuffix(baseURL(c, address), "/"), token)
	return nil
}

// logServing logs that the service accepts calls, and from where.
func logServing(log *slog.Logger, c config.Serve, address string) {
	log.Info("serving", "address", address, "version", programVersion())
	if hint := loopbackHint(c, address); hint != "" {
		log.Info(hint)
	}
}

// loopbackHint returns how to accept connections from other machines. It returns "" if the
// service already does, or if it is behind a proxy on this machine.
func loopbackHint(c config.Serve, address string) string {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsLoopback() || c.PublicURL.URL != nil || len(c.TrustedProxies) > 0 {
		return ""
	}
	return fmt.Sprintf("accepting connections only from this machine; use --listen :%d to accept them from other machines", at.Port())
}

// baseURL returns the public URL of the service if it is set, and otherwise a URL that
// works on this machine.
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
