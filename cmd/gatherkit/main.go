// Command gatherkit collects feature requests. It serves the API and the dashboard, stores
// data in SQLite or PostgreSQL, and has commands for operators.
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
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"gatherkit/internal/blob"
	"gatherkit/internal/config"
	"gatherkit/internal/store"
)

// commands are the commands of the program.
type commands struct {
	Serve       serveCommand       `cmd:"" help:"Serve the API, the dashboard and the widget."`
	Demo        demoCommand        `cmd:"" help:"Serve an example with sample data, and print API calls to try."`
	Account     accountCommand     `cmd:"" help:"List, create, rename, suspend and delete accounts."`
	User        userCommand        `cmd:"" help:"Add, list and remove users, and set roles and passwords."`
	People      peopleCommand      `cmd:"" help:"Find, export, correct and erase what is stored about a person."`
	App         appCommand         `cmd:"" help:"Rotate the API keys of apps."`
	Backup      backupCommand      `cmd:"" help:"Copy the database and the attached files to a folder, even while the service is running."`
	Copy        copyCommand        `cmd:"" help:"Copy a database into an empty one, such as from SQLite to PostgreSQL, while no service uses them."`
	Verify      verifyCommand      `cmd:"" help:"Check the database and the attached files, such as after a restore."`
	Status      statusCommand      `cmd:"" help:"Print how the background work does, and what has failed."`
	Recount     recountCommand     `cmd:"" help:"Check the counters of requests and repair wrong ones."`
	Migrate     migrateCommand     `cmd:"" help:"Update the database schema, as serve does on start."`
	Distribute  distributeCommand  `cmd:"" help:"Distribute the tables of a PostgreSQL database with Citus over several machines."`
	MailTest    mailTestCommand    `cmd:"" help:"Send a test mail, and print what the mail server says."`
	Login       loginCommand       `cmd:"" name:"login" help:"Keep the address of a service and a token for gatherkit api."`
	API         apiCommand         `cmd:"" name:"api" help:"Call an operation of a running service, and print its result as JSON."`
	Healthcheck healthcheckCommand `cmd:"" help:"Exit with 0 if the service is ready for calls, and with 1 otherwise."`
	Completion  completionCommand  `cmd:"" help:"Print a script with which a shell completes commands, flags and operations."`
	Man         manCommand         `cmd:"" help:"Print the manual page."`
	Version     versionCommand     `cmd:"" help:"Print the version."`

	PrintVersion kong.VersionFlag `name:"version" short:"v" help:"Print the version."`
}

// program is the environment of the commands.
type program struct {
	ctx            context.Context //nolint:containedctx // it has the lifetime of the program
	stdin          io.Reader
	stdout, stderr io.Writer
	args           []string
	model          *kong.Application
}

// hangups gets a SIGHUP when the settings of serve are to be read again.
var hangups = make(chan os.Signal, 1)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		signal.Notify(hangups, syscall.SIGHUP) // before anything that takes time, because SIGHUP would end the process
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	keepPrivate()
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run runs a command and returns the exit status: 0 on success, 1 if the command fails, and
// 2 if the command line is invalid.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	p := &program{ctx: ctx, stdin: stdin, stdout: stdout, stderr: stderr, args: args}
	status := -1
	parser := p.parser(&commands{}, kong.Exit(func(code int) { status = code }))
	p.model = parser.Model
	command, err := parser.Parse(askedForHelp(parser.Model, args))
	if status >= 0 { // kong has printed the help or the version
		return status
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "gatherkit: %s\nRun gatherkit --help for usage.\n",
			config.Explain(parser.Model, args, explainUsage(parser.Model, err)))
		return 2
	}
	for _, warning := range config.Unknown(parser.Model, os.Environ()) {
		_, _ = fmt.Fprintln(stderr, "gatherkit: warning:", warning)
	}
	if err := command.Run(); err != nil {
		_, _ = fmt.Fprintf(stderr, "gatherkit: %s\n", oneLine(config.Explain(parser.Model, args, err)))
		return 1
	}
	return 0
}

// parser returns a parser of command lines, which stores the settings in c.
func (p *program) parser(c *commands, options ...kong.Option) *kong.Kong {
	options = append(append(config.Options(), kong.Name("gatherkit"),
		kong.Description("Gatherkit collects feature requests and loses none."),
		kong.Vars{"version": versionLine()}, kong.Writers(p.stdout, p.stderr), kong.Bind(p)), options...)
	parser, err := kong.New(c, options...)
	if err != nil {
		panic(err) // a struct tag of the commands is invalid
	}
	return parser
}

// oneLine returns the text of an error on one line and without repeated lines. PostgreSQL's
// driver reports each attempt to connect on a line of its own.
func oneLine(text string) string {
	var parts []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); !slices.Contains(parts, line) {
			parts = append(parts, line)
		}
	}
	return strings.ReplaceAll(strings.Join(parts, "; "), ":; ", ": ")
}

// printf writes to standard output and ignores errors.
func (p *program) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(p.stdout, format, args...)
}

// log returns the log of a command that is not a service.
func (p *program) log() *slog.Logger { return config.NewLog(p.stderr, "text", slog.LevelInfo) }

// open opens the store. The functions in change adjust its options.
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

// withExisting is like with, for commands that need an existing database. A mistyped folder would
// look like an empty one.
func (p *program) withExisting(at config.Store, fn func(*store.Store) error) error {
	return p.with(at, fn, func(o *store.Options) { o.Existing = true })
}

// with opens the store, calls fn and closes the store.
func (p *program) with(at config.Store, fn func(*store.Store) error, change ...func(*store.Options)) error {
	s, err := p.open(at, p.log(), change...)
	if err != nil {
		return err
	}
	return errors.Join(s.Explain(fn(s)), s.Close())
}

// withFiles is like withExisting, and opens the storage of attached files, too. It is nil if files
// are off. It returns an error if --uploads names a folder that does not exist, which opening it would
// create.
func (p *program) withFiles(at config.Storage, fn func(*store.Store, *blob.Store) error) error {
	return p.withExisting(at.Store, func(s *store.Store) error {
		place := at.Place()
		if place == "" {
			return fn(s, nil)
		}
		if !blob.Direct(place) {
			_, err := os.Stat(place)
			switch {
			case err != nil && at.Uploads != "":
				return fmt.Errorf("cannot find the folder of attached files: %w", err)
			case err != nil: // the service has not made its own folder
				return fn(s, nil)
			}
		}
		files, err := blob.Open(place)
		if err != nil {
			return err
		}
		return fn(s, files)
	})
}
