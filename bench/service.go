package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// client keeps enough idle connections for the largest number of callers. A call that takes
// longer than deadline is a failure.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 512}, Timeout: deadline}

const deadline = 10 * time.Second

// service is a gatherkit process, or another program that serves HTTP.
type service struct {
	cmd        *exec.Cmd
	path       string // of the program
	args       []string
	probe      string // a path that answers 200 when the program has started
	url        string
	metrics    string // the address of its metrics
	email      string // of the owner
	token, key string // the owner's access token and the first app's API key
	loggedIn   time.Time
	coldStart  time.Duration
}

const secret = "correct horse battery staple"

// buildProgram builds the binary like a release.
func buildProgram(ctx context.Context, folder string) (string, error) {
	path := filepath.Join(folder, "gatherkit")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", path, "gatherkit/cmd/gatherkit")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build gatherkit: %w\n%s", err, out)
	}
	return path, nil
}

// startProgram runs a program on a free port and waits until the path probe answers 200.
func startProgram(ctx context.Context, path string, args []string, probe string) (*service, error) {
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	s := &service{path: path, args: append(args, "--listen", address), probe: probe, url: "http://" + address}
	err = s.start(ctx)
	return s, err
}

// lastPort counts the ports that freeAddress has tried.
var lastPort atomic.Int64

// freeAddress returns an address with a port below those of outgoing connections. A client
// that calls a free port among those can connect to itself.
func freeAddress(ctx context.Context) (string, error) {
	for range 10_000 {
		address := fmt.Sprintf("127.0.0.1:%d", 20_000+(int64(os.Getpid())+lastPort.Add(1))%12_000)
		if listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address); err == nil {
			return address, listener.Close()
		}
	}
	return "", errors.New("no port is free")
}

// start starts the program, again if it was stopped.
func (s *service) start(ctx context.Context) error {
	s.cmd = exec.CommandContext(ctx, s.path, s.args...)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	began := time.Now()
	if err := s.cmd.Start(); err != nil {
		return err
	}
	for {
		response, err := client.Get(s.url + s.probe) //nolint:noctx // the client has a timeout
		if err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			if err := response.Body.Close(); err != nil {
				return err
			}
			if response.StatusCode == http.StatusOK {
				s.coldStart = time.Since(began)
				return nil
			}
		}
		if time.Since(began) > time.Minute {
			return errors.Join(fmt.Errorf("%s did not answer within a minute", s.path), err)
		}
		time.Sleep(time.Millisecond)
	}
}

// startService starts gatherkit with the flags of a store, and creates an account, its owner
// and an app.
func startService(ctx context.Context, binary string, store []string, account string) (*service, error) {
	email := account + "@example.com"
	args := []string{"user", "add", "--new-account", "--account=" + account, "--email=" + email, "--name=Ada", "--password-stdin"}
	add := exec.CommandContext(ctx, binary, append(args, store...)...)
	add.Stdin = strings.NewReader(secret)
	if out, err := add.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("cannot add the owner: %w\n%s", err, out)
	}
	metrics, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	flags := append([]string{"serve", "--submit-rate=0", "--webhook-allow=127.0.0.1", "--metrics-listen", metrics}, store...)
	s, err := startProgram(ctx, binary, flags, "/readyz")
	if err != nil {
		return nil, err
	}
	s.email, s.metrics = email, metrics
	if err := s.logIn(ctx); err != nil {
		return nil, err
	}
	s.key, _, err = s.addApp(ctx)
	return s, err
}

// logIn gets a new access token for the owner, unless there is one. It is valid for 15 minutes.
func (s *service) logIn(ctx context.Context) error {
	if time.Since(s.loggedIn) < 5*time.Minute {
		return nil
	}
	var login struct {
		AccessToken string `json:"access_token"`
	}
	err := s.call(ctx, "auth-login", fmt.Sprintf(`{"email":%q,"password":%q}`, s.email, secret), &login)
	s.token, s.loggedIn = login.AccessToken, time.Now()
	return err
}

// exchange exchanges a refresh token for the next one.
func (s *service) exchange(ctx context.Context, token string) (next string, err error) {
	var tokens struct {
		RefreshToken string `json:"refresh_token"`
	}
	err = s.call(ctx, "auth-refresh", fmt.Sprintf(`{"refresh_token":%q}`, token), &tokens)
	return tokens.RefreshToken, err
}

// addApp creates an app and returns its key and id.
func (s *service) addApp(ctx context.Context) (key, id string, err error) {
	var created struct {
		App struct {
			ID     string `json:"id"`
			APIKey string `json:"api_key"`
		} `json:"app"`
	}
	err = s.call(ctx, "apps-create", `{"name":"Bench"}`, &created)
	return created.App.APIKey, created.App.ID, err
}

// call makes a call as the owner and decodes the result unless result is nil.
func (s *service) call(ctx context.Context, operation, body string, result any) error {
	return s.callWith(ctx, operation, "Authorization", "Bearer "+s.token, body, result)
}

// callWith is like call, with a header of the given value instead of the owner's token.
func (s *service) callWith(ctx context.Context, operation, header, value, body string, result any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/api/"+operation, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(header, value)
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // the body is read below
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", operation, text)
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(text, &struct {
		Result any `json:"result"`
	}{result})
}

const submission = `{"title":"Dark mode for the invoice list","description":"` +
	`I work at night, and the invoice list is the brightest thing in the room. ` +
	`A dark theme would help me and my colleagues a lot, on the phone as well as on the big screen.","email":"grace@example.org"}`

func (s *service) submit(ctx context.Context, _ int) error {
	return s.callWith(ctx, "widget-submit-request", "X-API-Key", s.key, submission, nil)
}

// stop stops the service and waits until it exits. It kills the service if calls that were
// given up keep it from exiting.
func (s *service) stop() {
	client.CloseIdleConnections() // a server waits a few seconds for unused connections
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.AfterFunc(20*time.Second, func() { _ = s.cmd.Process.Kill() })
	_ = s.cmd.Wait() // the exit status does not matter
	timer.Stop()
}

var memoryLine = regexp.MustCompile(`(VmRSS|VmHWM):\s+(\d+) kB`)

// memory returns the current and the peak resident memory of the process, in MB.
func (s *service) memory() (now, peak float64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, 0, err
	}
	for _, match := range memoryLine.FindAllStringSubmatch(string(status), -1) {
		kb, err := strconv.ParseFloat(match[2], 64)
		if err != nil {
			return 0, 0, err
		}
		if match[1] == "VmRSS" {
			now = kb / 1000
		} else {
			peak = kb / 1000
		}
	}
	return now, peak, nil
}
