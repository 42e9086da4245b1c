package api

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"gatherkit/internal/feedback"
)

const timeForm = "2006-01-02T15:04:05.000Z"

type object = map[string]any

// model is the expected state of the service. Nothing is removed from its lists, so that they
// are in the order of creation. Ids and secrets are replaced by names.
type model struct {
	now      func() time.Time
	accounts []*account
	users    []*user
	apps     []*app
	requests []*request
	tokens   []*token
	cursors  []*place
	exports  []*export
	uploads  []*upload
	links    []*joinLink
	written  []wrote
	failures map[string]*countdown // failed logins by e-mail; all of them under ""
	learned  map[string]bool       // random texts of the service
}

type (
	account struct {
		id, name string
		log      []change
		seq      int
	}
	change struct {
		text, request string
		number        int
		at            time.Time
		kind, actor   string
		by            any
	}
	user struct {
		*account
		id, email, name, password string
		role                      feedback.Role
		gone                      bool
	}
	app struct {
		*account
		id, name, key    string
		settings         object
		created, updated time.Time
		deleted          bool
		secret, before   string // current and previous secret for identity tokens
		beforeUntil      time.Time
	}
	request struct {
		*app
		id, title, description, status, idempotencyKey string
		ofPage                                         bool // sent by a page, whose keys are kept apart
		submitter                                      object
		metadata                                       any
		tags                                           []any
		assignee, eta                                  any
		source                                         string
		votes                                          int
		given                                          []*vote    // votes for this request itself
		comments                                       []*comment // including deleted ones
		attachments                                    []*upload
		root, parent                                   *request // if merged, see mergeRequest
		former                                         string   // status before the merge
		version                                        int
		created, updated                               time.Time
		answered                                       time.Time // first answer, see by_answer
		binned, quarantined, gone                      bool
		sent                                           string // what the submitter sent
	}
	session struct {
		*user
		listedAs     string // its id, known after sessions-list
		opened, used time.Time
		ended        bool
	}
	token struct {
		*session
		text, next     string // next is the new token after a refresh
		expires, spent time.Time
		swept          bool
	}
	// place is the content of a cursor: where a page starts.
	place struct {
		text               string
		account            *account
		operation, sort    string
		app, statuses, tag string
		query              string
		assignee, source   string
		box, from, before  string
		request            string
		limit, after       int
		afterBy            int64
		afterKey           string
		began              time.Time
	}
	countdown struct {
		n      int
		resets time.Time
	}
)

func newModel(now func() time.Time) *model {
	return &model{now: now, failures: map[string]*countdown{}, learned: map[string]bool{}}
}

func (a *app) live() bool     { return !a.deleted }
func (r *request) live() bool { return !r.deleted && !r.gone && r.box() == "live" }

// valid reports whether the token is accepted.
func (t *token) valid(now time.Time) bool { return t.known() && now.Before(t.expires) }
func (t *token) known() bool              { return !t.ended && !t.swept }
func (t *token) refreshes() bool          { return strings.HasPrefix(t.text, "{refresh") }

// find returns the first item that fits, or the zero value.
func find[T any](list []T, fits func(T) bool) (found T) {
	if i := slices.IndexFunc(list, fits); i >= 0 {
		return list[i]
	}
	return found
}

func (m *model) token(text string) *token {
	return find(m.tokens, func(t *token) bool { return t.text == text })
}

func (m *model) app(a *account, id any) *app {
	return find(m.apps, func(p *app) bool { return p.id == id && p.account == a && p.live() })
}

func (m *model) request(a *account, id any) *request {
	return find(m.requests, func(r *request) bool { return r.id == id && r.account == a && !r.deleted && !r.gone })
}

// record adds to the account's log.
func (m *model) record(a *account, kind, actor, by, app, request string) {
	a.seq++
	or := func(id string) string { return strings.Join(strings.Fields(id + " -")[:1], "") }
	a.log = append(a.log, change{
		fmt.Sprintln(a.seq, m.now().Format(timeForm), kind, actor, or(by), or(app), or(request)), request, a.seq, m.now(), kind, actor, by,
	})
}

// logged returns the account's log and the last number in it.
func (a *account) logged() string {
	var b strings.Builder
	for _, c := range a.log {
		b.WriteString(c.text)
	}
	fmt.Fprintln(&b, a.seq)
	return b.String()
}

// forget removes the changes of permanently removed requests from the log.
func (a *account) forget(gone map[string]bool) {
	a.log = slices.DeleteFunc(a.log, func(c change) bool { return gone[c.request] })
}

// userAdded adds a user that the operator's command or setup-create-owner has created.
func (m *model) userAdded(accountID, accountName string, u user) *user {
	u.account = find(m.accounts, func(a *account) bool { return a.id == accountID })
	if u.account == nil {
		u.account = &account{id: accountID, name: accountName}
		m.accounts = append(m.accounts, u.account)
		m.record(u.account, "account.created", "command", "", "", "")
	}
	m.users = append(m.users, &u)
	m.record(u.account, "user.created", "command", "", "", "")
	return &u
}

// purged models how the worker removes the data of deleted apps.
func (m *model) purged() {
	gone := map[string]bool{}
	for _, r := range m.requests {
		if r.deleted {
			gone[r.id] = true
		}
	}
	for _, a := range m.accounts {
		a.forget(gone)
	}
}

// swept models how the worker removes expired data.
func (m *model) swept() {
	for _, t := range m.tokens {
		t.swept = t.swept || t.expires.Before(m.now().Add(-7*24*time.Hour))
	}
	month := m.now().Add(-30 * 24 * time.Hour)
	for _, a := range m.accounts {
		m.emptyBin(a, month)
	}
	for _, r := range m.requests {
		if r.created.Before(month) {
			r.idempotencyKey = ""
		}
	}
	m.release(func(r *request) bool { return r.gone })
	m.forgetFiles()
}

// failed counts a failed login.
func (m *model) failed(email string) {
	for _, subject := range []string{"", email} {
		f := m.failures[subject]
		if f == nil || !m.now().Before(f.resets) {
			f = &countdown{resets: m.now().Add(15 * time.Minute)}
			m.failures[subject] = f
		}
		f.n++
	}
}

// blocked reports whether too many logins have failed.
func (m *model) blocked(email string) bool {
	full := func(subject string, limit int) bool {
		f := m.failures[subject]
		return f != nil && f.n >= limit && m.now().Before(f.resets)
	}
	return full("", 100) || full(email, 10)
}

// userOf returns the user who logs in with an e-mail.
func (m *model) userOf(email string) *user {
	return find(m.users, func(u *user) bool { return strings.EqualFold(u.email, email) && !u.gone && u.password != "" })
}

// checkPassword returns the user of an e-mail, or the code of the error.
func (m *model) checkPassword(email, password string) (*user, string) {
	email = strings.ToLower(email)
	if m.blocked(email) {
		return nil, "auth.too_many_attempts"
	}
	u := m.userOf(email)
	if u == nil || u.password != password {
		m.failed(email)
		return nil, "auth.invalid_credentials"
	}
	return u, ""
}

// issue adds tokens that the service has just created to a session.
func (m *model) issue(s *session, texts ...string) {
	s.used = m.now()
	for _, text := range texts {
		t := &token{session: s, text: text, expires: m.now().Add(15 * time.Minute)}
		if t.refreshes() {
			t.expires = m.now().Add(30 * 24 * time.Hour)
			if last := s.opened.Add(90 * 24 * time.Hour); t.expires.After(last) {
				t.expires = last
			}
		}
		m.tokens = append(m.tokens, t)
	}
}

// defaultSettings returns the settings of a new app.
func defaultSettings() object {
	return object{
		"widget": object{
			"primary_color": "#4F46E5", "position": "bottom-right", "button_text": "Feedback",
			"show_email_field": true, "require_email": false, "allow_file_uploads": false,
		},
		"sharing": "none", "allowed_origins": []any{},
	}
}

// merged returns the settings after a partial change.
func merged(settings, change object) object {
	result := maps.Clone(settings)
	for name, v := range change {
		if inner, ok := v.(object); ok {
			v = merged(result[name].(object), inner)
		}
		result[name] = v
	}
	if result["require_email"] == true {
		result["show_email_field"] = true
	}
	return result
}

// changeApp changes an app and records the change, unless nothing is different.
func (m *model) changeApp(w who, id any, kind string, change func(*app)) (string, object) {
	a := m.app(w.account, id)
	if a == nil {
		return "apps.not_found", nil
	}
	old := *a
	change(a)
	if !reflect.DeepEqual(*a, old) {
		a.updated = m.now()
		m.record(a.account, kind, "user", w.id, a.id, "")
	}
	return "ok", object{"app": a.shown()}
}

// changeRequest changes a request and records the change, unless nothing is different.
func (m *model) changeRequest(w who, r *request, kind string, change func(*request)) {
	binned := r.binned
	if !m.alter(r, change) {
		return
	}
	if r.binned != binned {
		m.recount(w, r.root)
	}
	m.record(r.account, kind, "user", w.id, r.app.id, r.id)
}

// alter changes a request and reports whether it is different.
func (m *model) alter(r *request, change func(*request)) bool {
	old := *r
	change(r)
	if reflect.DeepEqual(*r, old) {
		return false
	}
	r.version++
	r.updated = m.now()
	if r.status != old.status && r.status != "opened" {
		m.answer(r)
	}
	return true
}

func (a *app) shown() object {
	return object{
		"id": a.id, "account_id": a.account.id, "name": a.name, "api_key": a.key, "settings": a.settings,
		"created_at": a.created.Format(timeForm), "updated_at": a.updated.Format(timeForm),
	}
}

func (r *request) shown() object {
	attachments := []object{}
	for _, u := range r.attachments {
		attachments = append(attachments, u.shown())
	}
	return object{
		"id": r.id, "app_id": r.app.id, "title": r.title, "description": r.description, "status": r.status,
		"submitter": r.submitter, "metadata": r.metadata, "tags": r.tags, "votes": r.votes, "comments": len(r.spoken()), "source": r.source,
		"assignee_id": r.assignee, "merged_into_id": idOf(r.root), "eta": r.eta, "version": r.version, "attachments": attachments,
		"created_at": r.created.Format(timeForm), "updated_at": r.updated.Format(timeForm),
	}
}

// idOf returns the id of a request, or nil.
func idOf(r *request) any {
	if r == nil {
		return nil
	}
	return r.id
}

func (u *user) shown() object { return object{"id": u.id, "email": u.email, "name": u.name} }

func (a *account) shown() object { return object{"id": a.id, "name": a.name} }
