package machine

import (
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// How the machine draws calls about changelogs.

// entryValue draws parameters of entries.
func (m *machine) entryValue(c aCall, name string) (any, bool) {
	if !strings.HasPrefix(c.operation, "entries-") {
		return nil, false
	}
	t := m.sessionOf(c.who)
	switch name {
	case "id":
		if t != nil && m.often("its own entry") {
			return one(m, "entry", m.entries, func(e *entry) string { return e.id }, func(e *entry) bool {
				return e.account == t.account && e.live() && (c.operation != "entries-unpublish" || e.state != "draft" || m.rarely("a draft"))
			}), true
		}
		return draw[any](m, "id", m.anyOf("{id"), nobodysID, "junk", nil), true
	case "labels":
		return m.either(name, []any{[]any{"New"}, []any{"Fixed", "new", "fixed"}, []any{" é "}, []any{}},
			[]any{"New", []any{""}, []any{"a\tb"}, []any{strings.Repeat("é", 41)}, slices.Repeat([]any{"x"}, 11)}), true
	case "request_ids":
		return m.either(name, []any{m.someRequests(c, 1), m.someRequests(c, 3), m.someRequests(c, 3), []any{}},
			[]any{[]any{m.anyOf("{id")}, []any{nobodysID}, []any{"junk"}, "x", slices.Repeat([]any{nobodysID}, 51)}), true
	case "at":
		if !m.often("later") {
			return nil, true
		}
		at := m.now().Add(draw(m, name, time.Millisecond, time.Second, time.Hour, 24*time.Hour))
		return m.either(name, []any{at.Format(time.RFC3339Nano), nil, nil}, []any{m.now().Format(time.RFC3339Nano), "soon", 7}), true
	}
	return nil, false
}

// someRequests draws ids of requests of the app that the call is about.
func (m *machine) someRequests(c aCall, n int) []any {
	app := c.in["app_id"]
	if e := find(m.entries, func(e *entry) bool { return e.id == c.in["id"] }); e != nil {
		app = e.app.id
	}
	ids := []any{}
	for range n {
		id := one(m, "about", m.requests, func(r *request) string { return r.id }, func(r *request) bool {
			return r.app.id == app && !r.gone && (!r.binned || m.rarely("in the bin"))
		})
		if id != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

// publishLater lets the time of a scheduled entry come, before which its requests or its scheduler may go.
func (m *machine) publishLater(c aCall) {
	scheduled := func(e *entry) bool { return e.state == "scheduled" && e.live() }
	e := last(m.entries, scheduled)
	if c.operation != "entries-publish" || e == nil || !rapid.Bool().Draw(m.t, "it is published") {
		return
	}
	if p := e.scheduler.program; p != nil && rapid.Bool().Draw(m.t, "its token is revoked") {
		m.do(aCall{operation: "tokens-revoke", who: m.ownerOf(p), in: object{"id": p.id}})
	}
	if rs := e.remaining(); len(rs) > 1 && m.rarely("one of its requests is merged") {
		m.do(aCall{operation: "requests-merge", who: m.signIn(m.userNamed("owner")), in: object{"id": rs[0].id, "into_id": rs[1].id}})
	}
	m.clock.Move(draw(m, "until then", time.Millisecond, time.Hour, 25*time.Hour))
	m.work("entries")
}

// listEntriesOf lists the entries of the apps that a user sees.
func (m *machine) listEntriesOf(u *user, who string) {
	for _, a := range m.apps {
		if a.account != u.account || !a.live() {
			continue
		}
		m.do(aCall{operation: "widget-entries", who: a.key, in: object{"limit": number("50")}})
		m.do(aCall{operation: "entries-list", who: who, in: object{"app_id": a.id}})
		for _, e := range m.entries {
			if e.app == a {
				m.do(aCall{operation: "entries-get", who: who, in: object{"id": e.id}})
			}
		}
	}
}
