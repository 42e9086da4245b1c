package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/crypto/argon2"

	"gatherkit/internal/blob"
	"gatherkit/internal/feedback"
	"gatherkit/internal/mail"
	"gatherkit/internal/password"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/team"
	"gatherkit/internal/webhook"
)

// service is an API with a real store. It has an account with a user of each role and an app,
// and a second account.
type service struct {
	t     testing.TB
	api   *API
	store *store.Store
	clock *storetest.Clock
	// names are the values that scripts refer to by name. {owner}, {admin}, {member} and
	// {viewer} are access tokens, and {stranger} is that of the owner of the second account.
	// {home} is the name of the first account, and {domain} is that of its users' addresses.
	// {receiver} is the address of an endpoint that accepts everything.
	// {owner_refresh} is a refresh token; {app} and {key} are the id and the key of the app.
	names map[string]string
}

const (
	testPassword = "correct horse battery staple"
	serviceURL   = "https://feedback.example.com"
	nobodysID    = "01234567-89ab-7def-8123-456789abcdef"
)

// cheapHash is the hash of testPassword. Its own parameters say how little it costs.
var cheapHash = fmt.Sprintf("$argon2id$v=%d$m=8,t=1,p=1$%s$%s",
	argon2.Version, base64.RawStdEncoding.EncodeToString([]byte("salt of 16 bytes")),
	base64.RawStdEncoding.EncodeToString(argon2.IDKey([]byte(testPassword), []byte("salt of 16 bytes"), 1, 8, 1, 16)))

// hasher is shared by all services, because it limits concurrent hashing on the machine.
var hasher = password.New(rand.Reader)

// newAPI returns an API on a store, like one process of the service.
func newAPI(t testing.TB, s *store.Store, clock *storetest.Clock, change ...func(*Options)) *API {
	t.Helper()
	o := Options{
		Store: s, Passwords: hasher, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Now: clock.Now,
		NewID: feedback.NewIDs(clock.Now, rand.Reader).New, Metrics: prometheus.NewRegistry(),
		PublicURL: &url.URL{Scheme: "https", Host: "feedback.example.com"},
		Webhooks:  webhook.NewSender(s.Webhooks, webhook.Options{Home: serviceURL, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}),
	}
	server, err := mail.ParseServer("smtp://127.0.0.1:1?from=feedback@example.com") // tests do not send what waits
	if err != nil {
		t.Fatal(err)
	}
	key, err := s.Secret(context.Background(), mail.KeyName)
	if err != nil {
		t.Fatal(err)
	}
	o.Mail = mail.NewSender(s.Mail, server, o.PublicURL, key)
	for _, fn := range change {
		fn(&o)
	}
	a, err := New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// newFreshService returns a service without users. {setup} is its set-up token.
func newFreshService(t testing.TB, at storetest.Place) *service {
	t.Helper()
	clock := storetest.NewClock()
	s := &service{t: t, clock: clock, store: at.Open(t, clock.Now), names: newNames()}
	s.names["setup"] = feedback.NewSetupToken(rand.Reader)
	s.api = newAPI(t, s.store, clock)
	if err := s.store.Team.AddSetupToken(context.Background(), s.names["setup"]); err != nil {
		t.Fatal(err)
	}
	return s
}

// newEmptyService returns a service without accounts that stores files in a folder.
func newEmptyService(t testing.TB, at storetest.Place, clock *storetest.Clock, folder string, change ...func(*Options)) *service {
	t.Helper()
	files, err := blob.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	opened := at.Open(t, clock.Now, func(o *store.Options) { o.RemoveFile = files.Remove })
	s := &service{t: t, clock: clock, store: opened, names: newNames()}
	s.api = newAPI(t, s.store, clock, append([]func(*Options){func(o *Options) { o.Files = files }}, change...)...)
	return s
}

func newService(t testing.TB, at storetest.Place, change ...func(*Options)) *service {
	t.Helper()
	s := newEmptyService(t, at, storetest.NewClock(), t.TempDir(), change...)
	s.populate()
	return s
}

// newNames are the names of a service without accounts.
func newNames() map[string]string { return map[string]string{"home": "Acme", "domain": "example.com"} }

// populate adds the first account, which is called {home}, with its users and an app, and the second account.
func (s *service) populate() {
	s.t.Helper()
	for _, role := range []feedback.Role{feedback.RoleOwner, feedback.RoleAdmin, feedback.RoleMember, feedback.RoleViewer} {
		s.addUser(s.names["home"], string(role), role)
	}
	s.addUser("Globex", "stranger", feedback.RoleOwner)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "Thanks.") }))
	s.t.Cleanup(receiver.Close)
	s.names["receiver"] = receiver.URL + "/gatherkit"
	s.addApp()
}

// addApp creates an app of the owner and names it {app}, and its key {key}.
func (s *service) addApp() {
	s.t.Helper()
	app := s.must("apps-create", "owner", `{"name": "Website"}`)["app"].(map[string]any)
	s.names["app"], s.names["key"] = app["id"].(string), app["api_key"].(string)
}

// addUser creates a user and logs them in.
func (s *service) addUser(account, name string, role feedback.Role) {
	s.t.Helper()
	ctx := context.Background()
	email := name + "@" + s.names["domain"]
	a, _, err := storetest.AddUser(s.store, account, team.NewUser{
		Email: email, Name: strings.ToUpper(name[:1]) + name[1:], Role: role, PasswordHash: cheapHash,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	credentials, err := s.store.Team.Credentials(ctx, email)
	if err != nil {
		s.t.Fatal(err)
	}
	_, tokens, err := s.store.Sessions.Open(ctx, credentials, nil, "")
	if err != nil {
		s.t.Fatal(err)
	}
	s.names[name] = tokens.Access
	s.names[name+"_refresh"] = tokens.Refresh
	if account == s.names["home"] {
		s.names["account"] = a.ID.String()
	}
}

// answer is the answer to a call.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) code(t testing.TB) string {
	t.Helper()
	var envelope struct {
		OK     bool            `json:"ok"`
		Result json.RawMessage `json:"result"`
		Error  *struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&envelope); err != nil {
		t.Fatalf("not the envelope: %v\n%s", err, a.body)
	}
	if envelope.OK {
		return "ok"
	}
	if envelope.Error == nil || envelope.Error.Message == "" {
		t.Fatalf("a failure without error: %s", a.body)
	}
	return envelope.Error.Code
}

// request returns the HTTP request of a call. who is the name of a token or a key, or "".
func (s *service) request(operation, who, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/api/"+operation, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	switch token := s.names[who]; {
	case who == "":
	case strings.HasPrefix(token, "gk_"):
		r.Header.Set("X-API-Key", token)
	default:
		r.Header.Set("Authorization", "Bearer "+token)
		r.RemoteAddr = "127.0.0.1:4711" // sessions have no limit there
	}
	return r
}

func serve(h http.Handler, r *http.Request) answer {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return answer{w.Code, w.Header(), w.Body.Bytes()}
}

func (s *service) call(operation, who, body string) answer {
	return serve(s.api, s.request(operation, who, body))
}

// must makes a call that must succeed and returns its result.
func (s *service) must(operation, who, body string) map[string]any {
	s.t.Helper()
	got := s.call(operation, who, body)
	if got.status != http.StatusOK {
		s.t.Fatalf("%s: %d %s", operation, got.status, got.body)
	}
	var envelope struct {
		Result map[string]any `json:"result"`
	}
	if err := json.Unmarshal(got.body, &envelope); err != nil {
		s.t.Fatal(err)
	}
	return envelope.Result
}

// submit makes a submission and returns the id of the request.
func (s *service) submit(title string) string {
	s.t.Helper()
	text, err := json.Marshal(map[string]string{"title": title, "description": ""})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.must("widget-submit-request", "key", string(text))["request"].(map[string]any)["id"].(string)
}
