// Package program builds Gatherkit and runs it for tests, as its users do: the real
// binary on an empty database, spoken to over HTTP and on the command line.
package program

import (
	"bytes"
	"context"
	"errors"
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

// Main runs the tests of a package that builds the program, and removes what was
// built. TestMain ends with its status.
func Main(m *testing.M) int {
	status := m.Run()
	if built.folder != "" {
		if err := os.RemoveAll(built.folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return status
}

// built is the binary, which all tests of a process share.
var built struct {
	once   sync.Once
	folder string
	err    error
}

// Build builds gatherkit, once, and returns its path.
func Build(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.folder, built.err = os.MkdirTemp("", "gatherkit-e2e-"); built.err != nil {
			return
		}
		built.err = buildInto(built.folder)
	})
	if built.err != nil {
		t.Fatalf("build gatherkit: %v", built.err)
	}
	return filepath.Join(built.folder, "gatherkit")
}

// BuildWith builds a gatherkit of the test's own with more flags of go build, and
// returns its path.
func BuildWith(t *testing.T, flags ...string) string {
	t.Helper()
	folder := t.TempDir()
	if err := buildInto(folder, flags...); err != nil {
		t.Fatalf("build gatherkit: %v", err)
	}
	return filepath.Join(folder, "gatherkit")
}

func buildInto(folder string, flags ...string) error {
	args := append([]string{"build", "-buildvcs=false", "-o", folder}, flags...)
	// Not a test's context: the binary outlives the test.
	cmd := exec.CommandContext(context.Background(), "go", append(args, "gatherkit/cmd/gatherkit")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// Process is a running service.
type Process struct {
	Cmd            *exec.Cmd
	Address        string // host:port
	URL            string // without a slash at its end
	PID            int
	Stdout, Stderr Output
	Exited         chan struct{} // closed when it has ended
	Ready          time.Duration // from the start to the first 200 of /readyz
}

// Start runs gatherkit serve with the arguments on a free loopback port until the
// test ends, and returns when it answers calls. Without --data or --database it has
// an empty SQLite database.
func Start(t *testing.T, args ...string) *Process {
	t.Helper()
	return StartOn(t, FreeAddress(t), nil, args...)
}

// StartOn is start on a given address, with more environment variables.
func StartOn(t *testing.T, address string, settings []string, args ...string) *Process {
	t.Helper()
	return StartBinary(t, Build(t), address, settings, args...)
}

// StartBinary is StartOn with a binary of BuildWith.
func StartBinary(t *testing.T, binary, address string, settings []string, args ...string) *Process {
	t.Helper()
	p := &Process{Address: address, URL: "http://" + address, Exited: make(chan struct{})}
	cmd := exec.CommandContext(t.Context(), binary, append([]string{"serve", "--listen", address}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(CleanEnvironment(), settings...)
	cmd.Stdout, cmd.Stderr = &p.Stdout, &p.Stderr
	began := time.Now()
	Launch(t, cmd, p.Exited)
	p.Cmd, p.PID = cmd, cmd.Process.Pid
	Eventually(t, "gatherkit answers", func() bool {
		select {
		case <-p.Exited:
			t.Fatalf("gatherkit ended:\n%s", p.Stderr.String())
		default:
		}
		return Answers(t, p.URL+"/readyz")
	})
	p.Ready = time.Since(began)
	return p
}

// Launch starts a command whose context is the test's and waits for its end before
// the test ends; exited is closed then.
func Launch(t *testing.T, cmd *exec.Cmd, exited chan struct{}) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // also when the test process panics
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(exited)
		_ = cmd.Wait() // that it was killed is no news
	}()
	t.Cleanup(func() { <-exited })
}

// Stop ends the service in the way that an operator does, and waits.
func (p *Process) Stop(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(p.PID, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-p.Exited
}

// Kill ends the service as a power cut does, and waits.
func (p *Process) Kill(t *testing.T) {
	t.Helper()
	if err := p.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.Exited
}

// ExitCode waits for the end of the service and returns its status.
func (p *Process) ExitCode(t *testing.T) int {
	t.Helper()
	select {
	case <-p.Exited:
	case <-time.After(storetest.Patience):
		t.Fatalf("gatherkit did not end within %v:\n%s", storetest.Patience, p.Stderr.Tail())
	}
	return p.Cmd.ProcessState.ExitCode()
}

// CleanEnvironment is the environment without settings of gatherkit.
func CleanEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "GATHERKIT_") })
}

var portsGiven atomic.Int64

// FreeAddress is a free loopback address. Its port is below those that clients get,
// as a client that redials a dead port among them can connect to itself. The search
// starts at the process id, so that test processes side by side do not race for one.
func FreeAddress(t *testing.T) string {
	t.Helper()
	const first, count = 10000, 10000
	for range count {
		port := first + (os.Getpid()*17+int(portsGiven.Add(1)))%count
		address := fmt.Sprintf("127.0.0.1:%d", port)
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err := errors.Join(err, listener.Close()); err != nil {
			t.Fatal(err)
		}
		return address
	}
	t.Fatal("no port is free on 127.0.0.1")
	return ""
}

// Output collects what a process writes, while it writes.
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

// Tail is the end of what was written: a log under load is long.
func (o *Output) Tail() string {
	all := o.String()
	return all[max(0, len(all)-2000):]
}

// Answers reports whether a GET succeeds, within a minute.
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
	defer response.Body.Close() //nolint:errcheck // only the status counts
	return response.StatusCode == http.StatusOK
}

// Eventually waits until something has happened, and fails after storetest.Patience.
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
