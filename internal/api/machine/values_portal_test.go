package machine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
)

// How the machine draws calls about portals.

// portalValue draws parameters of the operations on portals.
func (m *machine) portalValue(c aCall, name string) (any, bool) {
	t := m.sessionOf(c.who)
	switch c.operation + " " + name {
	case "comments-release id", "comments-block id":
		id := one(m, "held", m.remarks, func(h *remark) string { return h.listedAs }, func(h *remark) bool {
			return h.listedAs != "" && (t != nil && h.request.account == t.account && h.waits() || m.rarely("any of them"))
		})
		if id == "" || m.rarely("another id") {
			id = m.anyOf("{id")
		}
		return id, true
	case "people-block comment_id":
		r := find(m.requests, func(r *request) bool { return r.id == c.in["request_id"] })
		if r == nil || m.rarely("another comment") {
			return m.anyOf("{id"), true
		}
		return one(m, "of a visitor", r.comments, func(c *comment) string { return c.id }, func(c *comment) bool {
			return c.visitor != nil && !c.deleted || m.rarely("any of them")
		}), true
	case "people-unblock key":
		key := voters[0].(string)
		for _, a := range m.apps {
			if a.id == c.in["app_id"] && len(a.blockings) > 0 {
				key = draw(m, "blocked", a.blockings...).key
			}
		}
		return m.either(name, []any{key}, []any{"b:" + nobodysID, "", 7, strings.Repeat("x", 301)}), true
	case "votes-discard from", "votes-discard to":
		return m.sample(name, operations[c.operation].parameters.Properties[name]), true
	case "widget-comment name":
		return m.either(name, []any{"Ann", "\tBob ", ""}, []any{strings.Repeat("é", 201), 7}), true
	case "widget-request before":
		r := find(m.requests, func(r *request) bool { return r.id == c.in["id"] })
		if r == nil || len(r.comments) == 0 || r.root != nil {
			return nil, true
		}
		return draw(m, name, r.comments...).id, true
	case "widget-board sort":
		return m.either(name, []any{"top", "trending", "new"}, []any{"newest", 7}), true
	case "widget-portal-link to":
		return m.either(name, []any{"roadmap", "ideas/a?b=c&d", " é"}, []any{strings.Repeat("x", 1001), 7}), true
	}
	return nil, false
}

// preparePortal returns the operation that must come before one on a portal, or this one.
func (m *machine) preparePortal(operation string) string {
	switch operation {
	case "comments-release", "comments-block":
		if find(m.remarks, (*remark).waits) == nil && m.often("something is held") {
			return "widget-comment"
		}
		if find(m.remarks, func(h *remark) bool { return h.waits() && h.listedAs != "" }) == nil && m.often("it was listed") {
			return "comments-held"
		}
	case "people-block":
		if find(m.requests, (*request).remarked) == nil && m.often("a visitor has commented") {
			if find(m.remarks, (*remark).waits) == nil {
				return "widget-comment"
			}
			return m.preparePortal("comments-release")
		}
		m.list(find(m.requests, (*request).remarked))
	case "people-unblock":
		if find(m.apps, func(a *app) bool { return a.live() && len(a.blockings) > 0 }) == nil && m.often("somebody is blocked") {
			return m.preparePortal(draw(m, "blocks", "comments-block", "people-block"))
		}
	}
	return operation
}

// moderate lists what is held after somebody has commented, and publishes or deletes some of it.
func (m *machine) moderate(c aCall) {
	h := last(m.remarks, (*remark).waits)
	if c.operation != "widget-comment" || h == nil || !m.often("the team moderates") {
		return
	}
	m.do(aCall{operation: "comments-held", who: m.signIn(m.ownerIn(h.request.account)), in: object{}})
	m.do(m.call(draw(m, "held comments are", "comments-release", "comments-release", "comments-block")))
	r := last(m.requests, (*request).remarked)
	if r == nil || !rapid.Bool().Draw(m.t, "somebody is blocked") {
		return
	}
	m.list(r)
	m.do(m.call("people-block"))
	m.do(c)
	m.do(m.call("people-unblock"))
}

// remarked reports whether a visitor of the portal has commented on a request.
func (r *request) remarked() bool {
	return r.live() && slices.ContainsFunc(r.liveComments(), func(c *comment) bool { return c.visitor != nil })
}

// ownerIn returns an owner of an account.
func (m *machine) ownerIn(a *account) *user {
	return find(m.users, func(u *user) bool {
		return u.account == a && u.role == feedback.RoleOwner && !u.gone && u.password != ""
	})
}

// list lists the comments on a request, which have names from then on.
func (m *machine) list(r *request) {
	if r == nil {
		return
	}
	u := find(m.users, func(u *user) bool {
		return u.account == r.account && u.role == feedback.RoleOwner && !u.gone && u.password != ""
	})
	m.do(aCall{operation: "comments-list", who: m.signIn(u), in: object{"request_id": r.id}})
}

// portalSettings draws the settings of a new app's portal, with sharing.
func (m *machine) portalSettings(sharing string) object {
	portal := object{
		"slug":       fmt.Sprint("site-", len(m.apps)),
		"comments":   draw(m, "comments", "anyone", "anyone", "anyone", "verified", "off"),
		"moderation": draw(m, "moderation", "anonymous", "none", "all"),
		"held_words": draw(m, "held words", []any{}, []any{"DONE"}),
		"names":      draw(m, "names", "none", "verified"),
		"tags":       draw(m, "tags", []any{}, []any{"Pro"}),
		"team_names": m.often("team names"), "descriptions": m.often("descriptions"),
	}
	if sharing != "none" {
		portal["access"] = draw(m, "access", "public", "public", "link", "signed_in", "off")
	}
	return portal
}

// listPortals lists what is held, and who is blocked.
func (m *machine) listPortals(u *user, who string) {
	m.do(aCall{operation: "comments-held", who: who, in: object{}})
	for _, a := range m.apps {
		if a.live() && a.account == u.account {
			m.do(aCall{operation: "people-blocked", who: who, in: object{"app_id": a.id}})
			m.do(aCall{operation: "portal-check", who: who, in: object{"app_id": a.id, "sharing": "all"}})
			m.visit(a)
		}
	}
}

// visit reads the board and every request of a portal, as a browser that has voted and as nobody.
func (m *machine) visit(a *app) {
	for _, voter := range []object{{}, {"voter": voters[0]}} {
		call := func(operation string, in object) aCall {
			maps.Copy(in, voter)
			return aCall{operation: operation, who: a.key, in: in}
		}
		for _, sort := range []string{"top", "trending", "new"} {
			m.turnPages(call("widget-board", object{"sort": sort, "limit": json.Number("3")}))
		}
		m.do(call("widget-board", object{"query": "dark mo", "tag": "pro"}))
		m.do(call("widget-board", object{"query": "mode d"}))
		for _, r := range m.requests {
			if r.app == a && !r.gone {
				m.do(call("widget-request", object{"id": r.id}))
			}
		}
	}
}

// checkPortals compares the numbers of rows with those of the model. Nothing stays of what is gone, and the worker has
// removed addresses that sign in.
func (m *machine) checkPortals() {
	m.clock.Move(time.Minute)
	m.work("sweep")
	held, blocked, slugs, hosts, links := 0, 0, 0, 0, 0
	for _, h := range m.remarks {
		if h.waits() {
			held++
		}
	}
	for _, a := range m.apps {
		if !a.live() {
			continue
		}
		blocked += len(a.blockings)
		for _, n := range []struct {
			of *int
			is bool
		}{{&slugs, a.portal()["slug"] != ""}, {&hosts, a.portal()["host"] != ""}, {&links, !a.linkMade.IsZero()}} {
			if n.is {
				*n.of++
			}
		}
	}
	want := fmt.Sprint(held, blocked, slugs, hosts, links, 0)
	got := m.both("what belongs to portals", func(s *service) string {
		var held, blocked, slugs, hosts, links, tokens int
		row := s.db.QueryRow(`SELECT (SELECT COUNT(*) FROM held_comments), (SELECT COUNT(*) FROM blocked_people), (SELECT COUNT(*) FROM portals),
			(SELECT COUNT(*) FROM portal_hosts), (SELECT COUNT(*) FROM portal_links), (SELECT COUNT(*) FROM visitor_tokens)`)
		if err := row.Scan(&held, &blocked, &slugs, &hosts, &links, &tokens); err != nil {
			m.t.Fatal(err)
		}
		return fmt.Sprint(held, blocked, slugs, hosts, links, tokens)
	})
	if got != want {
		m.t.Fatalf("held, blocked, slugs, hosts, links and tokens are %s, want %s", got, want)
	}
}
