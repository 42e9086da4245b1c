package machine

import (
	"time"

	"gatherkit/internal/feedback"
)

// programFor draws the secret of a token whose scope most likely allows an operation, or "" if there is
// none. by is the user who must call, or nil.
func (m *machine) programFor(operation string, by *user) string {
	o := operations[operation]
	if o.Callers == "sessions" && m.often("no token is tried") {
		return ""
	}
	fits, refused := m.often("a token that fits"), o.Callers == "sessions" || draw(m, "of a kind that is refused", false, false, true)
	return one(m, "program", m.programs, func(p *program) string { return p.secret }, func(p *program) bool {
		return !fits || p.works(m.now()) && atLeast(p.scope, o.Least) && (by == nil || p.as.user == by) &&
			(refused || o.accepts(p) && (p.app == "" || ofOneApp(operation)))
	})
}

// tokenValue draws properties of tokens.
func (m *machine) tokenValue(c aCall, name string) (any, bool) {
	t := m.token(c.who)
	switch {
	case c.operation == "tokens-create" && name == "scope":
		good := []any{"viewer"}
		for _, scope := range []feedback.Role{feedback.RoleMember, feedback.RoleAdmin, feedback.RoleAdmin} {
			if t != nil && (atLeast(t.role, scope) || !m.often("at most its own")) {
				good = append(good, string(scope))
			}
		}
		return m.either(name, good, []any{"owner", "junk", nil, 1}), true
	case name == "expires_at":
		in := func(d time.Duration) any { return m.now().Add(d).Format(time.RFC3339Nano) }
		const year = 366 * 24 * time.Hour
		return m.either(name, []any{
			in(time.Millisecond), in(15 * time.Minute), in(2 * time.Hour), in(24 * time.Hour), in(31 * 24 * time.Hour), in(year), nil,
		}, []any{in(0), in(-time.Hour), in(year + time.Millisecond), "soon", 1}), true
	}
	return nil, false
}

// changeRole gives a user who has a token another role, and calls with the token.
func (m *machine) changeRole() {
	p := last(m.programs, func(p *program) bool { return p.works(m.now()) && p.user != nil && p.user.role != feedback.RoleOwner })
	if p == nil {
		return
	}
	role := draw(m, "role", "viewer", "member", "admin")
	m.do(aCall{operation: "users-update", who: m.ownerOf(p), in: object{"id": p.user.id, "role": role}})
	m.do(aCall{operation: draw(m, "with the token", "audit-list", "votes-add"), who: p.secret, in: object{}})
}

// ownerOf returns an access token of an owner of the account that a token belongs to.
func (m *machine) ownerOf(p *program) string {
	return m.signIn(find(m.users, func(u *user) bool {
		return u.account == p.as.account && u.role == feedback.RoleOwner && !u.gone && u.password != ""
	}))
}

// programID draws the id of a token, most likely one that the caller may revoke.
func (m *machine) programID(c aCall) string {
	t := m.token(c.who)
	revocable := func(p *program) bool { return t != nil && (who{session: t.session, role: t.role}).mayRevoke(p) }
	every := !m.often("a token that it may revoke")
	id := one(m, "token", m.programs, func(p *program) string { return p.id }, func(p *program) bool { return every || revocable(p) })
	if id == "" {
		return m.anyOf("{id")
	}
	return id
}

// colleagueOf draws a user of the caller's account.
func (m *machine) colleagueOf(c aCall) string {
	t := m.sessionOf(c.who)
	return one(m, "assignee", m.users, func(u *user) string { return u.id }, func(u *user) bool {
		return !u.gone && (t == nil || u.account == t.account)
	})
}
