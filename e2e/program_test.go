// Package e2e_test drives the program as its users do: it builds the binary, starts
// it on an empty database, and talks to it over HTTP and on the command line.
package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	status := m.Run()
	if program.folder != "" {
		if err := os.RemoveAll(program.folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 1
		}
	}
	os.Exit(status)
}

// program is the built binary, which all tests share.
var program struct {
	once   sync.Once
	folder string
	err    error
}

// build builds gatherkit, once, and returns its path.
func build(t *testing.T) string {
	t.Helper()
	program.once.Do(func() {
		if program.folder, program.err = os.MkdirTemp("", "gatherkit-e2e-"); program.err != nil {
			return
		}
		// Not the test's context: the binary outlives the test.
		cmd := exec.CommandContext(context.Background(), "go", "build", "-buildvcs=false", "-o", program.folder, "gatherkit/cmd/gatherkit")
		if out, err := cmd.CombinedOutput(); err != nil {
			program.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if program.err != nil {
		t.Fatalf("build gatherkit: %v", program.err)
	}
	return filepath.Join(program.folder, "gatherkit")
}

// process is a running service.
type process struct {
	cmd            *exec.Cmd
	address        string // host:port
	url            string // without a slash at its end
	pid            int
	stdout, stderr output
	exited         chan struct{} // closed when it has ended
}

// start runs gatherkit serve with the arguments on a free loopback port until the
// test ends, and returns when it answers calls. Without --data or --database it has
// an empty SQLite database.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	return startOn(t, freeAddress(t), nil, args...)
}

// startOn is start on a given address, with more environment variables.
func startOn(t *testing.T, address string, settings []string, args ...string) *process {
	t.Helper()
	p := &process{address: address, url: "http://" + address, exited: make(chan struct{})}
	cmd := exec.CommandContext(t.Context(), build(t), append([]string{"serve", "--listen", address}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(cleanEnvironment(), settings...)
	cmd.Stdout, cmd.Stderr = &p.stdout, &p.stderr
	launch(t, cmd, p.exited)
	p.cmd, p.pid = cmd, cmd.Process.Pid
	eventually(t, "gatherkit answers", func() bool {
		select {
		case <-p.exited:
			t.Fatalf("gatherkit ended:\n%s", p.stderr.String())
		default:
		}
		return answers(t, p.url+"/readyz")
	})
	return p
}

// launch starts a command whose context is the test's and waits for its end before
// the test ends; exited is closed then.
func launch(t *testing.T, cmd *exec.Cmd, exited chan struct{}) {
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

// stop ends the service in the way that an operator does, and waits.
func (p *process) stop(t *testing.T) {
	t.Helper()
	if err := syscall.Kill(p.pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-p.exited
}

// kill ends the service as a power cut does, and waits.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.exited
}

// exitCode waits for the end of the service and returns its status.
func (p *process) exitCode(t *testing.T) int {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(time.Minute):
		t.Fatalf("gatherkit did not end within a minute:\n%s", p.stderr.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

// cleanEnvironment is the environment without settings of gatherkit.
func cleanEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "GATHERKIT_") })
}

var portsGiven atomic.Int64

// freeAddress is a free loopback address. Its port is below those that clients get,
// as a client that redials a dead port among them can connect to itself. The search
// starts at the process id, so that test processes side by side do not race for one.
func freeAddress(t *testing.T) string {
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

// output collects what a process writes, while it writes.
type output struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all.String()
}

// answer is what a call got: the envelope and what is around it.
type answer struct {
	status int
	proto  string
	header http.Header
	OK     bool
	Result json.RawMessage
	Error  struct{ Code, Message string }
}

// call posts a body to an operation's URL, with pairs of header names and values.
func call(t *testing.T, client *http.Client, url, body string, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for pair := range slices.Chunk(headers, 2) {
		r.Header.Set(pair[0], pair[1])
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // read to its end
	a := answer{status: response.StatusCode, proto: response.Proto, header: response.Header}
	if err := json.NewDecoder(response.Body).Decode(&a); err != nil {
		t.Fatalf("%s: no envelope with status %d: %v", url, a.status, err)
	}
	return a
}

// get returns the field of the result that a dotted path names.
func (a answer) get(t *testing.T, path string) string {
	t.Helper()
	var value any
	if err := json.Unmarshal(a.Result, &value); err != nil || !a.OK {
		t.Fatalf("status %d, %+v, %v", a.status, a.Error, err)
	}
	for name := range strings.SplitSeq(path, ".") {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	text, ok := value.(string)
	if !ok {
		t.Fatalf("no text at %s in %s", path, a.Result)
	}
	return text
}

var setupToken = regexp.MustCompile(`gst_\w+`)

// setUp creates the first owner with the token that the service has printed, and an
// app. It returns an access token and the app's API key.
func (p *process) setUp(t *testing.T) (token, apiKey string) {
	t.Helper()
	var printed string
	eventually(t, "the set-up token is printed", func() bool {
		printed = setupToken.FindString(p.stdout.String())
		return printed != ""
	})
	token = call(t, http.DefaultClient, p.url+"/api/setup-create-owner", fmt.Sprintf(
		`{"token":%q,"account_name":"Acme","name":"Ada","email":"ada@example.com","password":"correct horse"}`, printed)).get(t, "access_token")
	apiKey = call(t, http.DefaultClient, p.url+"/api/apps-create", `{"name":"Web"}`, "Authorization", "Bearer "+token).get(t, "app.api_key")
	return token, apiKey
}
