package machine

import (
	"slices"
	"strings"
	"time"

	"gatherkit/internal/feedback"
)

// What the model answers to the operations on users.

func (m *model) listUsers(w who, in, got object) (string, object) {
	at, ok := m.resume(w, in, place{operation: "users-list", limit: 50})
	if !ok {
		return "users.invalid_cursor", nil
	}
	var list []item
	for i, u := range m.users {
		if u.account == w.account && !u.gone {
			list = append(list, item{n: i + 1, shown: u.member()})
		}
	}
	return m.page(at, list, got, "users")
}

// joinLink is a link with which a user chooses a password.
type joinLink struct {
	text        string
	user, maker *user
	expires     time.Time
	ended       bool
}

func (l *joinLink) works(now time.Time) bool {
	return !l.ended && now.Before(l.expires) && !l.maker.gone && manages(l.maker.role, l.user.role)
}

var roles = []feedback.Role{feedback.RoleViewer, feedback.RoleMember, feedback.RoleAdmin, feedback.RoleOwner}

// manages reports whether a role may change users of another role, and give them that role.
func manages(r, other feedback.Role) bool {
	return atLeast(r, feedback.RoleAdmin) && atLeast(r, other)
}

// atLeast reports whether a role has all rights of another one.
func atLeast(r, other feedback.Role) bool {
	return slices.Index(roles, r) >= slices.Index(roles, other)
}

func (u *user) member() object {
	shown := u.shown()
	shown["role"], shown["invited"] = u.role, u.password == ""
	return shown
}

// makeLink creates a link for the user and ends the previous one.
func (m *model) makeLink(w who, u *user, got object) object {
	m.endLinks(u)
	life := 24 * time.Hour
	if u.password == "" {
		life = 7 * 24 * time.Hour
	}
	l := &joinLink{text: m.freshLink(got["link"], "join", joinPath), user: u, maker: w.user, expires: m.now().Add(life)}
	m.links = append(m.links, l)
	return object{"link": serviceURL + joinPath + l.text, "expires_at": l.expires.Format(timeForm), "sent": false}
}

func (m *model) endLinks(u *user) {
	for _, l := range m.links {
		l.ended = l.ended || l.user == u
	}
}

func (m *model) inviteUser(w who, in, got object) (string, object) {
	email, role := in["email"].(string), feedback.Role(in["role"].(string))
	switch {
	case !strings.Contains(email, "@"):
		return "users.invalid_email", nil
	case in["send"] == true:
		return "mail.off", nil
	case !manages(w.role, role):
		return "auth.forbidden", nil
	}
	if find(m.users, func(u *user) bool { return u.account == w.account && strings.EqualFold(u.email, email) && !u.gone }) != nil {
		return "users.email_taken", nil
	}
	u := &user{account: w.account, id: m.fresh(got, "id", "user", "id"), email: email, name: in["name"].(string), role: role}
	m.users = append(m.users, u)
	m.record(w.account, "user.invited", "user", w.id, "", "")
	result := m.makeLink(w, u, got)
	result["user"] = u.member()
	return "ok", result
}

// managed returns the user that a call names, if the caller may change them.
func (m *model) managed(w who, in object) (*user, string) {
	u := m.colleague(w, in["id"])
	switch {
	case u == nil:
		return nil, "users.not_found"
	case !manages(w.role, u.role):
		return nil, "auth.forbidden"
	}
	return u, ""
}

// lastOwner reports whether the user is the only owner who can log in.
func (m *model) lastOwner(u *user) bool {
	others := find(m.users, func(o *user) bool {
		return o != u && o.account == u.account && !o.gone && o.password != "" && o.role == feedback.RoleOwner
	})
	return u.role == feedback.RoleOwner && u.password != "" && others == nil
}

func (m *model) recoverUser(w who, in, got object) (string, object) {
	if in["id"] == w.id {
		return "users.invalid_id", nil
	}
	if in["send"] == true {
		return "mail.off", nil
	}
	u, refusal := m.managed(w, in)
	if refusal != "" {
		return refusal, nil
	}
	m.record(w.account, "user.recovery_link_created", "user", w.id, "", "")
	return "ok", m.makeLink(w, u, got)
}

func (m *model) updateUser(w who, in, _ object) (string, object) {
	u, refusal := m.managed(w, in)
	if refusal != "" {
		return refusal, nil
	}
	name, role := u.name, u.role
	if text, sent := in["name"].(string); sent {
		name = text
	}
	if text, sent := in["role"].(string); sent {
		role = feedback.Role(text)
	}
	switch {
	case role != u.role && !manages(w.role, role):
		return "auth.forbidden", nil
	case role != u.role && m.lastOwner(u):
		return "users.last_owner", nil
	case name != u.name || role != u.role:
		u.name, u.role = name, role
		m.record(w.account, "user.updated", "user", w.id, "", "")
	}
	return "ok", object{"user": u.member()}
}

func (m *model) removeUser(w who, in, _ object) (string, object) {
	u, refusal := m.managed(w, in)
	switch {
	case refusal != "":
		return refusal, nil
	case m.lastOwner(u):
		return "users.last_owner", nil
	}
	m.record(w.account, "user.removed", "user", w.id, "", "")
	u.gone = true
	m.endLinks(u)
	m.forgetViews(func(v *view) bool { return v.owner == u })
	delete(m.firstView, u)
	for _, t := range m.tokens {
		t.ended = t.ended || t.user == u
	}
	for _, box := range []string{"live", "quarantine", "bin"} {
		for _, r := range m.requests {
			if r.assignee != u.id || r.box() != box || r.deleted || r.gone {
				continue
			}
			r.assignee = nil
			r.version++
			if !r.binned {
				r.updated = m.now()
			}
			m.record(r.account, "request.updated", "user", w.id, r.app.id, r.id)
		}
	}
	return "ok", object{"removed": true, "id": u.id}
}

// usable returns the link with the token of a call if it works.
func (m *model) usable(in object) *joinLink {
	return find(m.links, func(l *joinLink) bool { return l.text == in["token"] && l.works(m.now()) })
}

func (m *model) checkInvite(_ who, in, _ object) (string, object) {
	l := m.usable(in)
	if l == nil {
		return "auth.link_not_found", nil
	}
	return "ok", object{"email": l.user.email, "name": l.user.name, "account_name": l.user.account.name, "invited": l.user.password == ""}
}

func (m *model) acceptInvite(_ who, in, got object) (string, object) {
	l := m.usable(in)
	if l == nil {
		return "auth.link_not_found", nil
	}
	if n := len(in["password"].(string)); n < 10 || n > 1024 {
		return "auth.invalid_password", nil
	}
	u, kind := l.user, "user.password_reset"
	if other := m.userOf(u.email); other != nil && other != u {
		return "users.email_taken", nil
	}
	if u.password == "" {
		kind = "user.joined"
	}
	u.password = in["password"].(string)
	if name, sent := in["name"].(string); sent {
		u.name = name
	}
	m.endLinks(u)
	for _, t := range m.tokens {
		t.ended = t.ended || t.user == u
	}
	m.record(u.account, kind, "user", u.id, "", "")
	return m.opened(u, got)
}

func (m *model) listAudit(w who, in, got object) (string, object) {
	about, sent := in["about"].(string)
	if !sent {
		about = "account"
	}
	at, ok := m.resume(w, in, place{operation: "audit-list", sort: "newest", filter: object{"about": about}, limit: 50})
	if !ok || sent && at.filter["about"] != about {
		return "audit.invalid_cursor", nil
	}
	return m.events(at, w, func(c change) bool {
		if at.filter["about"] == "account" {
			return c.request == "" && c.kind != "request.purged"
		}
		return slices.Contains(triage, c.kind)
	}, got, "entries")
}

// triage are the kinds of changes that the audit log of requests has.
var triage = []string{
	"request.updated", "request.deleted", "request.restored", "request.released", "request.blocked", "request.merged", "request.unmerged",
}

// audited returns the request of an entry of the audit log.
func (m *model) audited(c change) any {
	r := find(m.requests, func(r *request) bool { return r.id == c.request && !r.deleted })
	if r == nil {
		return nil
	}
	return object{"id": r.id, "title": r.title, "box": r.box()}
}

// userID draws the id of a user, mostly an invited one, because most calls would fail if the
// first users were changed.
func (m *machine) userID(c aCall) string {
	t := m.sessionOf(c.who)
	first := m.rarely("one of the first")
	id := one(m, "user", m.users, func(u *user) string { return u.id }, func(u *user) bool {
		return t != nil && u.account == t.account && !u.gone &&
			(first || strings.HasPrefix(u.email, "new") || c.operation == "users-recover" && u != t.user)
	})
	if id == "" && t != nil {
		return t.id
	}
	return id
}

// teamValue draws properties of users.
func (m *machine) teamValue(c aCall, name string) (any, bool) {
	switch {
	case c.operation == "users-invite" && name == "email":
		return m.either(name, []any{"new1@example.com", "new2@example.com", "new3@example.com", "New4@example.com"},
			[]any{"junk", "owner@example.com", "stranger@example.com", ""}), true
	case strings.HasSuffix(c.operation, "-invite") && name == "token":
		return one(m, "link", m.links, func(l *joinLink) string { return l.text }, func(l *joinLink) bool {
			return l.works(m.now()) || m.rarely("a dead link")
		}), true
	case strings.HasSuffix(c.operation, "-invite") && name == "password":
		return m.either(name, []any{passwords[0], passwords[1]}, []any{"short", strings.Repeat("x", 1025)}), true
	}
	return nil, false
}
