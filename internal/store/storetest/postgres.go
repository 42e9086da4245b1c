package storetest

import (
	"bytes"
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
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Missing fails a test for which something is not installed when the environment
// variable REQUIRE names it, as it does in CI; elsewhere it skips the test.
func Missing(t testing.TB, what, how string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("REQUIRE"), ","), what) {
		t.Fatalf("%s is missing: %s", what, how)
	}
	t.Skipf("%s is missing: %s", what, how)
}

// Cluster is a throw-away PostgreSQL server.
type Cluster struct {
	Port   int
	folder string
	stdin  io.Closer
	done   chan struct{}
}

var (
	startShared sync.Once
	shared      *Cluster
	sharedErr   error

	errNoPostgres = errors.New("no PostgreSQL")
)

// Postgres returns the URL of a new, empty database on a server that the test
// process starts once. The database goes when the test ends.
func Postgres(t testing.TB) string {
	t.Helper()
	startShared.Do(func() { shared, sharedErr = startCluster() })
	if errors.Is(sharedErr, errNoPostgres) {
		Missing(t, "postgres", "install it with: apt-get install postgresql")
	}
	if sharedErr != nil {
		t.Fatalf("start PostgreSQL: %v", sharedErr)
	}
	name := "test_" + strings.ToLower(rand.Text())
	shared.exec(t, "CREATE DATABASE "+name)
	t.Cleanup(func() { shared.exec(t, "DROP DATABASE "+name+" WITH (FORCE)") })
	return shared.URL(name)
}

// URL is the address of a database of the cluster.
func (c *Cluster) URL(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", c.Port, database)
}

func (c *Cluster) exec(t testing.TB, statement string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		t.Fatalf("connect to PostgreSQL: %v", err)
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is lost with it
	if _, err := conn.Exec(ctx, statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// A shell runs the server and ends it, and removes its folder, as soon as its own
// standard input ends: that is, however the test process ends.
const supervise = `
"$1"/postgres -D "$2" >"$2"/log 2>&1 &
read -r _
kill -QUIT $!
wait $!
rm -rf "$2"`

func startCluster() (*Cluster, error) {
	bin, err := findPostgres()
	if err != nil {
		return nil, err
	}
	owner, err := serverUser()
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "gatherkit-postgres-")
	if err != nil {
		return nil, err
	}
	if owner != nil {
		if err := os.Chown(folder, int(owner.Uid), int(owner.Gid)); err != nil {
			return nil, err
		}
	}
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", folder, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync") //nolint:gosec,noctx // a tool of the machine's own
	initdb.Dir = folder
	initdb.SysProcAttr = &syscall.SysProcAttr{Credential: owner}
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	c := &Cluster{folder: folder, done: make(chan struct{})}
	if c.Port, err = freePort(); err != nil {
		return nil, err
	}
	settings := fmt.Sprintf("listen_addresses='127.0.0.1'\nport=%d\nunix_socket_directories='%s'\nfsync=off\nmax_connections=200\nshared_buffers=64MB\n", c.Port, folder)
	conf, err := os.OpenFile(filepath.Join(folder, "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	_, err = conf.WriteString(settings)
	if err := errors.Join(err, conf.Close()); err != nil {
		return nil, err
	}
	if err := c.run(bin, owner); err != nil {
		return nil, err
	}
	return c, c.await()
}

func (c *Cluster) run(bin string, owner *syscall.Credential) error {
	shell := exec.Command("sh", "-c", supervise, "sh", bin, c.folder) //nolint:gosec,noctx // the text above
	shell.Dir = c.folder
	shell.SysProcAttr = &syscall.SysProcAttr{Credential: owner, Setpgid: true}
	var err error
	if c.stdin, err = shell.StdinPipe(); err != nil {
		return err
	}
	if err := shell.Start(); err != nil {
		return err
	}
	go func() {
		_ = shell.Wait()
		close(c.done)
	}()
	return nil
}

// await returns when the server answers.
func (c *Cluster) await() error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for {
		conn, err := pgx.Connect(context.Background(), c.URL("postgres"))
		if err == nil {
			return conn.Close(context.Background())
		}
		select {
		case <-c.done:
		case <-deadline:
		case <-tick.C:
			continue
		}
		log, _ := os.ReadFile(filepath.Join(c.folder, "log"))
		return fmt.Errorf("the server does not answer: %w\n%s", err, bytes.TrimSpace(log))
	}
}

// findPostgres returns the folder of the server's programs.
func findPostgres() (string, error) {
	var folders []string
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil { //nolint:noctx // answers at once
		folders = append(folders, strings.TrimSpace(string(out)))
	}
	packaged, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.Reverse(packaged)
	folders = append(folders, packaged...)
	if path, err := exec.LookPath("postgres"); err == nil {
		folders = append(folders, filepath.Dir(path))
	}
	for _, folder := range folders {
		_, serverErr := os.Stat(filepath.Join(folder, "postgres"))
		_, initErr := os.Stat(filepath.Join(folder, "initdb"))
		if serverErr == nil && initErr == nil {
			return folder, nil
		}
	}
	return "", errNoPostgres
}

// serverUser is whom the server runs as: PostgreSQL refuses to run as root.
func serverUser() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoPostgres, err)
	}
	uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(uidErr, gidErr)
}

// freePort returns a port below the ephemeral range: a client that redials a dead
// port from within that range can connect to itself.
func freePort() (int, error) {
	for range 100 {
		var two [2]byte
		if _, err := rand.Read(two[:]); err != nil {
			return 0, err
		}
		port := 15000 + (int(two[0])<<8|int(two[1]))%17000
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)) //nolint:noctx // closed at once
		if err == nil {
			return port, l.Close()
		}
	}
	return 0, errors.New("no free port below 32768")
}
