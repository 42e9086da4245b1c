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

// client keeps enough connections for the largest number of callers.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 512}, Timeout: time.Minute}

// service is a running gatherkit, a process of its own.
type service struct {
	cmd        *exec.Cmd
	url        string
	email      string // of the owner of its account
	token, key string // of the owner and of the first app
	coldStart  time.Duration
}

const secret = "correct horse battery staple"

// buildProgram builds the binary as a release is built, except for -trimpath: it changes
// no code, and everything would be compiled once more for it.
func buildProgram(ctx context.Context, folder string) (string, error) {
	path := filepath.Join(folder, "gatherkit")
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", path, "gatherkit/cmd/gatherkit")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build gatherkit: %w\n%s", err, out)
	}
	return path, nil
}

// startProgram runs a program on a port of its own and waits until path answers.
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
		response, err := client.Get(s.url + probe) //nolint:noctx // bounded by the client
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
			return nil, errors.Join(fmt.Errorf("%s does not answer", path), err)
		}
		time.Sleep(time.Millisecond)
	}
}

// startService starts gatherkit on a store, with a new account, its owner and an app.
func startService(ctx context.Context, binary string, store []string, account string) (*service, error) {
	email := account + "@example.com"
	add := exec.CommandContext(ctx, binary, append([]string{"user", "add", "--account=" + account, "--email=" + email, "--name=Ada", "--password-stdin"}, store...)...)
	add.Stdin = strings.NewReader(secret)
	if out, err := add.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("add the owner: %w\n%s", err, out)
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

// logIn gets the owner a token, which lasts for 15 minutes.
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

// call makes a call as the owner; submissions carry the app's key instead.
func (s *service) call(ctx context.Context, operation, body string, result any) error {
	return s.callWith(ctx, operation, "Authorization", "Bearer "+s.token, body, result)
}

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
	defer response.Body.Close() //nolint:errcheck // read to its end below
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

const submission = `{"title":"Dark mode for the invoice list","description":"I work at night, and the invoice list is the brightest thing in the room. A dark theme would help me and my colleagues a lot, on the phone as well as on the big screen.","email":"grace@example.org"}`

func (s *service) submit(ctx context.Context, _ int) error {
	return s.callWith(ctx, "widget-submit-request", "X-API-Key", s.key, submission, nil)
}

// stop ends the service and waits.
func (s *service) stop() {
	client.CloseIdleConnections() // a server waits some seconds for those that were never used
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	_ = s.cmd.Wait() // its status is of no interest here
}

var memoryLine = regexp.MustCompile(`(VmRSS|VmHWM):\s+(\d+) kB`)

// memory is the process's resident memory now and at its highest, in MB.
func (s *service) memory() (now, most float64, err error) {
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
			most = kb / 1000
		}
	}
	return now, most, nil
}
