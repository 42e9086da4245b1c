// Command gatherkit collects feature requests: it serves the API on SQLite or
// PostgreSQL, and has the commands that an operator needs beside it.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"gatherkit/internal/config"
	"gatherkit/internal/store"
)

// version is set when a release is built.
var version = "development"

// commands is the command line.
type commands struct {
	Serve   serveCommand   `cmd:"" help:"Serve the API."`
	Demo    demoCommand    `cmd:"" help:"Serve an example on a temporary folder, with calls to try."`
	User    userCommand    `cmd:"" help:"Add and list users, and set passwords."`
	Backup  backupCommand  `cmd:"" help:"Copy the SQLite database to a file while the service goes on."`
	Recount recountCommand `cmd:"" help:"Compare the counters of requests with the rows and repair them."`
	Migrate migrateCommand `cmd:"" help:"Bring the database's schema up to date, as serve does at its start."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

// program is what the commands have of the world.
type program struct {
	ctx            context.Context //nolint:containedctx // it is the program's own lifetime
	stdin          io.Reader
	stdout, stderr io.Writer
	model          *kong.Application
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	keepPrivate()
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run runs a command and returns its exit status: 0, 1 when it failed, 2 when it
// was called in a wrong way.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr}
	status := -1
	options := append(config.Options(), kong.Name("gatherkit"), kong.Description("Gatherkit collects feature requests and loses none."),
		kong.UsageOnError(), kong.Writers(stdout, stderr), kong.Exit(func(code int) { status = code }), kong.Bind(p))
	parser, err := kong.New(&commands{}, options...)
	if err != nil {
		panic(err) // the declarations above are wrong
	}
	p.model = parser.Model
	command, err := parser.Parse(args)
	if status >= 0 { // --help has been answered
		return status
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "gatherkit: %v\nRun gatherkit --help to see what it takes.\n", err)
		return 2
	}
	for _, warning := range config.Unknown(parser.Model, os.Environ()) {
		_, _ = fmt.Fprintln(stderr, "gatherkit: warning:", warning)
	}
	if err := command.Run(); err != nil {
		_, _ = fmt.Fprintf(stderr, "gatherkit: %s\n", oneLine(err))
		return 1
	}
	return 0
}

// oneLine is an error's text in one line. PostgreSQL's driver tells of each of its
// attempts in a line of its own, most of them alike.
func oneLine(err error) string {
	var parts []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); !slices.Contains(parts, line) {
			parts = append(parts, line)
		}
	}
	return strings.ReplaceAll(strings.Join(parts, "; "), ":; ", ": ")
}

// printf writes to the terminal; there is nothing to be done when that fails.
func (p *program) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(p.stdout, format, args...)
}

// open opens the store that the settings name.
func (p *program) open(at config.Store, log *slog.Logger, change ...func(*store.Options)) (*store.Store, error) {
	o := store.Options{
		Database: string(at.Database), Folder: at.Data, Now: time.Now, Rand: rand.Reader, Log: log,
		Fatal: func(error) { os.Exit(1) },
	}
	for _, fn := range change {
		fn(&o)
	}
	s, err := store.Open(p.ctx, o)
	if err != nil {
		return nil, fmt.Errorf("cannot open the database: %w", err)
	}
	return s, nil
}

// withExisting is with for commands that make no sense on a new database: opening
// it would make it, and a mistyped folder would look empty.
func (p *program) withExisting(at config.Store, fn func(*store.Store) error) error {
	if at.Database == "" {
		if _, err := os.Stat(at.Data); err != nil {
			return fmt.Errorf("cannot find the data: %w; name its folder with --data", err)
		}
	}
	return p.with(at, fn)
}

// with opens the store for a command and closes it when the command is done.
func (p *program) with(at config.Store, fn func(*store.Store) error) error {
	s, err := p.open(at, slog.New(slog.NewTextHandler(p.stderr, nil)))
	if err != nil {
		return err
	}
	return errors.Join(fn(s), s.Close())
}

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(p *program) error {
	p.printf("gatherkit %s\n", programVersion())
	return nil
}

// programVersion is the released version, else the revision that was built.
func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || version != "development" {
		return version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return version + " " + setting.Value
		}
	}
	return version
}
