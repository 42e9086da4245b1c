package api

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"
	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
)

const (
	nobodysID    = "01234567-89ab-7def-8123-456789abcdef"
	deepMetadata = `{"a":{"b":{}}}`
)

var (
	setupToken = feedback.NewSetupToken(rand.Reader)
	// cheapHash is of testPassword. What a hash costs stands in it.
	cheapHash = fmt.Sprintf("$argon2id$v=%d$m=8,t=1,p=1$%s$%s", argon2.Version, base64.RawStdEncoding.EncodeToString([]byte("salt of 16 bytes")),
		base64.RawStdEncoding.EncodeToString(argon2.IDKey([]byte(testPassword), []byte("salt of 16 bytes"), 1, 8, 1, 16)))
	passwords = []string{testPassword, "another good password"}
)

// operations are drawn from this list. The first ones of a list come a little more often.
var operations = []string{
	"widget-submit-request", "widget-submit-request", "widget-submit-request", "widget-submit-request",
	"requests-list", "requests-list", "requests-list", "requests-list", "requests-update", "requests-update",
	"requests-delete", "requests-delete", "requests-restore", "requests-get", "requests-create", "requests-create", "requests-bulk-update", "requests-bulk-update", "requests-history", "tags-list",
	"apps-create", "apps-list", "apps-get", "apps-update", "apps-update-settings", "apps-update-settings", "apps-regenerate-key", "apps-delete",
	"auth-refresh", "auth-refresh", "auth-refresh", "auth-refresh", "auth-refresh", "auth-login", "auth-logout", "auth-me", "auth-change-password", "users-list", "setup-create-owner", "auth-nothing",
}

// aCall is a call as it is made. in holds the parameters; nil when the body is no
// object at all.
type aCall struct {
	operation, who, origin, body string
	in                           object
}

func (c aCall) String() string {
	return strings.Join([]string{c.operation, "as", c.who, c.origin, "with", c.body}, " ")
}

func draw[T any](m *machine, label string, of ...T) T { return rapid.SampledFrom(of).Draw(m.t, label) }

// often is true in about nine of ten cases.
func (m *machine) often(label string) bool { return rapid.IntRange(0, 9).Draw(m.t, label) < 9 }

// rarely is true in about one of fifty cases.
func (m *machine) rarely(label string) bool { return rapid.IntRange(0, 31).Draw(m.t, label) == 17 }

// begin makes two accounts with an app and a request each, the first of them with a
// user of each role. Now and then the first owner comes by the set-up.
func (m *machine) begin() {
	m.clock.Move(time.Second)
	if !m.often("by command") {
		for range 3 {
			m.do(m.call("setup-create-owner"))
		}
	}
	for _, role := range []feedback.Role{feedback.RoleOwner, feedback.RoleAdmin, feedback.RoleMember, feedback.RoleViewer} {
		m.addUser("Acme", string(role), role)
	}
	m.addUser("Globex", "stranger", feedback.RoleOwner)
	for i, name := range []string{"owner", "stranger"} {
		m.do(aCall{operation: "apps-create", who: m.signIn(m.userNamed(name)), in: object{"name": "Website"}})
		m.do(aCall{operation: "widget-submit-request", who: m.apps[i].key, in: object{"title": "A", "description": ""}})
	}
}

func (m *machine) userNamed(name string) *user {
	return find(m.users, func(u *user) bool { return u.name == name })
}

// step is one thing that happens.
func (m *machine) step() {
	if !m.often("no time passes") {
		m.clock.Move(draw(m, "passes", time.Millisecond, 999*time.Millisecond, 11*time.Second, 21*time.Second, 16*time.Minute,
			16*time.Minute, 8*24*time.Hour, 30*24*time.Hour, 31*24*time.Hour, 61*24*time.Hour))
	}
	if !m.often("the worker rests") {
		m.work(rapid.Bool().Draw(m.t, "sweep"))
	}
	operation := draw(m, "operation", operations...)
	if find(m.apps, (*app).live) == nil { // without an app most calls would fail
		operation = "apps-create"
	}
	c := m.call(operation)
	times := draw(m, "times", 1, 1, 1, 1, 1, 1, 2)
	if times > 1 && c.operation == "auth-login" {
		times = 11 // one more than may fail
	}
	for range times {
		m.do(c)
	}
}

// signIn is an access token of the user, who refreshes or logs in when need be.
func (m *machine) signIn(u *user) string {
	if t := m.newest(u, func(t *token) bool { return !t.refreshes() && t.valid(m.now()) }); t != nil {
		return t.text
	}
	if t := m.newest(u, func(t *token) bool { return t.refreshes() && t.valid(m.now()) && t.next == "" }); t != nil && rapid.Bool().Draw(m.t, "refresh") {
		m.do(aCall{operation: "auth-refresh", in: object{"refresh_token": t.text}})
	} else {
		m.do(aCall{operation: "auth-login", in: object{"email": u.email, "password": u.password}})
	}
	if t := m.newest(u, func(t *token) bool { return !t.refreshes() }); t != nil {
		return t.text // which is none that works when too many logins have failed
	}
	return ""
}

// newest is the user's newest token that fits.
func (m *machine) newest(u *user, fits func(*token) bool) *token {
	return last(m.tokens, func(t *token) bool { return t.user == u && fits(t) })
}

func last[T any](list []T, fits func(T) bool) T {
	reversed := slices.Clone(list)
	slices.Reverse(reversed)
	return find(reversed, fits)
}

// one is the text of one of those that fit, most likely a new one; "" when none does.
func one[T any](m *machine, label string, list []T, text func(T) string, fits func(T) bool) string {
	var texts []string
	for _, v := range slices.Backward(list) {
		if fits(v) {
			texts = append(texts, text(v))
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return draw(m, label, texts...)
}

// any is any text that was given out, right or wrong.
func (m *machine) any() string { return m.anyOf("{") }

// anyOf is one that begins like this: the kinds are {id, {key, {access …
func (m *machine) anyOf(kind string) string {
	return one(m, "any "+kind, m.sides[0].seen, func(text string) string { return text }, func(text string) bool { return strings.HasPrefix(text, kind) })
}

// caller is the access token of somebody who may do what needs a role.
func (m *machine) caller(least feedback.Role) string {
	u := m.userNamed(draw(m, "user", "owner", "admin", "member", "stranger", "viewer", "owner"))
	switch {
	case !m.often("signed in"):
		return draw(m, "no token", m.anyOf("{access"), m.any(), "")
	case !u.role.Allows(least) && m.often("allowed"):
		u = m.userNamed("owner")
	}
	return m.signIn(u)
}

// call draws a call, which mostly succeeds.
func (m *machine) call(operation string) aCall {
	c := aCall{operation: operation, in: object{}}
	r := rules[operation]
	switch r.guard {
	case guardBearer:
		c.who = m.caller(r.least)
	case guardWidget:
		first := find(m.apps, (*app).live)
		c.who = one(m, "key", m.apps, func(a *app) string { return a.key }, func(a *app) bool { return a == first || a.live() && !m.often("first app") })
		if !m.often("right key") {
			c.who = draw(m, "wrong key", m.anyOf("{key"), m.any(), "")
		}
		c.origin = draw(m, "origin", "", "https://a.example", "http://b.example:8080")
	}
	if operation == "auth-refresh" && !m.often("in the body") {
		c.who = m.value(c, "refresh_token").(string)
		return c
	}
	optional := 0
	for _, f := range r.fields {
		if !f.required {
			optional++
		}
	}
	for _, f := range r.fields {
		// About two of them: with more filters at once, lists would be empty.
		if f.required && !m.rarely("left out") || !f.required && rapid.IntRange(0, max(1, optional/2)).Draw(m.t, "optional") == 0 {
			c.in[f.name] = m.value(c, f.name)
		}
	}
	if text, _ := c.in["cursor"].(string); text != "" && m.often("cursor alone") {
		c.in = object{"cursor": text}
	}
	if m.rarely("unknown parameter") {
		c.in["unknown"] = nil
	}
	if m.rarely("broken") {
		c.in, c.body = nil, draw(m, "broken body", `{`, `[]`, `{}{}`, `{"id":1,"id":1}`, "{\"id\":\"\xff\"}")
	}
	return c
}

// either draws one of the good values, now and then one of the odd ones.
func (m *machine) either(label string, good, odd []any) any {
	if m.rarely(label + " is odd") {
		good = odd
	}
	return draw(m, label, good...)
}

// value draws a parameter, which is good in most cases.
func (m *machine) value(c aCall, name string) any {
	number := func(text string) any { return json.Number(text) }
	widget := func(settings object) any { return object{"widget": settings} }
	origins := func(list ...any) any { return object{"allowed_origins": append([]any{}, list...)} }
	raw := func(text string) any { return json.RawMessage(text) }
	switch name {
	case "id", "app_id", "request_id":
		return m.id(c, name)
	case "ids":
		if c.in["filter"] != nil {
			return nil
		}
		return m.either(name, []any{[]any{m.id(c, "id")}, []any{m.id(c, "id"), m.id(c, "id"), m.id(c, "id")}}, []any{[]any{}, []any{"junk"}, "x"})
	case "filter":
		if c.in["ids"] != nil {
			return nil
		}
		return m.either(name, []any{object{"status": "opened"}, object{"status": []any{"opened", "planned"}, "box": "live"}, object{"tag": "design"}, object{"box": "bin"}, object{"app_id": m.id(c, "app_id")}},
			[]any{object{"x": 1}, "all", object{"status": "x"}})
	case "expected_count":
		right := 0
		if t, filter := m.token(c.who), c.in["filter"]; t != nil && filter != nil {
			if clean, ok := someFilter(filter); ok {
				_, result := m.listRequests(who{session: t.session}, clean.(object), nil)
				right, _ = result["total_count"].(int)
			}
		}
		return m.either(name, []any{number(strconv.Itoa(right))}, []any{number("7"), number("-1"), "1"})
	case "set":
		colleague := one(m, name, m.users, func(u *user) string { return u.id }, func(u *user) bool { t := m.token(c.who); return t == nil || u.account == t.account })
		return m.either(name,
			[]any{object{"status": "planned"}, object{"status": "opened", "add_tags": []any{"Pro"}}, object{"remove_tags": []any{"PRO", "design"}, "assignee_id": colleague}, object{"assignee_id": "none"}, object{"box": "bin"}, object{"box": "live", "status": "declined"}},
			[]any{object{"status": "duplicate"}, object{"x": 1}, object{}, object{"assignee_id": "junk"}, object{"assignee_id": nobodysID}, 7})
	case "tag":
		return m.either(name, []any{"design", "Pro", "É"}, []any{"", strings.Repeat("x", 41), 1})
	case "tags":
		return m.either(name, []any{[]any{"design"}, []any{"Design", "pro", "design"}, []any{"é", " Pro "}, []any{}}, []any{"design", []any{""}, []any{1}, slices.Repeat([]any{"x"}, 21)})
	case "eta":
		return m.either(name, []any{"2026-06-30", "2027-01-01", nil}, []any{"soon", "1999-12-31x", 7})
	case "assignee_id":
		colleague := one(m, name, m.users, func(u *user) string { return u.id }, func(u *user) bool { t := m.token(c.who); return t == nil || u.account == t.account })
		if c.operation == "requests-list" {
			return m.either(name, []any{colleague, colleague, "none", ""}, []any{"junk", nobodysID})
		}
		return m.either(name, []any{colleague, nil}, []any{m.anyOf("{id"), nobodysID, "junk"})
	case "source":
		return m.either(name, []any{"widget", "dashboard", "import"}, []any{"junk"})
	case "box":
		return m.either(name, []any{"live", "bin", "quarantine", "bin"}, []any{"junk"})
	case "created_after", "created_before":
		at := m.now().Add(-draw(m, name, 0, time.Millisecond, time.Second, time.Minute, 24*time.Hour, 40*24*time.Hour))
		return m.either(name, []any{at.Format(time.RFC3339Nano), at.In(time.FixedZone("", 7200)).Format(time.RFC3339Nano)}, []any{"yesterday", 1})
	case "submitter":
		return m.either(name, []any{object{"email": "a@example.com"}, object{"name": "Ann", "external_id": "7"}, object{}}, []any{object{"email": "junk"}, object{"id": "x"}, "Ann"})
	case "limit":
		return m.either(name, []any{number("1"), number("2"), number("3"), number("200"), number("1000"), number("1e3")}, []any{number("0"), number("-1"), number("1.5"), "1"})
	case "cursor":
		right := one(m, "cursor", m.cursors, func(p *place) string { return p.text }, func(p *place) bool { return p.operation == c.operation })
		return m.either(name, []any{right, right, ""}, []any{m.any(), "junk"})
	case "status":
		if c.operation == "requests-list" {
			return m.either(name, []any{"opened", "planned", []any{"opened", "planned"}, []any{"planned", "declined", "planned"}, "duplicate", nil}, []any{"junk", []any{}, []any{"planned", 1}})
		}
		return m.either(name, []any{"planned", "declined", "opened", "completed", nil}, []any{"duplicate", "junk"})
	case "expected_version":
		return m.either(name, []any{number("1"), number("1"), number("2"), number("3"), nil}, []any{number("0"), "1"})
	case "sort":
		return m.either(name, []any{"oldest", "newest", "most_voted", "recently_updated"}, []any{"up"})
	case "settings":
		return m.either(name,
			[]any{widget(object{"require_email": true}), widget(object{"require_email": false, "show_email_field": false}), origins("https://A.example:443"), origins(), object{"sharing": "all"}, object{}},
			[]any{widget(object{"x": true}), object{"sharing": "some"}, origins("https://a.example/path"), []any{}})
	case "metadata":
		return m.either(name, []any{raw(`{"b":1.50,"a":[1,2]}`), raw(`{"n":12345678901234567890}`), raw(`{"a":{"b":null}}`), raw(`{}`)}, []any{raw(deepMetadata), raw(`[]`)})
	case "idempotency_key":
		return m.either(name, []any{"k", "l", " k"}, []any{"", strings.Repeat("x", 65)})
	case "refresh_token":
		// Most of what can go wrong is in sessions that have been refreshed already.
		refreshed := last(m.tokens, func(t *token) bool { return t.next != "" })
		again := refreshed != nil && rapid.Bool().Draw(m.t, "the same session")
		return one(m, name, m.tokens, func(t *token) string { return t.text }, func(t *token) bool {
			return t.refreshes() && (!again || t.session == refreshed.session) && (t.valid(m.now()) || m.rarely("expired"))
		})
	case "token":
		return m.either(name, []any{setupToken}, []any{"junk"})
	case "email":
		switch c.operation {
		case "setup-create-owner":
			return m.either(name, []any{"founder@example.com"}, []any{"junk", ""})
		case "widget-submit-request":
			return m.either(name, []any{"a@example.com", "b@example.com", ""}, []any{"junk"})
		}
		return m.either(name, []any{"owner@example.com", "Viewer@Example.com", "member@example.com", "stranger@example.com"}, []any{"nobody@example.com"})
	case "password", "current_password":
		right := passwords[0]
		if t := m.token(c.who); t != nil {
			right = t.password
		} else if u := find(m.users, func(u *user) bool { return strings.EqualFold(u.email, fmt.Sprint(c.in["email"])) }); u != nil {
			right = u.password
		}
		return draw(m, name, right, right, right, "wrong")
	case "new_password":
		return m.either(name, []any{passwords[1], passwords[0]}, []any{"short", strings.Repeat("x", 1025)})
	case "account_name":
		return "Acme"
	}
	return m.either(name, []any{"A", "B"}, []any{" É\t", "😀", "", " ", "a\x00b", `\`, "'; --", strings.Repeat("é", 200), strings.Repeat("x ", 101), 1, nil})
}

// id is most likely one that the caller can see, of a request or of an app.
func (m *machine) id(c aCall, name string) any {
	t := m.token(c.who)
	if t == nil || !m.often("its own id") {
		return draw[any](m, "id", m.anyOf("{id"), m.anyOf("{id"), m.anyOf("{id"), m.any(), nobodysID, "junk", nil, 7)
	}
	if name == "app_id" || strings.HasPrefix(c.operation, "apps-") {
		return one(m, "app", m.apps, func(a *app) string { return a.id }, func(a *app) bool { return a.account == t.account && a.live() })
	}
	binned := c.operation == "requests-restore"
	pick := func(fits func(*request) bool) string {
		return one(m, "request", m.requests, func(r *request) string { return r.id }, func(r *request) bool { return r.account == t.account && !r.deleted && !r.gone && fits(r) })
	}
	if id := pick(func(r *request) bool { return r.binned == binned }); id != "" && !m.rarely("other box") {
		return id
	}
	return pick(func(*request) bool { return true })
}
