package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"

	"gatherkit/internal/config"
	"gatherkit/internal/database"
	"gatherkit/internal/mail"
	"gatherkit/internal/store"
)

// reloader reads the settings again when the process gets SIGHUP. The command line and the environment of a process do
// not change, but the files do that variables with _FILE name.
type reloader struct {
	read    func() (config.Serve, error)
	current config.Serve
	log     *slog.Logger
	level   *slog.LevelVar
	store   *store.Store
	mails   *mail.Sender // nil if mail is off
}

// settings reads the settings of serve again.
func (p *program) settings() (config.Serve, error) {
	var c commands
	_, err := p.parser(&c).Parse(p.args)
	if err != nil {
		err = errors.New(config.Explain(p.model, p.args, err))
	}
	return c.Serve.Serve, err
}

// run reloads the settings at each SIGHUP until ctx ends.
func (r *reloader) run(ctx context.Context, hangups <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
			if err := r.reload(); err != nil {
				r.log.Error("cannot reload the settings; those from before stay", "error", err)
			}
		}
	}
}

// reload applies the log level, the mail server and the login of PostgreSQL. If one of them cannot be applied, it
// returns an error and applies none. It logs a warning if other settings have changed.
func (r *reloader) reload() error {
	next, err := r.read()
	if err != nil {
		return err
	}
	server := mail.Server{}
	if r.mails != nil && next.SMTP != "" {
		if server, err = mail.ParseServer(next.SMTP); err != nil {
			return fmt.Errorf("--smtp: %w", err)
		}
	}
	before := r.current
	if next.Database != before.Database {
		switch err := r.store.SetLogin(string(next.Database)); {
		case err == nil:
			before.Database = next.Database
		case !errors.Is(err, database.ErrOtherDatabase):
			return fmt.Errorf("--database: %w", err)
		}
	}
	if r.mails != nil && next.SMTP != "" {
		r.mails.SetServer(server)
		before.SMTP = next.SMTP
	}
	r.level.Set(next.Level())
	before.LogLevel = next.LogLevel
	r.current = before
	r.log.Info("reloaded the settings", "log_level", before.LogLevel)
	if !reflect.DeepEqual(before, next) {
		r.log.Warn("other settings have changed, too; restart the service to apply them")
	}
	return nil
}
