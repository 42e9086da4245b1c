package api

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// twin is one of two services that must answer alike. Ids, secrets and cursors are
// random: they are given numbers in the order in which they appear, as names by which
// later calls can use them.
type twin struct {
	*service
	numbers map[string]string
}

var randomText = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(gat|grt|gk)_[0-9A-Za-z]{38,}|[0-9A-Za-z_-]{100,}`)

// mask replaces what is random by its number.
func (w *twin) mask(text string) string {
	return randomText.ReplaceAllStringFunc(text, func(found string) string {
		number, ok := w.numbers[found]
		if !ok {
			number = fmt.Sprint("#", len(w.numbers))
			w.numbers[found], w.names[number] = number, found
		}
		return "{" + number + "}"
	})
}

// said is a call's answer as both must give it.
func (w *twin) said(operation, who, body string) string {
	got := w.call(operation, who, w.filled(body))
	return fmt.Sprintf("%d %s %s", got.status, got.header.Get("Retry-After"), w.mask(string(got.body)))
}

// newTwins makes the same accounts on both services.
func newTwins(t *rapid.T, services []*service, n int) []*twin {
	var twins []*twin
	for _, on := range services {
		w := &twin{&service{t: on.t, api: on.api, store: on.store, clock: on.clock, names: map[string]string{}}, map[string]string{}}
		for _, name := range []string{"owner", "viewer", "stranger"} {
			account, role := fmt.Sprint("Account ", n), feedback.RoleOwner
			switch name {
			case "viewer":
				role = feedback.RoleViewer
			case "stranger":
				account = fmt.Sprint("Other ", n)
			}
			unique := fmt.Sprint(name, n)
			w.addUser(account, unique, role)
			w.names[name], w.names[name+"_refresh"] = w.names[unique], w.names[unique+"_refresh"]
			delete(w.names, unique)
			delete(w.names, unique+"_refresh")
		}
		twins = append(twins, w)
	}
	for _, who := range []string{"owner", "stranger"} {
		var said []string
		for _, w := range twins {
			said = append(said, w.said("apps-create", who, `{"name":"A"}`))
		}
		if said[0] != said[1] {
			t.Fatalf("%s\n%s", said[0], said[1])
		}
	}
	for _, w := range twins { // so that there is a request from the beginning
		w.names["key"] = w.names["#2"]
		w.mask(w.submit("A"))
	}
	return twins
}

// aCall draws a call, most of which are sensible. known is how many random texts have
// been seen; apps and requests are the names of those that were created.
type aCall struct {
	t              *rapid.T
	known          int
	apps, requests []string
}

func (c aCall) one(name string, of ...string) string { return rapid.SampledFrom(of).Draw(c.t, name) }

// seen is some text that has been seen, most likely a recent one.
func (c aCall) seen() string {
	return fmt.Sprintf("{#%d}", c.known-1-min(rapid.IntRange(0, c.known-1).Draw(c.t, "back"), rapid.IntRange(0, c.known-1).Draw(c.t, "back again")))
}

// id is most likely one of the right kind.
func (c aCall) id(right []string) string {
	if len(right) > 0 && rapid.IntRange(0, 9).Draw(c.t, "wrong") < 8 {
		return `"` + rapid.SampledFrom(right).Draw(c.t, "right") + `"`
	}
	return c.one("id", `"`+c.seen()+`"`, `"01234567-89ab-7def-8123-456789abcdef"`, `"junk"`, `null`, `7`)
}

// text is most likely good.
func (c aCall) text() string {
	if rapid.IntRange(0, 9).Draw(c.t, "odd") < 7 {
		return c.one("good text", `"A"`, `"B"`)
	}
	return c.one("text", `"A"`, `"B"`, `" É\t"`, `"😀"`, `""`, `" "`, `"a\u0000b"`, `"\\"`, `"'; --"`, `"`+strings.Repeat("é", 200)+`"`, `"`+strings.Repeat("x", 201)+`"`, `1`, `null`)
}

func (c aCall) status() string {
	return c.one("status", `"opened"`, `"planned"`, `"declined"`, `"duplicate"`, `"junk"`, `["opened","planned"]`, `["planned","planned"]`, `[]`, `null`)
}

// fields is an object of some of the fields, which come as name and value.
func (c aCall) fields(required int, fields ...string) string {
	var parts []string
	for i := 0; i < len(fields); i += 2 {
		if i < 2*required && rapid.IntRange(0, 19).Draw(c.t, "left out") > 0 || i >= 2*required && rapid.Bool().Draw(c.t, "present") {
			parts = append(parts, `"`+fields[i]+`":`+fields[i+1])
		}
	}
	if rapid.IntRange(0, 29).Draw(c.t, "unknown") == 29 {
		parts = append(parts, `"unknown":1`)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (c aCall) draw() (operation, who, body string) {
	operation = c.one("operation", "widget-submit-request", "widget-submit-request", "widget-submit-request", "requests-list", "requests-list", "requests-list",
		"requests-update", "requests-update", "requests-get", "requests-delete", "requests-restore",
		"apps-create", "apps-list", "apps-get", "apps-update", "apps-update-settings", "apps-regenerate-key", "apps-delete",
		"users-list", "auth-me", "auth-refresh", "auth-logout", "auth-nothing")
	who = c.one("who", "owner", "owner", "owner", "owner", "owner", "viewer", "stranger", "", strings.Trim(c.seen(), "{}"))
	limit := c.one("limit", "1", "2", "3", "200", "1000", "0", "-1", `"1"`, "1.5", "1e3")
	cursor := c.one("cursor", `""`, `"`+c.seen()+`"`, `"`+c.seen()+`"`, `"junk"`, "null")
	switch operation {
	case "widget-submit-request":
		who = c.one("key", "#2", "#2", "#2", strings.Trim(c.seen(), "{}"), "owner", "") // #2 is the first app's key
		body = c.fields(2, "title", c.text(), "description", c.text(), "email", c.one("email", `"a@example.com"`, `"junk"`, `""`),
			"name", c.text(), "external_id", c.text(), "idempotency_key", c.one("idempotency key", `"k"`, `"l"`, `" k"`, `""`),
			"metadata", c.one("metadata", `{"b":1.50,"a":[1,2]}`, `{"a":{"b":null}}`, `{"a":{"b":{}}}`, `{}`, `[]`, `{"n":12345678901234567890}`))
	case "requests-list":
		body = c.fields(0, "status", c.status(), "app_id", c.id(c.apps), "sort", c.one("sort", `"newest"`, `"oldest"`, `"up"`), "limit", limit, "cursor", cursor)
	case "requests-update":
		body = c.fields(1, "id", c.id(c.requests), "title", c.text(), "description", c.text(), "status", c.status(), "expected_version", c.one("version", "1", "2", "3", "0"))
	case "apps-create":
		body = c.fields(1, "name", c.text())
	case "apps-update":
		body = c.fields(2, "id", c.id(c.apps), "name", c.text())
	case "apps-update-settings":
		body = c.fields(2, "id", c.id(c.apps), "settings", c.one("settings", `{}`, `{"sharing":"all"}`, `{"sharing":"some"}`, `{"widget":{"require_email":true}}`,
			`{"widget":{"require_email":false,"show_email_field":false}}`, `{"allowed_origins":["https://A.example:443"]}`, `{"allowed_origins":[]}`, `{"widget":{"x":1}}`, `[]`))
	case "apps-list", "users-list":
		body = c.fields(0, "limit", limit, "cursor", cursor)
	case "auth-refresh":
		who, body = "", `{"refresh_token":"`+c.one("refresh", "{owner_refresh}", "{viewer_refresh}", c.seen())+`"}`
	case "auth-logout":
		who = c.one("who leaves", "viewer", strings.Trim(c.seen(), "{}"))
	case "auth-me", "auth-nothing":
	case "requests-get", "requests-delete", "requests-restore":
		body = c.fields(1, "id", c.id(c.requests))
	default:
		body = c.fields(1, "id", c.id(c.apps))
	}
	return operation, who, body
}

// TestDatabasesAnswerAlike: the same calls in the same order, good or bad, are answered
// the same on SQLite and on PostgreSQL.
func TestDatabasesAnswerAlike(t *testing.T) {
	services := []*service{
		newService(t, storetest.SQLite(t)),
		newService(t, storetest.Place{Name: "postgres", Database: storetest.Postgres(t)}),
	}
	n := 0
	codes := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		n++
		twins := newTwins(t, services, n)
		call := aCall{t: t, apps: []string{"{#0}"}, requests: []string{fmt.Sprintf("{#%d}", len(twins[0].numbers)-1)}}
		for range rapid.IntRange(1, 40).Draw(t, "calls") {
			move := time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 999, 11_000}).Draw(t, "move")) * time.Millisecond
			call.known = len(twins[0].numbers)
			operation, who, body := call.draw()
			said := [2]string{}
			for i, w := range twins {
				w.clock.Move(move)
				said[i] = w.said(operation, who, body)
			}
			if said[0] != said[1] {
				t.Fatalf("%s as %q with %s:\nsqlite:   %s\npostgres: %s", operation, who, body, said[0], said[1])
			}
			codes[operation+" "+said[0][:3]]++
			if _, id, found := strings.Cut(said[0], `"request":{"id":"`); found {
				id, _, _ = strings.Cut(id, `"`)
				call.requests = append(call.requests, id)
			}
			if _, id, found := strings.Cut(said[0], `"app":{"id":"`); found {
				id, _, _ = strings.Cut(id, `"`)
				call.apps = append(call.apps, id)
			}
			for _, w := range twins {
				if _, err := w.store.Purge(context.Background()); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
	for operation := range services[0].api.ops {
		if operation != "setup-create-owner" && !strings.HasPrefix(operation, "auth-") && codes[operation+" 200"] == 0 {
			t.Errorf("%s never succeeded: the calls are too bad to show anything", operation)
		}
	}
}
