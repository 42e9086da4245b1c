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
	"syscall"
	"time"
)

// client keeps enough idle connections for the largest number of callers.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 512}, Timeout: time.Minute}

// service is a running gatherkit process.
type service struct {
	cmd        *exec.Cmd
	url        string
	email      string // of the owner
	token, key string // the owner's access token and the first app's API key
	coldStart  time.Duration
}

const secret = "correct horse battery staple"

// buildProgram builds the binary like a release, except for -trimpath, which does not change
// the code but would require compiling everything again.
func buildProgram(ctx context.Context, folder string) (string, error) {
	path := filepath.Join(folder, "gatherkit")
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", path, "gatherkit/cmd/gatherkit")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build gatherkit: %w\n%s", err, out)
	}
	return path, nil
}

// startProgram runs a program on a free port and waits until the path probe answers 200.
func startProgram(ctx context.Context, path string, args []string, probe string) (*service, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return nil, err
	}
	s := &service{url: "http://" + address, cmd: exec.CommandContext(ctx, path, append(args, "--listen", address)...)}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	began := time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for {
		response, err := client.Get(s.url + probe) //nolint:noctx // the client has a timeout
		if err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			if err := response.Body.Close(); err != nil {
				return nil, err
			}
			if response.StatusCode == http.StatusOK {
				s.coldStart = time.Since(began)
				return s, nil
			}
		}
		if time.Since(began) > time.Minute {
			return nil, errors.Join(fmt.Errorf("%s did not answer within a minute", path), err)
		}
		time.Sleep(time.Millisecond)
	}
}

// startService starts gatherkit with the flags of a store, and creates an account, its owner
// and an app.
func startService(ctx context.Context, binary string, store []string, account string) (*service, error) {
	email := account + "@example.com"
	args := []string{"user", "add", "--account=" + account, "--email=" + email, "--name=Ada", "--password-stdin"}
	add := exec.CommandContext(ctx, binary, append(args, store...)...)
	add.Stdin = strings.NewReader(secret)
	if out, err := add.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("cannot add the owner: %w\n%s", err, out)
	}
	s, err := startProgram(ctx, binary, append([]string{"serve", "--submit-rate=0"}, store...), "/readyz")
	if err != nil {
		return nil, err
	}
	s.email = email
	if err := s.logIn(ctx); err != nil {
		return nil, err
	}
	s.key, _, err = s.addApp(ctx)
	return s, err
}

// logIn gets a new access token for the owner, which is valid for 15 minutes.
func (s *service) logIn(ctx context.Context) error {
	var login struct {
		AccessToken string `json:"access_token"`
	}
	err := s.call(ctx, "auth-login", fmt.Sprintf(`{"email":%q,"password":%q}`, s.email, secret), &login)
	s.token = login.AccessToken
	return err
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

// stop stops the service and waits until it exits.
func (s *service) stop() {
	client.CloseIdleConnections() // a server waits a few seconds for unused connections
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait() // the exit status does not matter
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
