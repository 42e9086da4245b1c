package machine

import "slices"

// webhookValue draws properties of webhooks.
func (m *machine) webhookValue(c aCall, name string) (any, bool) {
	w := who{session: m.sessionOf(c.who)}
	var e *endpoint
	last := 0
	if w.session != nil {
		e, last = m.endpoint(w, c.in), w.seq
	}
	switch c.operation + " " + name {
	case "webhooks-create url", "webhooks-update url":
		var good []any
		for _, path := range []string{"/all", "/all", "/all", "/picky", "/picky", "/gone", "/moved"} {
			good = append(good, receiverName+path)
		}
		return m.either(name, append(good, unreachable), []any{
			"ftp://example.com/", "https://ada:secret@example.com/", "https://example.com/#a", "example.com", "", 7,
		}), true
	case "webhooks-create kinds", "webhooks-update kinds":
		return m.either(name, []any{
			[]any{},
			[]any{"request.created", "vote.*"},
			[]any{"comment.*", "entry.*"},
			[]any{"webhook.*", "request.*"},
			[]any{"request.updated:status", "comment.updated:visibility"},
		}, []any{[]any{"request.creatd"}, []any{"request.*:status"}, slices.Repeat([]any{"vote.*"}, 51), "vote.*"}), true
	case "webhooks-update app_id":
		if e != nil && e.app != "" && m.often("all apps") {
			return nil, true
		}
	case "webhooks-rewind after":
		return m.either(name, []any{whole(0), whole(last / 2), whole(max(0, last-5)), whole(max(0, last-1)), whole(last)},
			[]any{whole(last + 1), whole(-1), nil}), true
	case "webhooks-resend number":
		good := []any{whole(max(1, last)), whole(max(1, last-1)), whole(max(1, last-2)), whole(max(1, last/2)), whole(1)}
		if e != nil {
			for _, c := range e.log[max(0, len(e.log)-10):] {
				if m.again(e, c.number) != nil {
					good = append(good, whole(c.number))
				}
			}
			for _, r := range e.aside {
				good = append(good, whole(r.number))
			}
		}
		return m.either(name, good, []any{whole(last + 1), whole(last + 2), whole(0), "1"}), true
	case "webhooks-attempts before":
		good := []any{nobodysID}
		if e != nil {
			for _, a := range e.attempts {
				if a.id != "" {
					good = append(good, a.id)
				}
			}
		}
		return m.either(name, good, []any{"junk", 7}), true
	}
	return nil, false
}

// webhookID draws the id of a webhook, most likely one of the caller's account.
func (m *machine) webhookID(c aCall) string {
	s := m.sessionOf(c.who)
	id := one(m, "webhook", m.webhooks, func(e *endpoint) string { return e.id }, func(e *endpoint) bool {
		return s != nil && e.account == s.account || m.rarely("of another account")
	})
	if id == "" {
		return m.anyOf("{id")
	}
	return id
}
