package storetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Missing ends a test that needs something which is not installed: it fails when
// the environment variable REQUIRE, a comma-separated list, names it, so that a
// build server cannot pass by leaving tests out; otherwise the test is skipped.
// how says how to install it.
func Missing(t testing.TB, what, how string) {
	t.Helper()
	required := strings.FieldsFunc(os.Getenv("REQUIRE"), func(r rune) bool { return r == ',' || r == ' ' })
	if slices.Contains(required, what) {
		t.Fatalf("this test needs %s: %s", what, how)
	}
	t.Skipf("this test needs %s: %s", what, how)
}

// Postgres returns the URL of a new, empty database, which is dropped when the
// test ends. It lies on a throw-away PostgreSQL server: that of Serve, or one that the
// test process starts and that ends with it. Without PostgreSQL on the machine
// it does what Missing does for "postgres".
func Postgres(t testing.TB) string {
	t.Helper()
	return newPostgres(t, "")
}

// newPostgres is Postgres, for a copy of another database of the server, unless that is "".
func newPostgres(t testing.TB, template string) string {
	t.Helper()
	server, name := newDatabase(t, template)
	t.Cleanup(func() { server.exec(t, "DROP DATABASE "+name+" WITH (FORCE)") })
	return server.url(name)
}

// throwAway returns the throw-away server. Without PostgreSQL on the machine it does what Missing does.
func throwAway(t testing.TB) *cluster {
	t.Helper()
	server, err := sharedCluster()
	if errors.Is(err, errNoPostgres) {
		Missing(t, "postgres", "install it with `apt-get install postgresql`")
	}
	if err != nil {
		t.Fatalf("start PostgreSQL: %v", err)
	}
	return server
}

// newDatabase makes a database on the throw-away server.
func newDatabase(t testing.TB, template string) (server *cluster, name string) {
	t.Helper()
	server = throwAway(t)
	name = "test_" + strings.ToLower(rand.Text())
	if template != "" {
		server.execWhenFree(t, "CREATE DATABASE "+name+" TEMPLATE "+template)
	} else {
		server.exec(t, "CREATE DATABASE "+name)
	}
	return server, name
}

// DurablePostgres starts a server of its own for the life of the process, which
// keeps what it has committed, as in production, and returns the URL of an empty
// database. It is for measurements; folder is on the disk that is measured.
func DurablePostgres(folder string) (string, error) {
	server, err := startCluster(folder, durable)
	if err != nil {
		return "", err
	}
	kept = append(kept, server)
	return server.url("postgres"), nil
}

// Server says how a test can run a PostgreSQL of its own: the folder of its programs,
// whom they run as (nil for the current user), and a free port. Without PostgreSQL on
// the machine it does what Missing does for "postgres".
func Server(t testing.TB) (programs string, owner *syscall.Credential, port int) {
	t.Helper()
	programs, err := findPostgres()
	if errors.Is(err, errNoPostgres) {
		Missing(t, "postgres", "install it with `apt-get install postgresql`")
	}
	owner, ownerErr := serverUser()
	port, portErr := freePort()
	if err := errors.Join(err, ownerErr, portErr); err != nil {
		t.Fatal(err)
	}
	return programs, owner, port
}

// kept are the servers of DurablePostgres and Serve: forgotten, they would end.
var kept []*cluster

var (
	portsGiven atomic.Int64

	sharedCluster = sync.OnceValues(func() (*cluster, error) {
		if port, err := strconv.Atoi(os.Getenv(portVariable)); err == nil {
			return &cluster{port: port, served: true}, nil
		}
		return startCluster(parentFolder(), forgetful)
	})

	errNoPostgres = errors.New("PostgreSQL is not installed")
)

// portVariable is an environment variable with the port of the server that the tests of several
// processes share.
const portVariable = "POSTGRES_OF_TESTS"

// Serve runs a throw-away server for the tests of several processes, which find its port in the variable
// POSTGRES_OF_TESTS. It writes the port to out, and ends when in ends.
func Serve(in io.Reader, out io.Writer) error {
	server, err := startCluster(parentFolder(), forgetful)
	if err != nil {
		return err
	}
	kept = append(kept, server)
	if _, err := fmt.Fprintln(out, server.port); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}

// cluster is a running server.
type cluster struct {
	port   int
	served bool // by Serve
	// alive is the standard input of the shell that keeps the server. It is never
	// written to or closed: it ends with this process, and the server with it.
	alive io.Closer
}

// keep is the shell program that makes, starts and removes a cluster. It waits for
// the end of its standard input, which comes however the test process ends: by
// itself, by a panic or by kill -9, and also in the middle of the start. It answers
// "ready" or, when the start fails, why.
const keep = `
bin=$1 parent=$2 settings=$3
folder=$(mktemp -d "$parent/gatherkit-postgres-XXXXXX" 2>&1) || { echo "$folder"; exit 1; }
trap '"$bin"/pg_ctl stop -D "$folder/data" -m immediate >"$folder/stop" 2>&1; rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
trap '' PIPE # a write to a process that has ended must not keep us from cleaning up
cd "$folder" &&
"$bin"/initdb -D data -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >log 2>&1 &&
echo "$settings" >>data/postgresql.conf &&
"$bin"/pg_ctl start -w -D data -l log >>log 2>&1 || { tail -n 20 log; exit 1; }
echo ready
exec >&-
read -r _`

const (
	settings = `
listen_addresses = '127.0.0.1'
port = %d
unix_socket_directories = ''
max_connections = 400
log_min_messages = log
log_checkpoints = off
`
	// forgetful makes a server that is quick and loses everything in a power cut. Plans must
	// not depend on whether autovacuum has come by, which it does in a test that takes long.
	forgetful = `
shared_buffers = 64MB
max_wal_size = 256MB
fsync = off
full_page_writes = off
autovacuum = off`
	// durable is PostgreSQL's own way, with memory for a million requests.
	durable = `
shared_buffers = 512MB
max_wal_size = 4GB`
)

func startCluster(parent, more string) (*cluster, error) {
	bin, err := findPostgres()
	if err != nil {
		return nil, err
	}
	owner, err := serverUser()
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	shell := exec.Command("sh", "-c", keep, "sh", bin, parent, fmt.Sprintf(settings, port)+more)
	shell.Dir = "/" // the server's user may not be allowed into ours
	// In a process group of its own, Ctrl-C in a terminal does not reach it: it sees
	// the tests to their end.
	shell.SysProcAttr = &syscall.SysProcAttr{Credential: owner, Setpgid: true}
	alive, err := shell.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := shell.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := shell.Start(); err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(stdout)
	if err != nil || string(answer) != "ready\n" {
		return nil, fmt.Errorf("the server did not start: %w\n%s", errors.Join(err, shell.Wait()), answer)
	}
	return &cluster{port: port, alive: alive}, nil
}

// url is the address of a database of the cluster.
func (c *cluster) url(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", c.port, database)
}

func (c *cluster) exec(t testing.TB, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := c.try(ctx, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// version is such as 150018.
func (c *cluster) version(t testing.TB) (number int) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), c.url("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	err = conn.QueryRow(context.Background(), "SELECT current_setting('server_version_num')::int").Scan(&number)
	if err := errors.Join(err, conn.Close(context.Background())); err != nil {
		t.Fatal(err)
	}
	return number
}

// try runs a statement on a connection of its own.
func (c *cluster) try(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, c.url("postgres"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}

// findPostgres returns the folder of the server's programs.
func findPostgres() (string, error) {
	var folders []string
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		folders = append(folders, strings.TrimSpace(string(out)))
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			folders = append(folders, filepath.Dir(path))
		}
	}
	packaged, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	slices.SortFunc(packaged, func(a, b string) int { return packagedVersion(b) - packagedVersion(a) })
	for _, folder := range append(folders, packaged...) {
		// pg_config may come with the client alone.
		_, serverErr := os.Stat(filepath.Join(folder, "postgres"))
		_, initErr := os.Stat(filepath.Join(folder, "initdb"))
		if serverErr == nil && initErr == nil {
			return folder, nil
		}
	}
	return "", errNoPostgres
}

// packagedVersion is the major version in a folder like /usr/lib/postgresql/15/bin.
func packagedVersion(folder string) int {
	major, _, _ := strings.Cut(filepath.Base(filepath.Dir(folder)), ".")
	version, err := strconv.Atoi(major)
	if err != nil {
		return 0 // not a version: the last resort
	}
	return version
}

// serverUser is whom the server runs as, nil for the current user. PostgreSQL
// refuses to run as root.
func serverUser() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root; add a user named postgres: %w", err)
	}
	uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(uidErr, gidErr)
}

// parentFolder is where the cluster's folder goes: into memory when there is plenty
// of it, because a new database is some 300 small files, which takes a tenth of
// the time there.
func parentFolder() string {
	const memory, plenty = "/dev/shm", 2 << 30 // bytes
	var fs syscall.Statfs_t
	if os.Getenv("TMPDIR") == "" && syscall.Statfs(memory, &fs) == nil && fs.Bavail*uint64(fs.Bsize) >= plenty {
		return memory
	}
	return os.TempDir()
}

// freePort returns a port below the ephemeral range: a client that redials a dead
// port within that range can connect to itself. The search starts at the process
// id, so that test processes side by side do not race for the same port, and gives none
// twice, so that tests side by side do not either.
func freePort() (int, error) {
	const first, last = 20000, 32767
	for range last - first + 1 {
		port := first + (os.Getpid()+int(portsGiven.Add(1)))%(last-first+1)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			return port, l.Close()
		}
	}
	return 0, fmt.Errorf("no port from %d to %d is free on 127.0.0.1", first, last)
}
