package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/store/storetest"
)

// The credentials of the owner that AddOwner adds.
const (
	Email    = "ada@example.com"
	Password = "correct horse battery staple"
)

// At returns the flags that select a database.
func At(place storetest.Place) []string {
	if place.Database != "" {
		return []string{"--database=" + place.Database}
	}
	return []string{"--data=" + place.Folder}
}

// Outcome is the result of a command.
type Outcome struct {
	Stdout, Stderr string
	Code           int
}

// Execute runs a command of the program and waits until it exits.
func Execute(t *testing.T, settings []string, stdin string, args ...string) Outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), Build(t), args...)
	cmd.Env = append(CleanEnvironment(), "GATHERKIT_LISTEN=127.0.0.1:0") // serve listens before it fails, and others need the usual port
	cmd.Env = append(cmd.Env, settings...)
	cmd.Dir = t.TempDir() // a wrong call may create a data folder here
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return Outcome{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// Succeed runs a command and returns its output. The test fails if the command fails.
func Succeed(t *testing.T, args ...string) string {
	t.Helper()
	got := Execute(t, nil, "", args...)
	if got.Code != 0 {
		t.Fatalf("gatherkit %q: exit %d\n%s", args, got.Code, got.Stderr)
	}
	return got.Stdout
}

// AddOwner adds the owner with gatherkit user add.
func AddOwner(t *testing.T, place storetest.Place) {
	t.Helper()
	args := append([]string{"user", "add", "--new-account", "--account=Acme", "--email=" + Email, "--name=Ada", "--password-stdin"},
		At(place)...)
	if got := Execute(t, nil, Password+"\n", args...); got.Code != 0 {
		t.Fatalf("user add: exit %d\n%s", got.Code, got.Stderr)
	}
}

// Client calls one service. It is safe for concurrent use.
type Client struct {
	URL  string
	HTTP *http.Client
}

// NewClient returns a client with its own connections.
func NewClient(t *testing.T, p *Process) Client {
	t.Helper()
	c := Client{p.URL, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: storetest.Patience}}
	t.Cleanup(c.HTTP.CloseIdleConnections)
	return c
}

// Serve adds the owner, starts the program with further arguments, and creates an app. It returns the
// program, a client of it, the owner's access token, and the app.
func Serve(t *testing.T, place storetest.Place, args ...string) (p *Process, c Client, owner string, app App) {
	t.Helper()
	AddOwner(t, place)
	p = Start(t, append(At(place), args...)...)
	c = NewClient(t, p)
	owner = c.Login(t)
	return p, c, owner, c.AddApp(t, owner)
}

// Params are the parameters of an operation.
type Params map[string]any

// Reply is the response to a call.
type Reply struct {
	Status int
	Header http.Header
	Code   string // "ok" or the code of the error
	Result
}

// Result has those fields of all operations' results that tests use.
type Result struct {
	AccessToken  string `json:"access_token"`
	RefreshToken string `json:"refresh_token"`
	App          App
	Apps         []App
	Request      Request
	Requests     []Request
	Upload       Upload
	URL          string
	Secret       string
	Token        struct{ ID string }
	Comment      struct{ ID string }
	NextCursor   string `json:"next_cursor"`
	TotalCount   int    `json:"total_count"`
	TotalExact   bool   `json:"total_exact"`
	Events       []Event
	Erased       []struct{ From, To int64 }
	Position     int64
	More         bool
	Webhook      Webhook
	Webhooks     []Webhook
	Entries      []struct{ Summary string }
}

// Webhook is an endpoint in a result.
type Webhook struct {
	ID     string
	Health struct {
		Position, Behind int64
		SetAside         int64 `json:"set_aside"`
	}
}

// Event is an event in a result.
type Event struct {
	Number    int64
	ID, Kind  string
	RequestID string `json:"request_id"`
}

// App is an app in a result.
type App struct {
	ID     string
	APIKey string `json:"api_key"`
}

// Upload is an announced file and the URL to send it to.
type Upload struct{ ID, URL string }

// Request is a request in a result.
type Request struct {
	ID, Title, Status string
	Attachments       []struct{ URL string }
}

// Call calls an operation. The credential is an access token, an API key or "". Call returns
// an error if there was no complete response.
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
	defer response.Body.Close() //nolint:errcheck // the body has been read
	return ReadReply(response)
}

// ErrBroken means that a response is incomplete or malformed.
var ErrBroken = errors.New("the response is incomplete or malformed")

// ReadReply reads a response. It returns ErrBroken if the body is not a complete envelope.
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

// Persist is like Call, but repeats a call that the service cannot take now, as clients do: after the
// time that the answer names.
func (c Client) Persist(operation, credential string, in Params) (Reply, error) {
	for end := time.Now().Add(storetest.Patience); ; {
		got, err := c.Call(operation, credential, in)
		seconds, _ := strconv.Atoi(got.Header.Get("Retry-After"))
		if err != nil || got.Code != "api.unavailable" || seconds == 0 || time.Now().After(end) {
			return got, err
		}
		<-time.After(time.Duration(seconds) * time.Second)
	}
}

// Want makes a call and returns the response, as Persist does unless code is that of a service that
// cannot take the call. The test fails if the code of the response is not code.
func (c Client) Want(t *testing.T, code, operation, credential string, in Params) Reply {
	t.Helper()
	call := c.Persist
	if code == "api.unavailable" {
		call = c.Call
	}
	got, err := call(operation, credential, in)
	if err != nil {
		t.Fatalf("%s: %v", operation, err)
	}
	if got.Code != code {
		t.Fatalf("%s: %d %s, want %s", operation, got.Status, got.Code, code)
	}
	return got
}

// Login logs in as the owner and returns the access token.
func (c Client) Login(t *testing.T) string {
	t.Helper()
	return c.Want(t, "ok", "auth-login", "", Params{"email": Email, "password": Password}).AccessToken
}

// AddApp creates an app.
func (c Client) AddApp(t *testing.T, token string) App {
	t.Helper()
	return c.Want(t, "ok", "apps-create", token, Params{"name": "Website"}).App
}

// Submit submits a request as the widget does and returns its id.
func (c Client) Submit(t *testing.T, key, title string) string {
	t.Helper()
	return c.Want(t, "ok", "widget-submit-request", key, Params{"title": title, "description": ""}).Request.ID
}

// List returns all requests by id. The test fails if a request is listed twice or the total
// count is wrong.
func (c Client) List(t *testing.T, token string) map[string]Request {
	t.Helper()
	return c.list(t, token, Params{"limit": 200})
}

// ListApp is like List, for one app.
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
