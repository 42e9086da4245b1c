package gatherkit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/oapi-codegen/nullable"
	"github.com/oapi-codegen/runtime/types"
)

// setting returns a variable that says which service to call. go test ./e2e -run TestClients, in the
// repository, starts one.
func setting(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set; run go test ./e2e -run TestClients", name)
	}
	return value
}

// transport changes the calls of a client.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func member(t *testing.T) *Client { return New(setting(t, "URL"), setting(t, "TOKEN")) }

// app returns the only app of the account.
func app(t *testing.T, c *Client) App {
	t.Helper()
	got, err := c.AppsList(t.Context(), AppsListParams{})
	if err != nil || len(got.Apps) != 1 {
		t.Fatalf("%+v %v", got, err)
	}
	return got.Apps[0]
}

// TestChanges sets and clears fields of a request.
func TestChanges(t *testing.T) {
	c := member(t)
	created, err := c.RequestsCreate(t.Context(), RequestsCreateParams{AppID: app(t, c).ID, Title: "Dark mode"})
	if err != nil {
		t.Fatal(err)
	}
	me, err := c.AuthMe(t.Context())
	if err != nil || me.Role != RoleMember {
		t.Fatalf("%+v %v", me, err)
	}
	request := created.Request
	for _, step := range []struct {
		change RequestsUpdateParams
		eta    string // "" for none
	}{
		{RequestsUpdateParams{Eta: nullable.NewNullableWithValue("2027-Q1"), AssigneeID: nullable.NewNullableWithValue(me.User.ID)}, "2027-Q1"},
		{RequestsUpdateParams{Status: new(SettableStatusPlanned)}, "2027-Q1"}, // omitted fields keep their values
		{RequestsUpdateParams{Eta: nullable.NewNullNullable[string](), AssigneeID: nullable.NewNullNullable[types.UUID]()}, ""},
	} {
		step.change.ID = request.ID
		got, err := c.RequestsUpdate(t.Context(), step.change)
		if err != nil {
			t.Fatal(err)
		}
		request = got.Request
		if eta, _ := request.Eta.Get(); eta != step.eta || request.AssigneeID.IsNull() != (step.eta == "") {
			t.Errorf("%+v: eta %v, assignee %v", step.change, request.Eta, request.AssigneeID)
		}
	}
	if request.Status != StatusPlanned || request.Source != SourceAPI {
		t.Errorf("status %s, source %s", request.Status, request.Source)
	}
}

// TestPages reads a list that has several pages.
func TestPages(t *testing.T) {
	c := member(t)
	id := app(t, c).ID
	tag := fmt.Sprint("pages ", time.Now().UnixNano())
	for i := range 5 {
		in := RequestsCreateParams{AppID: id, Title: fmt.Sprint("Idea ", i), Tags: &[]string{tag}}
		if _, err := c.RequestsCreate(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	in := RequestsListParams{Limit: new(int64(2)), Tag: &tag}
	var titles []string
	for request, err := range c.RequestsListAll(t.Context(), in) {
		if err != nil {
			t.Fatal(err)
		}
		titles = append(titles, request.Title)
	}
	if got := strings.Join(titles, ", "); got != "Idea 4, Idea 3, Idea 2, Idea 1, Idea 0" {
		t.Error(got)
	}
	list := c.RequestsListAll(t.Context(), in)
	for range 2 { // each loop begins at the first page
		first := true
		for request, err := range list {
			if err != nil {
				t.Fatal(err)
			}
			if request.Title == "Idea 2" {
				break // in the second page; the rest is not asked for
			}
			if first && request.Title != "Idea 4" {
				t.Errorf("the list begins with %q", request.Title)
			}
			first = false
		}
	}
}

// TestRefusal gets the code of a refused call.
func TestRefusal(t *testing.T) {
	c := member(t)
	_, err := c.RequestsCreate(t.Context(), RequestsCreateParams{AppID: app(t, c).ID})
	refusal, ok := errors.AsType[*Error](err)
	if !ok || refusal.Code != "requests.invalid_title" || refusal.Status != 400 || refusal.RequestID == "" ||
		refusal.Error() != "title must be text of 1 to 200 characters. (requests.invalid_title)" {
		t.Errorf("%#v", err)
	}
	n := 0
	for _, err := range New(c.URL, "gtk_wrong").RequestsListAll(t.Context(), RequestsListParams{}) {
		if refusal, ok := errors.AsType[*Error](err); !ok || refusal.Code != "auth.invalid_token" {
			t.Error(err)
		}
		n++
	}
	if n != 1 {
		t.Errorf("a refused list yields %d times", n)
	}
	if _, err := New(c.URL+"/docs", "").AuthMe(t.Context()); err == nil || !strings.Contains(err.Error(), "check the address") {
		t.Error(err)
	}
}

// TestForeign gets answers of other servers: a proxy's while the service is away, and those of a wrong address.
func TestForeign(t *testing.T) {
	status, calls := http.StatusBadGateway, 0
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		calls++
		if status == http.StatusPermanentRedirect {
			w.Header().Set("Location", setting(t, "URL")+r.URL.Path)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<h1>Trouble</h1>")
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	c := New(server.URL, setting(t, "TOKEN"))
	c.Sleep = func(context.Context, time.Duration) error { return nil }
	for answer, want := range map[int]int{502: 4, 503: 4, 504: 4, 429: 4, 500: 1, 404: 1, 200: 1, http.StatusPermanentRedirect: 1} {
		status, calls = answer, 0
		for _, err := range c.RequestsListAll(t.Context(), RequestsListParams{}) {
			refusal, ok := errors.AsType[*Error](err)
			if !ok || refusal.Code != "network" || refusal.Status != answer || !strings.Contains(refusal.Message, "check the address") {
				t.Errorf("%d: %v", answer, err)
			}
		}
		if calls != want {
			t.Errorf("%d: %d calls, want %d", answer, calls, want)
		}
	}
}

// TestLimit waits for as long as the service asks.
func TestLimit(t *testing.T) {
	address, waited := "203.0.113.1", []time.Duration{}
	c := &Client{URL: setting(t, "URL"), APIKey: setting(t, "KEY"), Retries: 1}
	c.HTTP = &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		r.Header.Set("X-Forwarded-For", address)
		return http.DefaultTransport.RoundTrip(r)
	})}
	c.Sleep = func(_ context.Context, d time.Duration) error {
		waited = append(waited, d)
		address = "203.0.113.2"
		return nil
	}
	for i := range 2 { // an address may submit once a minute
		if _, err := c.WidgetSubmitRequest(t.Context(), WidgetSubmitRequestParams{Title: fmt.Sprint("Limit ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if len(waited) != 1 || waited[0] <= time.Second || waited[0] > 2*time.Minute {
		t.Errorf("waited %v", waited)
	}
	c.Retries = 0
	_, err := c.WidgetSubmitRequest(t.Context(), WidgetSubmitRequestParams{Title: "Limit"})
	if refusal, ok := errors.AsType[*Error](err); !ok || refusal.Code != "api.rate_limited" || refusal.RetryAfter < time.Second {
		t.Errorf("%#v", err)
	}
}

// TestOutage sends a call again only if that cannot do anything twice.
func TestOutage(t *testing.T) {
	c := New(setting(t, "URL"), setting(t, "TOKEN"))
	c.APIKey = setting(t, "KEY")
	var failures, calls int
	busy, later := false, "" // or unreachable
	c.HTTP = &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		r.Header.Set("X-Forwarded-For", "203.0.113.3")
		answer, err := http.DefaultTransport.RoundTrip(r)
		calls++
		if failures > 0 && err == nil {
			failures--
			_ = answer.Body.Close()
			if !busy {
				return nil, io.ErrUnexpectedEOF
			}
			answer.StatusCode = http.StatusServiceUnavailable
			answer.Header.Set("Retry-After", later)
			answer.Body = io.NopCloser(strings.NewReader(`{"ok": false, "error": {"code": "api.unavailable", "message": "Later."}}`))
		}
		return answer, err
	})}
	c.Sleep = func(context.Context, time.Duration) error { return nil }
	reset := func(n int) { failures, calls = n, 0 }

	once := fmt.Sprint("once ", time.Now().UnixNano())
	reset(2)
	sent, err := c.WidgetSubmitRequest(t.Context(), WidgetSubmitRequestParams{Title: once, IdempotencyKey: &once})
	if err != nil || calls != 3 {
		t.Fatalf("%d calls: %v", calls, err)
	}
	if got, err := c.RequestsList(t.Context(), RequestsListParams{Query: &once}); err != nil || len(got.Requests) != 1 ||
		got.Requests[0].ID != sent.Request.ID {
		t.Errorf("stored %+v, %v", got.Requests, err)
	}
	reset(1)
	if _, err := c.RequestsCreate(t.Context(), RequestsCreateParams{AppID: app(t, member(t)).ID, Title: "Twice"}); err == nil || calls != 1 {
		t.Errorf("a call without a key: %d calls, %v", calls, err)
	}
	reset(9)
	read := func() (err error) {
		for _, err = range c.RequestsListAll(t.Context(), RequestsListParams{Limit: new(int64(200))}) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := read(); !errors.Is(err, io.ErrUnexpectedEOF) || calls != 4 {
		t.Errorf("a long outage: %d calls, %v", calls, err)
	}
	reset(1)
	if _, err := c.RequestsList(t.Context(), RequestsListParams{}); err == nil || calls != 1 {
		t.Errorf("a single page: %d calls, %v", calls, err)
	}
	busy = true
	reset(1)
	if err := read(); err != nil || calls != 2 {
		t.Errorf("a busy service: %d calls, %v", calls, err)
	}
	later = "3600"
	reset(1)
	if err := read(); err == nil || calls != 1 {
		t.Errorf("a service that is away for an hour: %d calls, %v", calls, err)
	}
	reset(1)
	if _, err := c.RequestsDelete(t.Context(), RequestParams{}); err == nil || calls != 1 {
		t.Errorf("a deletion on a busy service: %d calls, %v", calls, err)
	}
}
