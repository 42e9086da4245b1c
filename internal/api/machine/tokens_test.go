package machine

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatherkit/internal/feedback"
)

// What the model answers to the operations on tokens for programs, and what it allows callers with one.
// m.tokens are the tokens of sessions.

// program is a caller with a token.
type program struct {
	id, name, secret string
	user             *user // nil for a service token
	scope            feedback.Role
	app              string // the id of the only app that it can use, or ""
	of               *app   // that app
	created, expires time.Time
	used, revoked    time.Time // zero if it was not
	// as has the author of its comments: its user, or for a service token one that is not in m.users.
	as *session
}

const maxPrograms = 50

func (m *model) program(secret string) *program {
	return find(m.programs, func(p *program) bool { return p.secret == secret })
}

// sessionOf returns the session of an access token, or that of a token for programs.
func (m *model) sessionOf(secret string) *session {
	if t := m.token(secret); t != nil {
		return t.session
	}
	if p := m.program(secret); p != nil {
		return p.as
	}
	return nil
}

// stored reports whether the service still has the token. It removes those of removed users and of
// deleted apps, and those that are revoked before they are used.
func (p *program) stored() bool {
	return (p.user == nil || !p.user.gone) && (p.of == nil || p.of.live()) && (p.revoked.IsZero() || !p.used.IsZero())
}

func (p *program) known() bool { return p.stored() && p.revoked.IsZero() }

func (p *program) works(now time.Time) bool { return p.known() && now.Before(p.expires) }

// role returns the scope of the token, or the role of its user if that has fewer rights.
func (p *program) role() feedback.Role {
	if p.user != nil && !atLeast(p.user.role, p.scope) {
		return p.user.role
	}
	return p.scope
}

func (p *program) kind() string {
	if p.user == nil {
		return "service"
	}
	return "personal"
}

func (p *program) shown() object {
	shown := object{
		"id": p.id, "name": p.name, "kind": p.kind(), "user": nil, "scope": p.scope, "app_id": nil,
		"expires_at": p.expires.Format(timeForm), "used_at": nil, "created_at": p.created.Format(timeForm),
	}
	if p.user != nil {
		shown["user"] = object{"id": p.user.id, "name": p.user.name}
	}
	if p.app != "" {
		shown["app_id"] = p.app
	}
	if !p.used.IsZero() {
		shown["used_at"] = p.used.Format(timeForm)
	}
	return shown
}

// admit returns why an operation refuses the token, or "". It notes that the token was used.
func (m *model) admit(p *program, o operation) string {
	switch {
	case !p.known():
		return "auth.invalid_token"
	case !p.works(m.now()):
		return "auth.token_expired"
	case !o.accepts(p), !atLeast(p.role(), o.Least):
		return "auth.forbidden"
	}
	if p.used.IsZero() || m.now().Sub(p.used) >= time.Minute {
		p.used = m.now()
	}
	return ""
}

// accepts reports whether tokens of this kind may call the operation.
func (o operation) accepts(p *program) bool {
	return o.Callers == "all" || o.Callers == "users" && p.user != nil
}

// ofOneApp reports whether a token that is limited to an app may call the operation.
func ofOneApp(operation string) bool {
	area, _, _ := strings.Cut(operation, "-")
	return operation == "auth-me" || operation != "apps-create" && slices.Contains([]string{
		"apps", "requests", "votes", "comments", "links", "events", "entries", "portal", "people",
	}, area)
}

// limit limits the parameters of a call to the caller's app. It returns an error code if they are about
// something else.
func (m *model) limit(w who, operation string, in object) string {
	if w.only() == "" {
		return ""
	}
	if !ofOneApp(operation) {
		return "auth.forbidden"
	}
	if strings.HasPrefix(operation, "apps-") {
		if id, sent := in["id"]; sent && id != w.only() {
			return "apps.not_found"
		}
		return ""
	}
	if strings.HasPrefix(operation, "entries-") && in["id"] != nil {
		if e := m.entry(w.account, in["id"]); e == nil || e.app.id != w.only() {
			return "entries.not_found"
		}
		return ""
	}
	if operation == "comments-release" || operation == "comments-block" {
		if h := m.held(w.account, in["id"]); h == nil || h.request.app.id != w.only() {
			return "comments.not_found"
		}
		return ""
	}
	where, filtered := in["filter"].(object)
	if operations[operation].parameters.Properties["app_id"] != nil && in["id"] == nil {
		where, filtered = in, true
	}
	if filtered && where["app_id"] == nil {
		where["app_id"] = w.only()
	}
	if filtered && where["app_id"] != w.only() {
		return "apps.not_found"
	}
	ids, _ := in["ids"].([]any)
	names := []string{"id", "into_id"}
	if in["request_id"] != nil {
		names = []string{"request_id"} // id is that of a comment or a link
	}
	for _, name := range names {
		if in[name] != nil {
			ids = append(ids, in[name])
		}
	}
	for _, id := range ids {
		// The service finds requests of deleted apps here until the worker has removed them.
		if find(m.requests, func(r *request) bool { return r.id == id && r.app.id == w.only() && !r.gone && !r.purged }) == nil {
			return "requests.not_found"
		}
	}
	return ""
}

// only returns the id of the app that the caller is limited to, or "".
func (w who) only() string {
	if w.program == nil {
		return ""
	}
	return w.program.app
}

// actor and by return the kind and the id of the caller in the log of changes.
func (w who) actor() string {
	if w.program != nil {
		return "token"
	}
	return "user"
}

func (w who) by() string {
	if w.program != nil {
		return w.program.id
	}
	return w.id
}

// works reports whether what the caller made, such as a link, still works.
func (w who) works(now time.Time) bool {
	if w.program != nil {
		return w.program.works(now)
	}
	return !w.ended
}

// shownActor returns who made a change as lists show it.
func (m *model) shownActor(w who, c change) object {
	actor := object{"kind": c.actor, "id": c.by, "name": nil, "of": nil}
	if c.by == "" { // the service
		actor["id"] = nil
	}
	if u := m.colleague(w, c.by); u != nil {
		actor["name"] = u.name
	}
	if p := find(m.programs, func(p *program) bool { return p.id == c.by && p.stored() }); p != nil {
		actor["name"] = p.name
		if p.user != nil {
			actor["of"] = p.user.name
		}
	}
	return actor
}

// mayRevoke reports whether the caller sees a token in the list and may revoke it.
func (w who) mayRevoke(p *program) bool {
	return p.known() && p.as.account == w.account && (p.user == w.user || atLeast(w.role, feedback.RoleAdmin))
}

func (m *model) listTokens(w who, _, _ object) (string, object) {
	shown := []object{}
	for _, p := range slices.Backward(m.programs) {
		if w.mayRevoke(p) {
			shown = append(shown, p.shown())
		}
	}
	return "ok", object{"tokens": shown}
}

func (m *model) createToken(w who, in, got object) (string, object) {
	p := &program{
		name: in["name"].(string), user: w.user, scope: feedback.Role(in["scope"].(string)),
		created: m.now(), expires: m.now().Add(90 * 24 * time.Hour), as: &session{user: w.user},
	}
	if in["kind"] == "service" {
		p.user = nil
	}
	if at, sent := in["expires_at"].(string); sent {
		p.expires, _ = time.Parse(timeForm, at) // the schema has accepted it
	}
	p.app, _ = in["app_id"].(string)
	working := 0
	for _, other := range m.programs {
		if other.as.account == w.account && other.user == p.user && other.works(m.now()) {
			working++
		}
	}
	switch {
	case p.user == nil && !atLeast(w.role, feedback.RoleAdmin), !atLeast(w.role, p.scope):
		return "auth.forbidden", nil
	case !m.now().Before(p.expires), p.expires.After(m.now().Add(366 * 24 * time.Hour)):
		return "tokens.invalid_expires_at", nil
	case p.app != "" && m.app(w.account, p.app) == nil:
		return "apps.not_found", nil
	case working >= maxPrograms:
		return "tokens.too_many", nil
	}
	p.id, p.secret = m.fresh(got, "id", "token", "id"), m.fresh(got, "program", "secret")
	if p.user == nil {
		p.as.user = &user{account: w.account, id: p.id, name: p.name}
	}
	p.of = m.app(w.account, p.app)
	m.programs = append(m.programs, p)
	m.record(w.account, "token.created", w.actor(), w.by(), "", "")
	return "ok", object{"token": p.shown(), "secret": p.secret}
}

func (m *model) revokeToken(w who, in, _ object) (string, object) {
	p := find(m.programs, func(p *program) bool { return p.id == in["id"] && w.mayRevoke(p) })
	if p == nil {
		return "tokens.not_found", nil
	}
	p.revoked = m.now()
	m.record(w.account, "token.revoked", w.actor(), w.by(), "", "")
	return "ok", object{"revoked": true, "id": p.id}
}

// useAll calls with every token, which shows which ones work.
func (m *machine) useAll() {
	for _, p := range m.programs {
		m.do(aCall{operation: "requests-list", who: p.secret, in: object{}})
	}
}

// checkPrograms compares the stored tokens with those of the model.
func (m *machine) checkPrograms() {
	none := func(id string) string { return strings.Fields(id + " -")[0] }
	at := func(t time.Time) string {
		if t.IsZero() {
			return "-"
		}
		return t.Format(timeForm)
	}
	var want []string
	for _, p := range m.programs {
		owner := ""
		if p.user != nil {
			owner = p.user.id
		}
		if p.stored() {
			want = append(want, fmt.Sprintln(p.as.account.id, p.id, none(owner), p.name, p.scope, none(p.app),
				at(p.created), at(p.expires), at(p.used), at(p.revoked)))
		}
	}
	slices.Sort(want)
	got := m.both("the tokens", func(s *service) string {
		lines := s.programs(m)
		slices.Sort(lines)
		return strings.Join(lines, "")
	})
	if got != strings.Join(want, "") {
		m.t.Fatalf("the tokens are\n%s\nwant\n%s", got, strings.Join(want, ""))
	}
}

// programs returns the rows of access_tokens.
func (s *service) programs(m *machine) (lines []string) {
	rows, err := s.db.Query(`SELECT account_id, id, user_id, name, scope, app_id, created_at, expires_at, used_at, revoked_at
		FROM access_tokens`)
	if err != nil {
		m.t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // Err returns all errors that matter
	at := func(t sql.Null[feedback.Time]) string {
		if !t.Valid {
			return "-"
		}
		return t.V.Std().Format(timeForm)
	}
	for rows.Next() {
		var account, id feedback.ID
		var owner, app sql.Null[feedback.ID]
		var name, scope string
		var created, expires, used, revoked sql.Null[feedback.Time]
		if err := rows.Scan(&account, &id, &owner, &name, &scope, &app, &created, &expires, &used, &revoked); err != nil {
			m.t.Fatal(err)
		}
		lines = append(lines, s.mask(fmt.Sprintln(account, id, idOrNone(owner), name, scope, idOrNone(app),
			at(created), at(expires), at(used), at(revoked))))
	}
	if err := rows.Err(); err != nil {
		m.t.Fatal(err)
	}
	return lines
}
