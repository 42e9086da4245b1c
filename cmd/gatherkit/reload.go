package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"slices"

	"github.com/alecthomas/kong"

	"gatherkit/internal/config"
	"gatherkit/internal/database"
	"gatherkit/internal/mail"
	"gatherkit/internal/store"
)

// reloader reads the settings again when the process gets SIGHUP. The command line and the environment of a process do
// not change, but the files do that variables with _FILE name.
type reloader struct {
	read    func() (config.Serve, error)
	current config.Serve // what applies
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
			return fmt.Errorf("GATHERKIT_SMTP_FILE: %w", err)
		}
	}
	if next.Database != r.current.Database {
		switch err := r.store.SetLogin(string(next.Database)); {
		case err == nil:
			r.current.Database = next.Database
		case !errors.Is(err, database.ErrOtherDatabase):
			return fmt.Errorf("GATHERKIT_DATABASE_FILE: %w", err)
		}
	}
	if r.mails != nil && next.SMTP != "" {
		r.mails.SetServer(server)
		r.current.SMTP = next.SMTP
	}
	// The operator sees this line whatever the level was and is.
	seen := max(slog.LevelInfo, r.current.Level(), next.Level())
	r.level.Set(next.Level())
	r.current.LogLevel = next.LogLevel
	r.log.Log(context.Background(), seen, "reloaded the settings", "log_level", next.LogLevel)
	if others := differing(r.current, next); len(others) > 0 {
		r.log.Log(context.Background(), max(slog.LevelWarn, seen), "settings have changed that apply only after a restart", "settings", others)
	}
	return nil
}

// differing returns the variables of settings that differ, which are those with _FILE: nothing else can change.
func differing(a, b config.Serve) (variables []string) {
	of := func(c *config.Serve) map[string]any {
		values := map[string]any{}
		parser, err := kong.New(c, config.Options()...)
		if err != nil {
			panic(err) // a struct tag of the settings is invalid
		}
		for _, flag := range parser.Model.Flags {
			if len(flag.Envs) > 0 {
				values[flag.Envs[0]+"_FILE"] = flag.Target.Interface()
			}
		}
		return values
	}
	before := of(&a)
	for variable, value := range of(&b) {
		if !reflect.DeepEqual(before[variable], value) { // a database does not print all of its URL
			variables = append(variables, variable)
		}
	}
	slices.Sort(variables)
	return variables
}
