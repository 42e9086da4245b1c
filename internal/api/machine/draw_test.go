package machine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
)

const (
	nobodysID    = "01234567-89ab-7def-8123-456789abcdef"
	deepMetadata = `{"a":{"b":{}}}`
)

var passwords = []string{testPassword, "another good password"}

// drawn lists the operations to draw from. rapid slightly prefers the first entries.
var drawn = []string{
	"widget-submit-request", "widget-create-upload", "widget-create-upload", "requests-list", "requests-list", "requests-update",
	"requests-merge", "requests-merge", "requests-unmerge",
	"votes-add", "votes-add", "votes-remove", "votes-remove", "votes-list", "votes-list", "widget-vote", "widget-vote", "widget-vote",
	"users-invite", "auth-accept-invite", "users-update", "requests-block", "users-remove", "users-recover", "auth-check-invite",
	"sessions-revoke", "tokens-create", "tokens-revoke", "tokens-revoke", "tokens-list",
	"comments-create", "comments-create", "comments-list", "comments-list", "comments-update", "comments-delete",
	"links-add", "links-add", "links-remove",
	"widget-submit-request", "widget-submit-request", "requests-list", "requests-list", "requests-update",
	"requests-export", "requests-export", "requests-stats", "requests-stats", "requests-facets", "requests-facets",
	"requests-similar", "requests-similar", "widget-similar-requests",
	"requests-delete", "requests-delete", "requests-restore", "requests-release", "requests-block", "requests-get",
	"requests-create", "requests-create", "requests-bulk-update", "requests-bulk-update", "requests-history", "tags-list",
	"apps-create", "apps-list", "apps-get", "apps-update", "apps-update-settings", "apps-update-settings",
	"apps-regenerate-key", "apps-identity-secret", "apps-delete",
	"auth-refresh", "auth-refresh", "auth-refresh", "auth-refresh", "auth-refresh", "auth-login", "auth-logout", "auth-me",
	"auth-change-password", "users-list", "setup-create-owner", "setup-status", "auth-nothing",
	"sessions-list", "audit-list", "events-list", "events-list", "events-list",
	"views-create", "views-create", "views-update", "views-update", "views-update", "views-delete", "views-list",
	"templates-create", "templates-create", "templates-update", "templates-list", "templates-delete",
	"mentions-list", "mentions-list", "mentions-read", "mentions-read",
	"webhooks-create", "webhooks-create", "webhooks-update", "webhooks-update", "webhooks-list", "webhooks-get", "webhooks-secret",
	"webhooks-test", "webhooks-attempts", "webhooks-attempts", "webhooks-resend", "webhooks-resend", "webhooks-rewind", "webhooks-rewind",
	"webhooks-delete",
	"widget-news", "widget-my-requests", "widget-my-requests", "widget-my-link", "widget-my-link", "widget-reply", "widget-reply",
	"widget-reply", "mine-list", "mine-list", "mine-reply", "mine-reply", "requests-status-link",
	"requests-status-link", "requests-revoke-links", "digest-get", "digest-set", "mail-status", "mail-suppress", "account-usage",
	"entries-create", "entries-create", "entries-update", "entries-update", "entries-publish", "entries-publish", "entries-publish",
	"widget-comment", "widget-comment", "widget-comment", "comments-held", "comments-held", "comments-release", "comments-block",
	"people-block", "people-block", "people-blocked", "people-unblock", "people-unblock",
	"people-find", "people-erase", "people-rectify", "portal-check", "portal-rotate-link",
	"widget-portal-link", "votes-discard", "widget-board", "widget-board", "widget-request", "widget-request",
	"entries-unpublish", "entries-get", "entries-get", "entries-list", "entries-list", "entries-delete", "widget-entries", "widget-entries",
}

// usual has optional parameters without which most calls fail.
var usual = map[string][]string{
	"requests-bulk-update": {"filter", "expected_count"}, "requests-similar": {"app_id", "text"},
	"votes-add": {"external_id", "why"}, "votes-remove": {"external_id"}, "widget-vote": {"voter", "reader", "why"},
	"widget-submit-request": {"form", "reader"}, "widget-news": {"reader"}, "widget-my-requests": {"reader", "seen_until"},
	"widget-my-link": {"reader"}, "widget-reply": {"reader"}, "mentions-read": {"ids", "up_to"}, "webhooks-create": {"internal"},
	"widget-comment": {"voter"}, "widget-similar-requests": {"voter"}, "widget-board": {"voter"}, "widget-request": {"voter"},
	"entries-create": {"request_ids"}, "entries-publish": {"complete", "at"},
}

// after has operations that mostly fail unless another one was called before. shows reports
// whether a request shows that it was.
var after = map[string]struct {
	other string
	shows func(*request) bool
}{
	"comments-list":    {"comments-create", (*request).commented},
	"comments-update":  {"comments-create", (*request).commented},
	"comments-delete":  {"comments-create", (*request).commented},
	"links-remove":     {"links-add", func(r *request) bool { return len(r.linked) > 0 }},
	"requests-unmerge": {"requests-merge", func(r *request) bool { return r.root != nil }},
	"requests-release": {"widget-submit-request", func(r *request) bool { return r.quarantined }},
	"requests-block":   {"widget-submit-request", func(r *request) bool { return r.quarantined }},
}

// aCall is one call. in has the parameters; it is nil if the body is not an object.
type aCall struct {
	operation, who, origin, body string
	in                           object
	identity                     *identity
}

func (c aCall) String() string {
	text := strings.Join([]string{c.operation, "as", c.who, c.origin, "with", c.body}, " ")
	if c.identity != nil {
		text += fmt.Sprintf(" and %+v", *c.identity)
	}
	return text
}

func draw[T any](m *machine, label string, of ...T) T { return rapid.SampledFrom(of).Draw(m.t, label) }

// often returns true in about nine of ten cases.
func (m *machine) often(label string) bool { return rapid.IntRange(0, 9).Draw(m.t, label) < 9 }

// rarely returns true in about one of fifty cases.
func (m *machine) rarely(label string) bool { return rapid.IntRange(0, 31).Draw(m.t, label) == 17 }

func (m *machine) userNamed(name string) *user {
	return find(m.users, func(u *user) bool { return u.email == name+"@example.com" })
}

// step performs one random step: it may move the clock, run the worker and make calls.
func (m *machine) step() {
	if !m.often("no time passes") {
		m.clock.Move(draw(m, "passes", time.Millisecond, 999*time.Millisecond, 11*time.Second, 21*time.Second, 15*time.Minute,
			16*time.Minute, 2*time.Hour, 24*time.Hour, 8*24*time.Hour, 30*24*time.Hour, 31*24*time.Hour, 61*24*time.Hour))
	}
	if !m.often("the worker is idle") {
		m.work(draw(m, "task", "sweep", "purge", "index", "webhooks", "entries", "entries"))
	}
	if family := m.family(); len(family) > 1 && !m.often("families stay") {
		m.leave(family)
	}
	if !m.often("roles stay") {
		m.changeRole()
	}
	if len(m.webhooks) > 0 && draw(m, "deliveries", false, false, true) {
		m.deliver()
		m.do(m.call(draw(m, "of webhooks", "webhooks-update", "webhooks-resend", "webhooks-rewind", "webhooks-attempts")))
	}
	operation := draw(m, "operation", drawn...)
	a, ok := after[operation]
	shows := func(r *request) bool { return !r.deleted && !r.gone && !r.binned && a.shows(r) }
	if ok && m.often("after "+a.other) && find(m.requests, shows) == nil {
		operation = a.other
	}
	works := func(l *joinLink) bool { return l.works(m.now()) }
	invited := strings.HasPrefix(operation, "auth-") && strings.HasSuffix(operation, "-invite")
	if invited && m.often("after users-invite") && find(m.links, works) == nil {
		operation = "users-invite"
	}
	joined := func(u *user) bool { return !u.gone && strings.HasPrefix(u.email, "new") }
	if (operation == "users-update" || operation == "users-remove") && m.often("somebody was invited") && find(m.users, joined) == nil {
		operation = "users-invite"
	}
	area, verb, _ := strings.Cut(operation, "-")
	missing := area == "views" && len(m.views) == 0 || area == "templates" && len(m.templates) == 0 ||
		area == "tokens" && len(m.programs) == 0 ||
		area == "webhooks" && len(m.webhooks) == 0 || area == "entries" && len(m.entries) == 0
	if missing && verb != "list" && m.often("one is created before") {
		operation = area + "-create"
	}
	operation = m.preparePortal(m.prepareReader(operation))
	if find(m.apps, (*app).live) == nil { // without an app, most calls would fail
		operation = "apps-create"
	}
	c := m.call(operation)
	times := draw(m, "times", 1, 1, 1, 1, 1, 1, 2)
	if times > 1 && c.operation == "auth-login" {
		times = 11 // one more than the limit of failures
	}
	if times > 1 && c.in["size"] == largest {
		times = 103 // one more than the limit of announced files
	}
	if times > 1 && c.operation == "tokens-create" {
		times = maxPrograms + 1
	}
	if times > 1 && c.operation == "webhooks-create" {
		times = maxEndpoints + 1
	}
	if times > 1 && (c.operation == "webhooks-test" || c.operation == "webhooks-resend") {
		times = mostSends + 1
	}
	if times > 1 {
		m.replyOften(c)
	}
	for range times {
		m.do(c)
	}
	if c.in["sort"] == "relevance" {
		m.turnPages(c)
	}
	if (operation == "users-invite" || operation == "users-recover") && rapid.Bool().Draw(m.t, "the link is used") {
		m.do(m.call("auth-accept-invite"))
		u := last(m.users, func(u *user) bool { return u.password != "" && !u.gone })
		m.do(aCall{operation: "tokens-create", who: m.signIn(u), in: object{"name": "CI", "scope": "viewer"}})
	}
	m.moveFiles(c)
	m.publishLater(c)
	m.moderate(c)
	if p := m.program(c.who); p != nil && operation == "requests-export" && rapid.Bool().Draw(m.t, "the token is revoked") {
		m.do(aCall{operation: "tokens-revoke", who: m.ownerOf(p), in: object{"id": p.id}})
	}
	if len(m.exports) > 0 && (operation == "requests-export" || !m.often("no link is opened")) {
		m.open(draw(m, "link", m.exports[max(0, len(m.exports)-2):]...))
	}
}

// family returns the requests of the first account that take part in a merge.
func (m *machine) family() []*request {
	var family []*request
	for _, r := range m.requests {
		if r.account == m.accounts[0] && r.live() && (r.root != nil || len(m.members(r)) > 0) {
			family = append(family, r)
		}
	}
	return family
}

// leave moves some of a family to the bin, and sometimes removes them for good.
func (m *machine) leave(family []*request) {
	who := m.signIn(m.userNamed("owner"))
	for range draw(m, "of them leave", 1, 2, 3) {
		m.do(aCall{operation: "requests-delete", who: who, in: object{"id": draw(m, "leaves", family...).id}})
	}
	if rapid.Bool().Draw(m.t, "for good") {
		m.clock.Move(31 * 24 * time.Hour)
		m.work("sweep")
	}
}

// signIn returns an access token of the user, who refreshes or logs in if necessary.
func (m *machine) signIn(u *user) string {
	if t := m.newest(u, func(t *token) bool { return !t.refreshes() && t.valid(m.now()) }); t != nil {
		return t.text
	}
	unspent := func(t *token) bool { return t.refreshes() && t.valid(m.now()) && t.next == "" }
	if t := m.newest(u, unspent); t != nil && rapid.Bool().Draw(m.t, "refresh") {
		m.do(aCall{operation: "auth-refresh", in: object{"refresh_token": t.text}})
	} else {
		m.do(aCall{operation: "auth-login", in: object{"email": u.email, "password": u.password}})
	}
	if t := m.newest(u, func(t *token) bool { return !t.refreshes() }); t != nil {
		return t.text // it does not work if the login failed because of too many failures
	}
	return ""
}

// newest returns the user's newest token that fits.
func (m *machine) newest(u *user, fits func(*token) bool) *token {
	return last(m.tokens, func(t *token) bool { return t.user == u && fits(t) })
}

func last[T any](list []T, fits func(T) bool) T {
	reversed := slices.Clone(list)
	slices.Reverse(reversed)
	return find(reversed, fits)
}

// one draws the text of an element that fits, most likely a recent one. It returns "" if none
// fits.
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

// any draws any name, whether it fits or not.
func (m *machine) any() string { return m.anyOf("{") }

// anyOf draws a name with a prefix, such as {id, {key or {access.
func (m *machine) anyOf(kind string) string {
	return one(m, "any "+kind, m.services[0].seen, func(text string) string { return text }, func(text string) bool {
		return strings.HasPrefix(text, kind)
	})
}

// caller draws an access token, mostly of a user who may call an operation of this role, or sometimes a
// token for programs.
func (m *machine) caller(operation string, least feedback.Role) string {
	u := m.userNamed(draw(m, "user", "owner", "admin", "member", "stranger", "viewer", "owner"))
	var by *user // who must call
	r := last(m.requests, func(r *request) bool { return r.live() && find(r.liveComments(), (*comment).ofTeam) != nil })
	if r != nil && (operation == "comments-update" && m.often("the author") || operation == "comments-delete" && u.account != r.account) {
		u = find(r.liveComments(), (*comment).ofTeam).author
		by = u
	}
	n := last(m.mentions, func(n *mention) bool { return n.listed() && n.user.password != "" })
	if n != nil && strings.HasPrefix(operation, "mentions-") && m.often("somebody mentioned") {
		u = n.user
		by = u
	}
	v := last(m.views, func(v *view) bool { return v.owner != nil && v.owner.password != "" })
	if v != nil && (operation == "views-update" || operation == "views-delete") && m.often("the owner") {
		u = v.owner
		by = u
	}
	if p := last(m.programs, (*program).known); p != nil && p.user != nil && operation == "tokens-revoke" && m.often("its user") {
		u = p.user
	}
	service := find(m.programs, func(p *program) bool { return p.user == nil && p.as.user == u })
	var secret string
	if service == nil && draw(m, "with a token", false, false, true) {
		secret = m.programFor(operation, by)
	}
	switch {
	case !m.often("signed in"):
		return draw(m, "no token", m.anyOf("{access"), m.anyOf("{program"), m.any(), "")
	case service != nil:
		return service.secret
	case secret != "":
		return secret
	case !u.role.Allows(least) && m.often("allowed"):
		u = m.userNamed("owner")
	}
	return m.signIn(u)
}

// call draws a call that mostly succeeds.
func (m *machine) call(operation string) aCall {
	c := aCall{operation: operation, in: object{}}
	o := operations[operation]
	switch o.guard() {
	case "Bearer":
		c.who = m.caller(operation, o.Least)
	case "X-API-Key":
		first := find(m.apps, (*app).live)
		c.who = one(m, "key", m.apps, func(a *app) string { return a.key }, func(a *app) bool {
			return a == first || a.live() && !m.often("first app")
		})
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
	for _, name := range o.Names {
		if !o.requires(name) {
			optional++
		}
	}
	for _, name := range o.Names {
		// About two optional parameters: with more filters at once, lists would be empty.
		if (o.requires(name) || m.wants(c, name)) && !m.rarely("left out") ||
			!o.requires(name) && rapid.IntRange(0, max(1, optional/2)).Draw(m.t, "optional") == 0 {
			c.in[name] = m.value(c, name)
		}
	}
	if c.in["identity_token"] == identityName {
		c.identity = m.identity(c)
	}
	if text, _ := c.in["cursor"].(string); text != "" && m.often("cursor alone") {
		maps.DeleteFunc(c.in, func(name string, _ any) bool {
			return !o.requires(name) && !slices.Contains([]string{"cursor", "reader", "identity_token"}, name)
		})
	}
	if m.rarely("unknown parameter") {
		c.in["unknown"] = nil
	}
	if m.rarely("broken") {
		c.in, c.body = nil, draw(m, "broken body", `{`, `[]`, `{}{}`, `{"id":1,"id":1}`, "{\"id\":\"\xff\"}")
	}
	return c
}
