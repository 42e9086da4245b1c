// Package program builds Gatherkit and runs the binary for tests, on an empty database. Tests
// use it as users do: over HTTP and on the command line.
package program

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gatherkit/internal/store/storetest"
)

// Full is the flag for the long form of tests. Without it they take their short form.
var Full = flag.Bool("full", false, "run the long form of each test")

// Times returns how often a test does something: in the short form and in the long one.
func Times(short, long int) int {
	if *Full {
		return long
	}
	return short
}

// Main runs the tests of a package that uses Build, and removes the binaries. It returns the
// exit status for TestMain.
func Main(m *testing.M) int {
	status := m.Run()
	if err := os.RemoveAll(built.folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

// built is the binary that all tests of a process share.
var built struct {
	once   sync.Once
	folder string
	err    error
}

// Build builds gatherkit once per process, as a binary that needs no libraries, and returns its path. Its
// deadlines are those of a release only in proof.
func Build(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.folder, built.err = os.MkdirTemp("", "gatherkit-e2e-"); built.err == nil {
			built.err = buildInto(built.folder, "cmd/gatherkit", patient()...)
		}
	})
	if built.err != nil {
		t.Fatalf("build gatherkit: %v", built.err)
	}
	return filepath.Join(built.folder, "gatherkit")
}

// BuildWith builds gatherkit for one test, with additional flags of go build, and returns its
// path.
func BuildWith(t *testing.T, flags ...string) string {
	t.Helper()
	return BuildPackage(t, "cmd/gatherkit", flags...)
}

// BuildPackage is like BuildWith, for the program in a folder of the module.
func BuildPackage(t *testing.T, pkg string, flags ...string) string {
	t.Helper()
	folder := t.TempDir()
	if err := buildInto(folder, pkg, flags...); err != nil {
		t.Fatalf("build %s: %v", pkg, err)
	}
	return filepath.Join(folder, filepath.Base(pkg))
}

// patient are the flags of go build with which deadlines of the program wait for a busy machine. In proof,
// tests have the machine for themselves, and some are about these deadlines.
func patient() []string {
	if storetest.InProof() {
		return nil
	}
	return []string{"-ldflags=-X gatherkit/internal/deadline.patience=30"}
}

// buildInto builds like a release, so that Go compiles the packages of both once.
func buildInto(folder, pkg string, flags ...string) error {
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-o", folder}, flags...)
	// Not the context of a test, because other tests use the binary, too.
	cmd := exec.CommandContext(context.Background(), "go", append(args, "gatherkit/"+pkg)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// Process is a running service.
type Process struct {
	Cmd            *exec.Cmd
	Address        string // host:port
	URL            string // without a trailing slash
	PID            int
	Stdout, Stderr Output
	Exited         chan struct{} // closed when the process has exited
	Ready          time.Duration // from the start of the process to the first 200 of /readyz
}

// Start runs gatherkit serve with the arguments on a free loopback port until the test ends.
// It returns when the service answers calls. Without --data or --database, the service has an
// empty SQLite database.
func Start(t *testing.T, args ...string) *Process {
	t.Helper()
	return StartOn(t, FreeAddress(t), nil, args...)
}

// StartOn is like Start, with a given address and additional environment variables.
func StartOn(t *testing.T, address string, settings []string, args ...string) *Process {
	t.Helper()
	return StartBinary(t, Build(t), address, settings, args...)
}

// StartBinary is like StartOn, with a binary from BuildWith.
func StartBinary(t *testing.T, binary, address string, settings []string, args ...string) *Process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"serve", "--listen", address}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(CleanEnvironment(), settings...)
	return StartCommand(t, cmd, address)
}

// StartCommand is like StartOn, with a command that must have the context of the test and serve at
// the address.
func StartCommand(t *testing.T, cmd *exec.Cmd, address string) *Process {
	t.Helper()
	p := &Process{Address: address, URL: "http://" + address, Exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.Stdout, &p.Stderr
	began := time.Now()
	Launch(t, cmd, p.Exited)
	p.Cmd, p.PID = cmd, cmd.Process.Pid
	Eventually(t, "gatherkit answers", func() bool {
		select {
		case <-p.Exited:
			t.Fatalf("gatherkit exited:\n%s%s", p.Stdout.String(), p.Stderr.String())
		default:
		}
		return Answers(t, p.URL+"/readyz")
	})
	p.Ready = time.Since(began)
	return p
}

// Launch starts a command, which must have the context of the test. It closes exited when the
// command exits, and the test waits for that before it ends.
func Launch(t *testing.T, cmd *exec.Cmd, exited chan struct{}) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // also ends the command if the test process panics
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(exited)
		_ = cmd.Wait() // it reports that the process was killed
	}()
	t.Cleanup(func() { <-exited })
}

// Stop stops the service with SIGTERM, as an operator does, and waits until it exits.
func (p *Process) Stop(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(p.PID, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-p.Exited
}

// Kill kills the service with SIGKILL and waits until it exits.
func (p *Process) Kill(t *testing.T) {
	t.Helper()
	if err := p.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.Exited
}

// ExitCode waits until the service exits and returns its exit status.
func (p *Process) ExitCode(t *testing.T) int {
	t.Helper()
	select {
	case <-p.Exited:
	case <-time.After(storetest.Patience):
		t.Fatalf("gatherkit did not exit within %v:\n%s", storetest.Patience, p.Stderr.Tail())
	}
	return p.Cmd.ProcessState.ExitCode()
}

// Tool returns the path of a program that .ci/install builds. Without the program, the test
// ends as storetest.Missing describes.
func Tool(t *testing.T, name, what string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	for _, module := range []string{"..", filepath.Join("..", "..")} { // tests run in the folder of their package
		path := filepath.Join(module, "bin", name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	storetest.Missing(t, what, "install it with `.ci/install`")
	return ""
}

// CleanEnvironment returns the environment without GATHERKIT_ variables and the folder for temporary files that the
// tests share.
func CleanEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, "GATHERKIT_") || strings.HasPrefix(entry, "SQLITE_TMPDIR=")
	})
}

var portsGiven atomic.Int64

// FreeAddress returns a free loopback address, which no other test gets before t ends. The port
// is below the ephemeral ones, because a client that redials a closed ephemeral port can connect
// to itself. The search starts at a port derived from the process id, so that it is short.
func FreeAddress(t *testing.T) string {
	t.Helper()
	const first, count = 10000, 10000
	for range count {
		port := first + (os.Getpid()*17+int(portsGiven.Add(1)))%count
		address := fmt.Sprintf("127.0.0.1:%d", port)
		// An abstract socket marks the port as given, also while no program listens on it.
		mark, err := listen(t, "unix", fmt.Sprintf("@gatherkit-test-%d", port))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		listener, err := listen(t, "tcp", address)
		if errors.Is(err, syscall.EADDRINUSE) {
			_ = mark.Close()
			continue
		}
		if err := errors.Join(err, listener.Close()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = mark.Close() })
		return address
	}
	t.Fatal("no port is free on 127.0.0.1")
	return ""
}

func listen(t *testing.T, network, address string) (net.Listener, error) {
	return new(net.ListenConfig).Listen(t.Context(), network, address)
}

// Output collects the output of a process. It is safe for concurrent use.
type Output struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.Write(b)
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.String()
}

// Tail returns the last 2,000 bytes of the output, because logs under load are long.
func (o *Output) Tail() string {
	all := o.String()
	return all[max(0, len(all)-2000):]
}

// Answers reports whether GET url returns 200 within a minute.
func Answers(t *testing.T, url string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	defer response.Body.Close() //nolint:errcheck // only the status matters
	return response.StatusCode == http.StatusOK
}

// Eventually waits until happened returns true. The test fails after storetest.Patience.
func Eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(storetest.Patience)
	for !happened() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within %v: %s", storetest.Patience, what)
		}
	}
}
