package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/store/storetest"
)

const (
	email    = "ada@example.com"
	password = "correct horse battery staple"
)

// at returns the flags that name a database.
func at(place storetest.Place) []string {
	if place.Database != "" {
		return []string{"--database=" + place.Database}
	}
	return []string{"--data=" + place.Folder}
}

// outcome is how a command ended.
type outcome struct {
	stdout, stderr string
	code           int
}

// execute runs a command of the program to its end.
func execute(t *testing.T, settings []string, stdin string, args ...string) outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), build(t), args...)
	cmd.Env = append(cleanEnvironment(), settings...)
	cmd.Dir = t.TempDir() // for the data folder that a mistaken call would make
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// succeed runs a command that has to succeed and returns what it prints.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	got := execute(t, nil, "", args...)
	if got.code != 0 {
		t.Fatalf("gatherkit %q: exit %d\n%s", args, got.code, got.stderr)
	}
	return got.stdout
}

// addOwner adds the owner with the command line.
func addOwner(t *testing.T, place storetest.Place) {
	t.Helper()
	args := append([]string{"user", "add", "--account=Acme", "--email=" + email, "--name=Ada", "--password-stdin"}, at(place)...)
	if got := execute(t, nil, password+"\n", args...); got.code != 0 {
		t.Fatalf("user add: exit %d\n%s", got.code, got.stderr)
	}
}

// client calls one service. It may be used by several goroutines.
type client struct {
	url  string
	http *http.Client
}

// newClient returns a client with connections of its own.
func newClient(t *testing.T, p *process) client {
	t.Helper()
	c := client{p.url, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: time.Minute}}
	t.Cleanup(c.http.CloseIdleConnections)
	return c
}

// params are an operation's parameters.
type params map[string]any

// reply is what a call got, with what the tests read of the operations' results.
type reply struct {
	status int
	header http.Header
	code   string // "ok" or the error's
	result
}

type result struct {
	AccessToken  string `json:"access_token"`
	RefreshToken string `json:"refresh_token"`
	App          app
	Apps         []app
	Request      request
	Requests     []request
	NextCursor   string `json:"next_cursor"`
	TotalCount   int    `json:"total_count"`
}

type app struct {
	ID     string
	APIKey string `json:"api_key"`
}

type request struct{ ID, Title, Status string }

// call calls an operation with an access token, an API key or "". An error says that
// there was no whole answer.
func (c client) call(operation, credential string, in params) (reply, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return reply{}, err
	}
	r, err := http.NewRequest(http.MethodPost, c.url+"/api/"+operation, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	switch {
	case strings.HasPrefix(credential, "gk_"):
		r.Header.Set("X-API-Key", credential)
	case credential != "":
		r.Header.Set("Authorization", "Bearer "+credential)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return reply{}, err
	}
	return readReply(response)
}

// errBroken says that an answer began but did not arrive whole.
var errBroken = errors.New("the answer is not whole")

func readReply(response *http.Response) (reply, error) {
	body, err := io.ReadAll(response.Body)
	err = errors.Join(err, response.Body.Close())
	var envelope struct {
		OK     bool
		Result result
		Error  struct{ Code, Message string }
	}
	if err == nil {
		err = json.Unmarshal(body, &envelope)
	}
	got := reply{response.StatusCode, response.Header, "ok", envelope.Result}
	if !envelope.OK {
		got.code = envelope.Error.Code
	}
	if err != nil || envelope.OK != (got.status == http.StatusOK) || got.code == "" {
		return got, fmt.Errorf("%w: status %d, %w: %q", errBroken, got.status, err, body)
	}
	return got, nil
}

// want makes a call, whose code must be this one, and returns what it got.
func (c client) want(t *testing.T, code, operation, credential string, in params) reply {
	t.Helper()
	got, err := c.call(operation, credential, in)
	if err != nil {
		t.Fatalf("%s: %v", operation, err)
	}
	if got.code != code {
		t.Fatalf("%s: %d %s, want %s", operation, got.status, got.code, code)
	}
	return got
}

// login returns an access token of the owner.
func (c client) login(t *testing.T) string {
	t.Helper()
	return c.want(t, "ok", "auth-login", "", params{"email": email, "password": password}).AccessToken
}

// addApp returns a new app.
func (c client) addApp(t *testing.T, token string) app {
	t.Helper()
	return c.want(t, "ok", "apps-create", token, params{"name": "Website"}).App
}

// submit submits a request by the widget's way and returns its id.
func (c client) submit(t *testing.T, key, title string) string {
	t.Helper()
	return c.want(t, "ok", "widget-submit-request", key, params{"title": title, "description": ""}).Request.ID
}

// list returns all requests by their id, and fails when one is listed twice or the
// count is not right.
func (c client) list(t *testing.T, token string) map[string]request {
	t.Helper()
	all := map[string]request{}
	for in := (params{"limit": 200}); ; {
		page := c.want(t, "ok", "requests-list", token, in)
		for _, r := range page.Requests {
			if _, twice := all[r.ID]; twice {
				t.Errorf("request %s is listed twice", r.ID)
			}
			all[r.ID] = r
		}
		if page.NextCursor == "" {
			if len(all) != page.TotalCount {
				t.Errorf("%d requests are listed and %d counted", len(all), page.TotalCount)
			}
			return all
		}
		in["cursor"] = page.NextCursor
	}
}
