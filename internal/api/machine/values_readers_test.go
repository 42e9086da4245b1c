package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// readerValue draws the secret of a browser, the token of a private link, or what a person can reply to.
func (m *machine) readerValue(c aCall, name string) (any, bool) {
	switch {
	case c.operation == "widget-reply" && name == "reader" && m.often("who can reply"):
		r := last(m.requests, func(r *request) bool { return r.key == c.who && m.canReply(r) })
		if r == nil {
			return readers[0], true
		}
		return r.reader, true
	case name == "reader":
		good := append(append([]any{}, readers...), readers...)
		if !ofReaders(c.operation) {
			good = append(good, "")
		}
		return m.either(name, good, []any{"short", strings.Repeat("f", 64), strings.Repeat("A", 64), "", 7}), true
	case name == "token" && strings.HasPrefix(c.operation, "mine-"):
		list := c.operation == "mine-list" || !m.often("of who can reply")
		link := one(m, name, m.statusLinks, func(l *statusLink) string { return l.text }, func(l *statusLink) bool {
			return l.works() && (list || m.answerable(l))
		})
		return m.either(name, []any{cmp.Or(link, m.anyOf("{status"))}, []any{m.any(), m.anyOf("{status"), "junk", 7}), true
	case name == "request_id" && strings.HasSuffix(c.operation, "-reply") && m.often("a request of theirs"):
		h, _ := m.byLink(c.in)
		if a := find(m.apps, func(a *app) bool { return a.key == c.who }); a != nil {
			h = m.reads(a, fmt.Sprint(c.in["reader"]))
		}
		theirs := one(m, "of theirs", m.requests, func(r *request) string { return r.id }, func(r *request) bool {
			return h.app != nil && h.asked(r) && !r.gone && (m.canReply(r) || m.rarely("nobody has commented"))
		})
		return cmp.Or(theirs, m.anyOf("{id")), true
	}
	return nil, false
}

// canReply reports whether the submitter of a request, a browser, can answer the team.
func (m *model) canReply(r *request) bool {
	return r.live() && slices.Contains(readers, any(r.reader)) && find(r.thread(), (*comment).ofTeam) != nil
}

// prepareReader returns the operation that must come before one of a person outside, or this one. Before a
// reply, it comments publicly on a request whose submitter can hear of it.
func (m *machine) prepareReader(operation string) string {
	if operation == "mine-list" && m.often("somebody has a link") && find(m.statusLinks, (*statusLink).works) == nil {
		return draw(m, "a link", "widget-my-link", "requests-status-link")
	}
	if operation == "mine-reply" && find(m.statusLinks, m.answerable) == nil {
		m.ask()
	}
	if operation == "widget-reply" && !slices.ContainsFunc(m.requests, func(r *request) bool {
		return r.app == find(m.apps, (*app).live) && m.canReply(r)
	}) {
		m.ask()
	}
	return operation
}

// answerable reports whether the holder of a link can answer the team.
func (m *model) answerable(l *statusLink) bool {
	return l.works() && slices.ContainsFunc(m.requests, func(r *request) bool { return l.asked(r) && m.canReply(r) })
}

// replyOften sends one more reply than a person can send in a row.
func (m *machine) replyOften(c aCall) {
	if c.in == nil || !strings.HasSuffix(c.operation, "-reply") {
		return
	}
	for n := range 11 {
		c.in["body"] = fmt.Sprint("On page ", n)
		m.do(c)
	}
}

// ask comments publicly on a request whose submitter can hear of it, and makes a link to it.
func (m *machine) ask() {
	r := last(m.requests, func(r *request) bool {
		return r.live() && r.app == find(m.apps, (*app).live) && slices.Contains(readers, any(r.reader))
	})
	if r == nil || !m.often("the team comments") {
		return
	}
	u := m.ownerIn(r.account)
	m.do(aCall{operation: "comments-create", who: m.signIn(u), in: object{
		"request_id": r.id, "body": "Which page?", "visibility": "public", "quiet": !m.often("told"),
	}})
	m.do(aCall{operation: "requests-status-link", who: m.signIn(u), in: object{"id": r.id}})
}

// listOutside lists what each reader and each holder of a link sees.
func (m *machine) listOutside() {
	for _, a := range m.apps {
		for _, reader := range readers {
			if a.live() {
				m.do(aCall{operation: "widget-news", who: a.key, in: object{"reader": reader}})
				m.do(aCall{operation: "widget-my-requests", who: a.key, in: object{"reader": reader, "limit": number("50")}})
			}
		}
	}
	for _, l := range m.statusLinks {
		m.do(aCall{operation: "mine-list", in: object{"token": l.text}})
	}
}

// checkReaders compares the numbers of stored readers and private links with those of the model.
func (m *machine) checkReaders() {
	links, seen := 0, 0
	for _, l := range m.statusLinks {
		if l.works() {
			links++
		}
	}
	for _, a := range m.apps {
		for key, at := range m.seenUntil {
			if a.live() && strings.HasPrefix(key, a.id) && !at.Equal(time.Time{}) {
				seen++
			}
		}
	}
	want := fmt.Sprint(links, " links, ", seen, " readers")
	got := m.both("readers and links", func(s *service) string {
		var links, seen int
		row := s.db.QueryRow("SELECT (SELECT COUNT(*) FROM status_links), (SELECT COUNT(*) FROM readers)")
		if err := row.Scan(&links, &seen); err != nil {
			m.t.Fatal(err)
		}
		return fmt.Sprint(links, " links, ", seen, " readers")
	})
	if got != want {
		m.t.Fatalf("%s are stored, want %s", got, want)
	}
}
