package machine

import (
	"cmp"
	"slices"
	"strings"
)

// What the model answers to the operations on sessions.

func (m *model) setUpYet(_ who, in, _ object) (string, object) {
	return "ok", object{"set_up": len(m.users) > 0, "token_valid": len(m.users) == 0 && in["token"] == setupToken}
}

// ownSessions returns the sessions of a user that the service still stores, last used first, and
// which of them still work.
func (m *model) ownSessions(u *user) (known []*session, usable map[*session]bool) {
	usable = map[*session]bool{}
	for _, t := range slices.Backward(m.tokens) {
		if t.user != u || !t.known() {
			continue
		}
		if !slices.Contains(known, t.session) {
			known = append(known, t.session)
		}
		usable[t.session] = usable[t.session] || t.valid(m.now())
	}
	slices.SortStableFunc(known, func(a, b *session) int {
		return cmp.Or(b.used.Compare(a.used), b.opened.Compare(a.opened), cmp.Compare(m.place(b), m.place(a)))
	})
	return known, usable
}

// endSurplus ends the user's oldest sessions to make room for one more.
func (m *model) endSurplus(u *user) {
	known, _ := m.ownSessions(u)
	for _, s := range known[min(len(known), 49):] {
		s.ended = true
	}
}

// place returns the position of a session in the order in which they were opened.
func (m *model) place(s *session) int {
	return slices.IndexFunc(m.tokens, func(t *token) bool { return t.session == s })
}

func (m *model) listSessions(w who, _, got object) (string, object) {
	shown := []object{}
	known, usable := m.ownSessions(w.user)
	listed, _ := got["sessions"].([]any)
	for _, s := range known {
		if !usable[s] {
			continue
		}
		if i := len(shown); s.listedAs == "" && i < len(listed) {
			text, _ := listed[i].(object)["id"].(string)
			if s.listedAs = "a fresh id"; strings.HasPrefix(text, "{id") && !m.learned[text] {
				m.learned[text], s.listedAs = true, text
			}
		}
		shown = append(shown, object{
			"id": s.listedAs, "created_at": s.opened.Format(timeForm), "used_at": s.used.Format(timeForm), "user_agent": "",
			"current": s == w.session,
		})
	}
	return "ok", object{"sessions": shown}
}

func (m *model) revokeSession(w who, in, _ object) (string, object) {
	known, _ := m.ownSessions(w.user)
	for _, s := range known {
		if s.listedAs == in["id"] {
			s.ended = true
			return "ok", object{"revoked": true, "id": s.listedAs}
		}
	}
	return "sessions.not_found", nil
}

// sessionID draws the id of a session, most likely one of the caller's. It lists them to
// learn their ids.
func (m *machine) sessionID(c aCall) string {
	if t := m.token(c.who); t != nil {
		if t.listedAs == "" {
			m.do(aCall{operation: "sessions-list", who: c.who, in: object{}})
		}
		known, _ := m.ownSessions(t.user)
		listedAs := func(s *session) string { return s.listedAs }
		if id := one(m, "own session", known, listedAs, func(s *session) bool { return s.listedAs != "" }); id != "" {
			return id
		}
	}
	return m.anyOf("{id")
}
