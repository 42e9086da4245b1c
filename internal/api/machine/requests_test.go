package machine

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// What the model answers to the operations on one request.

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
		app: w.app, title: in["title"].(string), description: in["description"].(string), status: "opened", metadata: metadata,
		version: 1, tags: []any{}, source: "widget", votes: 1, submitter: personOf(in), created: m.now(), updated: m.now(),
	}
	var wrong string
	if r.reader, wrong = readerIn(in); wrong != "" {
		return wrong, nil
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
		first = program // earlier versions did not separate the keys of pages and programs
	}
	person, refusal := m.identified(w, in)
	if person != nil {
		r.submitter, r.reader = person, keyOf(person)
	}
	files, all := m.attachable(w.app, ids)
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
		r.quarantined = m.spam(r, in["form"]) // records the text, even if the request is refused
		switch {
		case len(ids) > 0 && !w.app.takesFiles():
			return "widget.uploads_not_allowed", nil
		case !all:
			return "widget.invalid_attachments", nil
		}
		r.attach(files)
		r.id = m.fresh(got, "id", "request", "id")
		m.addRequest(r, "api_key", r.app.id)
		r.submitted = append(r.submitted, m.now())
	}
	return "ok", object{"request": object{
		"id": r.id, "title": r.title, "description": r.description, "status": "opened", "votes": 1, "created_at": r.created.Format(timeForm),
	}}
}

func (m *model) createRequest(w who, in, got object) (string, object) {
	sent, _ := in["submitter"].(object)
	submitter, votes := personOf(sent), 0
	if keyOf(submitter) != "" {
		votes = 1
	}
	if email, ok := submitter["email"].(string); ok && !strings.Contains(email, "@") {
		return "requests.invalid_submitter", nil
	}
	a := m.app(w.account, in["app_id"])
	switch {
	case a == nil:
		return "apps.not_found", nil
	case in["assignee_id"] != nil && m.colleague(w, in["assignee_id"]) == nil:
		return "requests.invalid_assignee_id", nil
	}
	r := &request{
		app: a, id: m.fresh(got, "id", "request", "id"), title: in["title"].(string), status: "opened", metadata: object{},
		version: 1, tags: []any{},
		source: "dashboard", votes: votes, submitter: submitter, assignee: in["assignee_id"], created: m.now(), updated: m.now(),
	}
	if w.program != nil {
		r.source = "api"
	}
	r.description, _ = in["description"].(string)
	if status, ok := in["status"].(string); ok {
		r.status = status
	}
	if r.status != "opened" {
		m.answer(r)
	}
	if tags, ok := in["tags"].([]any); ok {
		r.tags = distinct(tags)
	}
	r.set(in)
	m.addRequest(r, w.actor(), w.by())
	return "ok", object{"request": r.shown()}
}

func (m *model) getRequest(w who, in, _ object) (string, object) {
	r := m.request(w.account, in["id"])
	if r == nil || r.binned {
		return "requests.not_found", nil
	}
	links := []object{}
	for _, l := range r.linked {
		links = append(links, l.shown(r))
	}
	return "ok", object{"request": r.shown(), "links": links, "audience": m.audience(r).shown()}
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
		r.set(in)
		if id, sent := in["assignee_id"]; sent {
			r.assignee = id
		}
		if tags, ok := in["tags"].([]any); ok {
			r.tags = distinct(tags)
		}
		if hidden, ok := in["hidden"].(bool); ok {
			r.hidden = hidden
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

// changeRequest changes a request. It records the change if the request differs afterwards.
func (m *model) changeRequest(w who, r *request, kind string, change func(*request)) {
	binned, status := r.binned, r.status
	if !m.alter(r, change) {
		return
	}
	if r.binned != binned {
		m.recountIfChanged(w, r.root)
	}
	m.record(r.account, kind, w.actor(), w.by(), r.app.id, r.id)
	r.latest().differs("status", status, r.status)
	m.tellStatus(w, r, status)
}

// alter changes a request and reports whether it differs afterwards.
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

// plainFields are the fields of a request that are returned as requests-update has set them,
// and null before. The others have their own rules.
var plainFields = slices.DeleteFunc(slices.Clone(operations["requests-update"].Names), func(name string) bool {
	others := []string{"id", "title", "description", "status", "tags", "assignee_id", "hidden"}
	return records["Request"].Properties[name] == nil || slices.Contains(others, name)
})

// set stores the plain fields that were sent.
func (r *request) set(in object) {
	plain := object{}
	for _, name := range plainFields {
		plain[name] = r.plain[name]
		if v, sent := in[name]; sent {
			plain[name] = v
		}
	}
	r.plain = plain
}

func (r *request) shown() object {
	attachments := []object{}
	for _, u := range r.attachments {
		attachments = append(attachments, u.shown())
	}
	shown := object{
		"id": r.id, "app_id": r.app.id, "title": r.title, "description": r.description, "status": r.status,
		"submitter": r.submitter, "metadata": r.metadata, "tags": r.tags, "votes": r.votes, "comments": len(r.liveComments()), "source": r.source,
		"assignee_id": r.assignee, "hidden": r.hidden, "merged_into_id": idOf(r.root), "version": r.version, "attachments": attachments,
		"created_at": r.created.Format(timeForm), "updated_at": r.updated.Format(timeForm), "reply_at": timeOrNil(r.replied),
	}
	for _, name := range plainFields {
		shown[name] = r.plain[name]
	}
	return shown
}

// idOf returns the id of a request, or nil.
func idOf(r *request) any {
	if r == nil {
		return nil
	}
	return r.id
}
