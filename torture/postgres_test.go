package torture_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// server is a PostgreSQL server for one test, which can be killed, copied and promoted. Unlike
// the server of other tests, it makes commits durable.
type server struct {
	programs string
	owner    *syscall.Credential
	folder   string // has the data
	port     int
}

// newServer creates a server and runs it until the test ends.
func newServer(t *testing.T) *server {
	t.Helper()
	s := prepareServer(t)
	s.run(t, "initdb", "-D", s.folder, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
	s.start(t)
	return s
}

// prepareServer returns a server without data.
func prepareServer(t *testing.T) *server {
	t.Helper()
	programs, owner, port := storetest.Server(t)
	// Not in t.TempDir, which the server's user cannot access.
	parent, err := os.MkdirTemp("", "gatherkit-server-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(parent); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(parent, 0o777); err != nil {
		t.Fatal(err)
	}
	return &server{programs: programs, owner: owner, folder: filepath.Join(parent, "data"), port: port}
}

// run runs one of PostgreSQL's programs as its user.
func (s *server) run(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(s.programs, name), args...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner}
	output, err := os.CreateTemp(t.TempDir(), name) // the server would keep a pipe open
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = output, output
	if err := errors.Join(cmd.Run(), output.Close()); err != nil {
		text, _ := os.ReadFile(output.Name())
		log, _ := os.ReadFile(s.folder + ".log")
		t.Fatalf("%s: %v\n%s\n%s", name, err, text, log)
	}
}

// start runs the server until the test ends. It also ends if the test process is killed.
func (s *server) start(t *testing.T) {
	t.Helper()
	log, err := os.OpenFile(s.folder+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(s.programs, "postgres"), "-D", s.folder, "-p", strconv.Itoa(s.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=200", "-c", "wal_keep_size=64",
		// A standby that is promoted just after it has lost its primary first waits for this
		// interval. The default is five seconds.
		"-c", "wal_retrieve_retry_interval=200ms")
	cmd.Dir, cmd.Stdout, cmd.Stderr = "/", log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner, Pdeathsig: syscall.SIGKILL}
	if err := errors.Join(cmd.Start(), log.Close()); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait() // it reports that the process was killed
	}()
	t.Cleanup(func() { <-exited })
	t.Cleanup(s.end)
	program.Eventually(t, "PostgreSQL answers", func() bool {
		select {
		case <-exited:
			text, _ := os.ReadFile(s.folder + ".log")
			t.Fatalf("PostgreSQL ended:\n%s", text)
		default:
		}
		ready := exec.Command(filepath.Join(s.programs, "pg_isready"), "-q", "-h", "127.0.0.1", "-p", strconv.Itoa(s.port))
		return ready.Run() == nil
	})
}

// end kills the server if it is running.
func (s *server) end() { s.signal(syscall.SIGKILL) }

// signal sends a signal to all processes of the server that exist. It signals each one, because
// the children have their own process groups.
func (s *server) signal(sig syscall.Signal) {
	text, err := os.ReadFile(filepath.Join(s.folder, "postmaster.pid"))
	if err != nil {
		return
	}
	first, _, _ := strings.Cut(string(text), "\n")
	children, err := os.ReadFile(fmt.Sprintf("/proc/%[1]s/task/%[1]s/children", first))
	if err != nil {
		return
	}
	for _, process := range append([]string{first}, strings.Fields(string(children))...) {
		if pid, err := strconv.Atoi(process); err == nil {
			_ = syscall.Kill(pid, sig)
		}
	}
}

// kill kills the server, as the loss of its machine does.
func (s *server) kill(t *testing.T) {
	t.Helper()
	s.end()
	program.Eventually(t, "PostgreSQL is gone", func() bool {
		conn, err := net.Dial("tcp", s.address())
		return err != nil || conn.Close() != nil
	})
	// The killed process may still exist, in which case PostgreSQL would refuse to start.
	if err := os.Remove(filepath.Join(s.folder, "postmaster.pid")); err != nil {
		t.Fatal(err)
	}
}

// standby creates and starts a standby of the server.
func (s *server) standby(t *testing.T) *server {
	t.Helper()
	copied := prepareServer(t)
	copied.run(t, "pg_basebackup", "-d", s.url()+"&application_name=standby", "-D", copied.folder, "-R", "-X", "stream", "-c", "fast")
	copied.start(t)
	return copied
}

// sync sets the standbys that the server waits for at each commit; "" is none. It first waits
// until the standby has caught up, because commits would wait for that.
func (s *server) sync(t *testing.T, standbys string) {
	t.Helper()
	program.Eventually(t, "the standby has caught up", func() bool {
		return s.ask(t, "SELECT COALESCE(MAX(state), '') FROM pg_stat_replication") == "streaming"
	})
	s.exec(t, "ALTER SYSTEM SET synchronous_standby_names = '"+standbys+"'")
	s.exec(t, "SELECT pg_reload_conf()")
	program.Eventually(t, "the setting takes effect", func() bool { return s.ask(t, "SHOW synchronous_standby_names") == standbys })
	if standbys != "" {
		program.Eventually(t, "the standby is synchronous", func() bool {
			return s.ask(t, "SELECT COALESCE(MAX(sync_state), '') FROM pg_stat_replication") == "sync"
		})
	}
}

func (s *server) promote(t *testing.T) {
	t.Helper()
	s.run(t, "pg_ctl", "promote", "-w", "-D", s.folder)
}

func (s *server) address() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

func (s *server) url() string { return databaseAt(s.address()) }

// databaseAt returns the URL of a database with the given server addresses.
func databaseAt(addresses ...string) string {
	return "postgres://postgres@" + strings.Join(addresses, ",") + "/postgres?sslmode=disable"
}

func (s *server) exec(t *testing.T, statement string) {
	t.Helper()
	s.withConnection(t, func(conn *pgx.Conn) error {
		_, err := conn.Exec(t.Context(), statement)
		return err
	})
}

// ask returns the text that a query returns.
func (s *server) ask(t *testing.T, query string) (text string) {
	t.Helper()
	s.withConnection(t, func(conn *pgx.Conn) error { return conn.QueryRow(t.Context(), query).Scan(&text) })
	return text
}

func (s *server) withConnection(t *testing.T, do func(*pgx.Conn) error) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.url())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(do(conn), conn.Close(context.Background())); err != nil {
		t.Fatal(err)
	}
}
