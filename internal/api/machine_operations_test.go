package api

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"gatherkit/internal/feedback"
)

// The model of the operations that have no file of their own.

func (m *model) setUp(_ who, in, got object) (string, object) {
	switch {
	case len(m.users) > 0:
		return "setup.already_done", nil
	case in["token"] != setupToken:
		return "setup.invalid_token", nil
	case !strings.Contains(in["email"].(string), "@"):
		return "setup.invalid_email", nil
	case len(in["password"].(string)) < 10:
		return "setup.invalid_password", nil
	}
	u := m.userAdded(m.fresh(got, "id", "account", "id"), in["account_name"].(string), user{
		id: m.fresh(got, "id", "user", "id"), email: in["email"].(string), name: in["name"].(string), role: feedback.RoleOwner, password: in["password"].(string),
	})
	return m.opened(u, got)
}

// opened returns the answer to a login.
func (m *model) opened(u *user, got object) (string, object) {
	s := &session{user: u, opened: m.now()}
	access, refresh := m.fresh(got, "access", "access_token"), m.fresh(got, "refresh", "refresh_token")
	m.issue(s, access, refresh)
	return "ok", object{"user": u.shown(), "account": u.account.shown(), "access_token": access, "refresh_token": refresh}
}

func (m *model) logIn(_ who, in, got object) (string, object) {
	u, refusal := m.checkPassword(in["email"].(string), in["password"].(string))
	if u == nil {
		return refusal, nil
	}
	m.endSurplus(u)
	return m.opened(u, got)
}

func (m *model) refresh(w who, in, got object) (string, object) {
	presented, _ := in["refresh_token"].(string)
	if presented == "" {
		presented = w.bearer
	}
	const refused = "auth.invalid_refresh_token"
	t := m.token(presented)
	if t == nil || !t.refreshes() || !t.valid(m.now()) {
		return refused, nil
	}
	if t.next == "" {
		t.spent, t.next = m.now(), m.fresh(got, "refresh", "refresh_token")
		m.issue(t.session, t.next)
	} else if next := m.token(t.next); next.next != "" && !next.swept {
		t.ended = true
		return refused, nil
	} else if next.swept || m.now().Sub(t.spent) > 20*time.Second {
		return refused, nil
	}
	access := m.fresh(got, "access", "access_token")
	m.issue(t.session, access)
	return "ok", object{"access_token": access, "refresh_token": t.next}
}

func (m *model) logOut(w who, _, _ object) (string, object) {
	w.ended = true
	return "ok", object{"logged_out": true}
}

func (m *model) me(w who, _, _ object) (string, object) {
	return "ok", object{"user": w.shown(), "account": w.account.shown(), "role": w.role}
}

func (m *model) changePassword(w who, in, _ object) (string, object) {
	if n := len(in["new_password"].(string)); n < 10 || n > 1024 {
		return "auth.invalid_new_password", nil
	}
	if _, refusal := m.checkPassword(w.email, in["current_password"].(string)); refusal != "" {
		return refusal, nil
	}
	w.password = in["new_password"].(string)
	m.endLinks(w.user)
	for _, t := range m.tokens {
		t.ended = t.ended || t.user == w.user && t.session != w.session
	}
	m.record(w.account, "user.password_changed", "user", w.id, "", "")
	return "ok", object{"changed": true}
}

func (m *model) createApp(w who, in, got object) (string, object) {
	a := &app{
		account: w.account, id: m.fresh(got, "id", "app", "id"), name: in["name"].(string), key: m.fresh(got, "key", "app", "api_key"),
		settings: defaultSettings(), created: m.now(), updated: m.now(),
	}
	m.apps = append(m.apps, a)
	m.record(w.account, "app.created", "user", w.id, a.id, "")
	return "ok", object{"app": a.shown()}
}

func (m *model) listApps(w who, in, got object) (string, object) {
	at, ok := m.resume(w, in, place{operation: "apps-list", limit: math.MaxInt32})
	if !ok {
		return "apps.invalid_cursor", nil
	}
	var list []item
	for i, a := range m.apps {
		if a.account == w.account && a.live() {
			list = append(list, item{n: i + 1, shown: a.shown()})
		}
	}
	return m.page(at, list, got, "apps")
}

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

func (m *model) getApp(w who, in, _ object) (string, object) {
	return m.changeApp(w, in["id"], "", func(*app) {})
}

func (m *model) updateApp(w who, in, _ object) (string, object) {
	return m.changeApp(w, in["id"], "app.updated", func(a *app) { a.name = in["name"].(string) })
}

func (m *model) configureApp(w who, in, _ object) (string, object) {
	return m.changeApp(w, in["id"], "app.updated", func(a *app) { a.settings = merged(a.settings, in["settings"].(object)) })
}

func (m *model) rekeyApp(w who, in, got object) (string, object) {
	return m.changeApp(w, in["id"], "app.key_regenerated", func(a *app) { a.key = m.fresh(got, "key", "app", "api_key") })
}

func (m *model) deleteApp(w who, in, _ object) (string, object) {
	a := m.app(w.account, in["id"])
	if a == nil {
		return "apps.not_found", nil
	}
	a.deleted = true
	m.record(a.account, "app.deleted", "user", w.id, a.id, "")
	return "ok", object{"deleted": true, "id": a.id}
}

func (m *model) submit(w who, in, got object) (string, object) {
	email, _ := in["email"].(string)
	if email != "" && !strings.Contains(email, "@") {
		return "widget.invalid_email", nil
	}
	var metadata any = object{}
	if raw, ok := in["metadata"].(json.RawMessage); ok {
		if string(raw) == deepMetadata {
			return "widget.invalid_metadata", nil
		}
		metadata = raw
	}
	r := &request{
		app: w.app, title: in["title"].(string), description: in["description"].(string), status: "opened", metadata: metadata, version: 1, tags: []any{}, source: "widget", votes: 1,
		submitter: somebody(in), created: m.now(), updated: m.now(),
	}
	ids, _ := in["attachments"].([]any)
	r.sent = text([]any{r.title, r.description, r.submitter, metadata, append([]any{}, ids...)})
	r.idempotencyKey, _ = in["idempotency_key"].(string)
	r.ofPage = w.origin != ""
	with := func(ofPage bool) *request {
		return find(m.requests, func(f *request) bool {
			return r.idempotencyKey != "" && f.app == r.app && f.idempotencyKey == r.idempotencyKey && f.ofPage == ofPage && !f.gone
		})
	}
	first := with(r.ofPage)
	if program := with(false); first == nil && program != nil && program.sent == r.sent {
		first = program // as if an older version had stored it
	}
	person, refusal := m.identified(w, in)
	if person != nil {
		r.submitter = person
	}
	files, attachable := m.attachable(w.app, ids)
	switch {
	case first != nil && first.sent != r.sent:
		return "widget.idempotency_mismatch", nil
	case first != nil:
		r.id, r.created = first.id, first.created
	case !w.app.allows(w.origin):
		return "widget.origin_not_allowed", nil
	case refusal != "":
		return refusal, nil
	case w.app.settings["widget"].(object)["require_email"] == true && r.submitter["email"] == nil:
		return "widget.invalid_email", nil
	default:
		r.quarantined = m.spam(r, in["form"]) // adds the text even if the call fails below
		switch {
		case len(ids) > 0 && !w.app.takesFiles():
			return "widget.uploads_not_allowed", nil
		case !attachable:
			return "widget.invalid_attachments", nil
		}
		r.attach(files)
		r.id = m.fresh(got, "id", "request", "id")
		m.came(r, "api_key", r.app.id)
	}
	return "ok", object{"request": object{
		"id": r.id, "title": r.title, "description": r.description, "status": "opened", "votes": 1, "created_at": r.created.Format(timeForm),
	}}
}

func (m *model) getRequest(w who, in, _ object) (string, object) {
	r := m.request(w.account, in["id"])
	if r == nil || r.binned {
		return "requests.not_found", nil
	}
	return "ok", object{"request": r.shown()}
}

func (m *model) updateRequest(w who, in, _ object) (string, object) {
	r := m.request(w.account, in["id"])
	if r == nil || r.binned {
		return "requests.not_found", nil
	}
	if expected, ok := in["expected_version"]; ok && expected != r.version {
		return "requests.version_conflict", nil
	}
	if status := in["status"]; status != nil && r.root != nil {
		return "requests.merged", nil
	}
	if id := in["assignee_id"]; id != nil && id != r.assignee && m.colleague(w, id) == nil {
		return "requests.invalid_assignee_id", nil
	}
	m.changeRequest(w, r, "request.updated", func(r *request) {
		for name, field := range map[string]*any{"assignee_id": &r.assignee, "eta": &r.eta} {
			if v, sent := in[name]; sent {
				*field = v
			}
		}
		if tags, ok := in["tags"].([]any); ok {
			r.tags = tags
		}
		for name, field := range map[string]*string{"title": &r.title, "description": &r.description, "status": &r.status} {
			if v, ok := in[name].(string); ok {
				*field = v
			}
		}
	})
	return "ok", object{"request": r.shown()}
}

func (m *model) deleteRequest(w who, in, _ object) (string, object) {
	r := m.request(w.account, in["id"])
	if r == nil || r.binned {
		return "requests.not_found", nil
	}
	m.changeRequest(w, r, moved(r.box(), "bin"), func(r *request) { r.binned, r.quarantined = true, false })
	return "ok", object{"deleted": true, "id": r.id}
}

func (m *model) restoreRequest(w who, in, _ object) (string, object) {
	r := m.request(w.account, in["id"])
	if r == nil {
		return "requests.not_found", nil
	}
	m.changeRequest(w, r, "request.restored", func(r *request) { r.binned = false })
	return "ok", object{"request": r.shown()}
}
