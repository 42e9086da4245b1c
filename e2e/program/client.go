package program

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

	"gatherkit/internal/store/storetest"
)

// Who AddOwner adds.
const (
	Email    = "ada@example.com"
	Password = "correct horse battery staple"
)

// At returns the flags that name a database.
func At(place storetest.Place) []string {
	if place.Database != "" {
		return []string{"--database=" + place.Database}
	}
	return []string{"--data=" + place.Folder}
}

// Outcome is how a command ended.
type Outcome struct {
	Stdout, Stderr string
	Code           int
}

// Execute runs a command of the program to its end.
func Execute(t *testing.T, settings []string, stdin string, args ...string) Outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), Build(t), args...)
	cmd.Env = append(CleanEnvironment(), settings...)
	cmd.Dir = t.TempDir() // for the data folder that a mistaken call would make
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return Outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// Succeed runs a command that has to succeed and returns what it prints.
func Succeed(t *testing.T, args ...string) string {
	t.Helper()
	got := Execute(t, nil, "", args...)
	if got.Code != 0 {
		t.Fatalf("gatherkit %q: exit %d\n%s", args, got.Code, got.Stderr)
	}
	return got.Stdout
}

// AddOwner adds the owner with the command line.
func AddOwner(t *testing.T, place storetest.Place) {
	t.Helper()
	args := append([]string{"user", "add", "--account=Acme", "--email=" + Email, "--name=Ada", "--password-stdin"}, At(place)...)
	if got := Execute(t, nil, Password+"\n", args...); got.Code != 0 {
		t.Fatalf("user add: exit %d\n%s", got.Code, got.Stderr)
	}
}

// Client calls one service. It may be used by several goroutines.
type Client struct {
	URL  string
	HTTP *http.Client
}

// NewClient returns a client with connections of its own.
func NewClient(t *testing.T, p *Process) Client {
	t.Helper()
	c := Client{p.URL, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: storetest.Patience}}
	t.Cleanup(c.HTTP.CloseIdleConnections)
	return c
}

// Params are an operation's parameters.
type Params map[string]any

// Reply is what a call got, with what the tests read of the operations' results.
type Reply struct {
	Status int
	Header http.Header
	Code   string // "ok" or the error's
	Result
}

// Result holds the fields of all results that tests read.
type Result struct {
	AccessToken  string `json:"access_token"`
	RefreshToken string `json:"refresh_token"`
	App          App
	Apps         []App
	Request      Request
	Requests     []Request
	Upload       Upload
	URL          string
	NextCursor   string `json:"next_cursor"`
	TotalCount   int    `json:"total_count"`
}

// App is an app as a result shows it.
type App struct {
	ID     string
	APIKey string `json:"api_key"`
}

// Upload is where a file is to be sent.
type Upload struct{ ID, URL string }

// Request is a request as a result shows it.
type Request struct{ ID, Title, Status string }

// Call calls an operation with an access token, an API key or "". An error says that
// there was no whole answer.
func (c Client) Call(operation, credential string, in Params) (Reply, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return Reply{}, err
	}
	r, err := http.NewRequest(http.MethodPost, c.URL+"/api/"+operation, bytes.NewReader(body))
	if err != nil {
		return Reply{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	switch {
	case strings.HasPrefix(credential, "gk_"):
		r.Header.Set("X-API-Key", credential)
	case credential != "":
		r.Header.Set("Authorization", "Bearer "+credential)
	}
	response, err := c.HTTP.Do(r)
	if err != nil {
		return Reply{}, err
	}
	defer response.Body.Close() //nolint:errcheck // read to its end
	return ReadReply(response)
}

// ErrBroken says that an answer began but did not arrive whole.
var ErrBroken = errors.New("the answer is not whole")

// ReadReply reads the envelope of an answer. It returns ErrBroken when there is none.
func ReadReply(response *http.Response) (Reply, error) {
	body, err := io.ReadAll(response.Body)
	var envelope struct {
		OK     bool
		Result Result
		Error  struct{ Code, Message string }
	}
	if err == nil {
		err = json.Unmarshal(body, &envelope)
	}
	got := Reply{response.StatusCode, response.Header, "ok", envelope.Result}
	if !envelope.OK {
		got.Code = envelope.Error.Code
	}
	if err != nil || envelope.OK != (got.Status == http.StatusOK) || got.Code == "" {
		return got, fmt.Errorf("%w: status %d, %w: %q", ErrBroken, got.Status, err, body)
	}
	return got, nil
}

// Want makes a call, whose code must be this one, and returns what it got.
func (c Client) Want(t *testing.T, code, operation, credential string, in Params) Reply {
	t.Helper()
	got, err := c.Call(operation, credential, in)
	if err != nil {
		t.Fatalf("%s: %v", operation, err)
	}
	if got.Code != code {
		t.Fatalf("%s: %d %s, want %s", operation, got.Status, got.Code, code)
	}
	return got
}

// Login returns an access token of the owner.
func (c Client) Login(t *testing.T) string {
	t.Helper()
	return c.Want(t, "ok", "auth-login", "", Params{"email": Email, "password": Password}).AccessToken
}

// AddApp returns a new app.
func (c Client) AddApp(t *testing.T, token string) App {
	t.Helper()
	return c.Want(t, "ok", "apps-create", token, Params{"name": "Website"}).App
}

// Submit submits a request by the widget's way and returns its id.
func (c Client) Submit(t *testing.T, key, title string) string {
	t.Helper()
	return c.Want(t, "ok", "widget-submit-request", key, Params{"title": title, "description": ""}).Request.ID
}

// List returns all requests by their id, and fails when one is listed twice or the
// count is not right.
func (c Client) List(t *testing.T, token string) map[string]Request {
	t.Helper()
	return c.list(t, token, Params{"limit": 200})
}

// ListApp is List for one app.
func (c Client) ListApp(t *testing.T, token, app string) map[string]Request {
	t.Helper()
	return c.list(t, token, Params{"limit": 200, "app_id": app})
}

func (c Client) list(t *testing.T, token string, in Params) map[string]Request {
	t.Helper()
	all := map[string]Request{}
	for {
		page := c.Want(t, "ok", "requests-list", token, in)
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
