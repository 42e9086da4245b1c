package machine

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// What the model answers to the operations on portals.

// remark is a comment of a visitor that waits until the team releases it.
type remark struct {
	request  *request
	listedAs string // its id, after it was listed
	person   object
	key      string
	body     string
	created  time.Time
	done     bool // it was released or deleted
}

// blocking is a person who can no longer take part in a portal.
type blocking struct {
	person object
	key    string
	at     time.Time
}

func (a *app) portal() object { return a.settings["portal"].(object) }

func (r *remark) waits() bool { return !r.done && !r.request.gone && !r.request.deleted }

func (r *remark) shown() object {
	return object{
		"id": r.listedAs, "app_id": r.request.app.id, "request_id": r.request.id, "title": r.request.title, "person": r.person,
		"body": r.body, "created_at": r.created.Format(timeForm),
	}
}

// takes returns why the portal of an app takes no comment of a person, or "".
func (a *app) takes(person object) string {
	switch comments := a.portal()["comments"]; {
	case comments == "off":
		return "portal.not_found"
	case comments == "verified" && person["verified"] != true:
		return "portal.sign_in_needed"
	}
	return ""
}

func (a *app) blocked(key string) int {
	return slices.IndexFunc(a.blockings, func(b blocking) bool { return b.key == key })
}

// holds reports whether the portal of an app holds what a person says.
func (a *app) holds(person object, texts ...string) bool {
	moderation := a.portal()["moderation"]
	if moderation == "all" || moderation == "anonymous" && person["verified"] != true {
		return true
	}
	for _, word := range a.portal()["held_words"].([]any) {
		if strings.Contains(strings.ToLower(strings.Join(texts, "\n")), strings.ToLower(word.(string))) {
			return true
		}
	}
	return false
}

func (m *model) widgetComment(w who, in, _ object) (string, object) {
	if !w.app.allows(w.origin) {
		return "widget.origin_not_allowed", nil
	}
	person, refusal := m.identified(w, in)
	if refusal != "" {
		return refusal, nil
	}
	name, _ := in["name"].(string)
	key := ""
	if person == nil {
		voter, sent := in["voter"].(string)
		if !sent {
			return "widget.invalid_voter", nil
		}
		person, key = personOf(object{"name": name}), "b:"+voter
	} else {
		key = keyOf(person)
	}
	switch access := w.app.portal()["access"]; {
	case access == "signed_in" && !strings.HasPrefix(key, "v:"):
		return "portal.sign_in_needed", nil
	case access != "signed_in" && access != "public":
		return "portal.not_found", nil
	}
	if refusal := w.app.takes(person); refusal != "" {
		return refusal, nil
	}
	body := in["body"].(string)
	held := w.app.holds(person, body, name) || m.burst(&m.said, submittedText{app: w.app, at: m.now(), trigrams: trigramsOf(body)})
	r := m.request(w.app.account, in["request_id"])
	if r == nil || r.app != w.app || r.binned || r.root != nil || !r.shared() {
		return "requests.not_found", nil
	}
	if w.app.blocked(key) >= 0 {
		return "portal.blocked", nil
	}
	if held {
		earlier := last(m.remarks, func(h *remark) bool { return h.waits() && h.request == r && h.key == key })
		if earlier == nil || earlier.body != body {
			m.remarks = append(m.remarks, &remark{request: r, person: person, key: key, body: body, created: m.now()})
		}
		return "ok", object{"held": true}
	}
	if earlier := last(r.liveComments(), func(c *comment) bool { return c.key == key }); earlier == nil || earlier.body != body {
		m.addComment(r, &comment{
			visitor: person, key: key, visibility: "public", body: body, created: m.now(), updated: m.now(),
		})
		m.noteRemark(r, "comment.created", "api_key", r.app.id)
	}
	return "ok", object{"held": false}
}

// noteRemark records that a comment of a visitor was published. Nobody is told of it.
func (m *model) noteRemark(r *request, kind, actor, by string) {
	m.recount(r)
	m.record(r.account, kind, actor, by, r.app.id, r.id)
	r.latest().differs("visibility", "", "public")
}

func (m *model) listHeld(w who, in, got object) (string, object) {
	app, _ := in["app_id"].(string)
	at, ok := m.resume(w, in, place{operation: "comments-held", request: app, limit: 50})
	switch {
	case !ok || at.request != app:
		return "comments.invalid_cursor", nil
	case app != "" && m.app(w.account, app) == nil:
		return "apps.not_found", nil
	}
	var list []item
	for i, h := range m.remarks {
		if h.request.account == w.account && h.waits() && (app == "" || app == h.request.app.id) {
			list = append(list, item{n: i + 1, shown: object{"at": h}})
		}
	}
	code, result := m.page(at, list, got, "comments")
	answered, _ := got["comments"].([]any)
	for i, shown := range result["comments"].([]object) {
		h := shown["at"].(*remark)
		if h.listedAs == "" && i < len(answered) {
			h.listedAs = m.fresh(answered[i].(object), "id", "id")
		}
		result["comments"].([]object)[i] = h.shown()
	}
	return code, result
}

// held returns the comment with an id that waits.
func (m *model) held(a *account, id any) *remark {
	return find(m.remarks, func(h *remark) bool { return h.listedAs == id && h.request.account == a && h.waits() })
}

func (m *model) releaseComment(w who, in, got object) (string, object) {
	h := m.held(w.account, in["id"])
	if h == nil {
		return "comments.not_found", nil
	}
	if h.request.binned {
		return "requests.not_found", nil
	}
	h.done = true
	c := &comment{
		id: m.fresh(got, "id", "comment", "id"), visitor: h.person, key: h.key, visibility: "public", body: h.body,
		created: m.now(), updated: m.now(),
	}
	m.addComment(h.request, c)
	m.noteRemark(h.request, "comment.released", w.actor(), w.by())
	return "ok", object{"comment": c.shown(h.request)}
}

func (m *model) blockComment(w who, in, _ object) (string, object) {
	h := m.held(w.account, in["id"])
	if h == nil {
		return "comments.not_found", nil
	}
	h.done = true
	m.record(w.account, "comment.blocked", w.actor(), w.by(), h.request.app.id, h.request.id)
	if in["person"] == true {
		m.block(w, h.request.app, h.person, h.key)
	}
	return "ok", object{"deleted": true, "id": in["id"]}
}

func (m *model) block(w who, a *app, person object, key string) {
	if a.blocked(key) < 0 {
		a.blockings = append(a.blockings, blocking{person, key, m.now()})
		m.record(a.account, "person.blocked", w.actor(), w.by(), a.id, "")
	}
}

func (m *model) blockPerson(w who, in, _ object) (string, object) {
	// The service finds requests of deleted apps here until the worker has removed them.
	r := find(m.requests, func(r *request) bool {
		return r.id == in["request_id"] && r.app.id == in["app_id"] && r.account == w.account && !r.gone && !r.purged
	})
	if r == nil {
		return "requests.not_found", nil
	}
	c := find(r.liveComments(), func(c *comment) bool { return c.id == in["comment_id"] && c.visitor != nil })
	if c == nil {
		return "comments.not_found", nil
	}
	if r.deleted {
		return "apps.not_found", nil
	}
	m.block(w, r.app, c.visitor, c.key)
	return "ok", object{"blocked": true}
}

func (m *model) unblockPerson(w who, in, _ object) (string, object) {
	a := m.app(w.account, in["app_id"])
	if a == nil {
		return "apps.not_found", nil
	}
	if i := a.blocked(in["key"].(string)); i >= 0 {
		a.blockings = slices.Delete(a.blockings, i, i+1)
		m.record(a.account, "person.unblocked", w.actor(), w.by(), a.id, "")
	}
	return "ok", object{"blocked": false}
}

func (m *model) listBlocked(w who, in, _ object) (string, object) {
	a := m.app(w.account, in["app_id"])
	if a == nil {
		return "apps.not_found", nil
	}
	list := slices.SortedFunc(slices.Values(a.blockings), func(x, y blocking) int {
		if order := y.at.Compare(x.at); order != 0 {
			return order
		}
		return strings.Compare(x.key, y.key)
	})
	people := []object{}
	for _, b := range list {
		shown := object{"key": b.key, "blocked_at": b.at.Format(timeForm)}
		for name, v := range b.person {
			shown[name] = v
		}
		people = append(people, shown)
	}
	return "ok", object{"people": people}
}

// discardVotes discards only votes that were given on the pages of a portal, and no call of the machine gives one.
func (m *model) discardVotes(w who, in, _ object) (string, object) {
	if r := m.request(w.account, in["request_id"]); r == nil || r.binned {
		return "requests.not_found", nil
	}
	return "ok", object{"discarded": 0, "more": false}
}

func (m *model) checkPortal(w who, in, _ object) (string, object) {
	a := m.app(w.account, in["app_id"])
	if a == nil {
		return "apps.not_found", nil
	}
	sharing := a.settings["sharing"]
	if as, sent := in["sharing"]; sent {
		sharing = as
	}
	shown := map[any][]string{
		"none": {}, "triaged": {"under_review", "planned", "in_progress", "completed"},
		"all": {"opened", "under_review", "planned", "in_progress", "completed", "declined"},
	}[sharing]
	statuses, found := []object{}, []object{}
	for _, status := range shown {
		would, hidden := 0, 0
		for _, r := range m.requests {
			switch {
			case r.app != a || !r.live() || r.status != status:
			case r.hidden:
				hidden++
			default:
				would++
			}
		}
		statuses = append(statuses, object{"status": status, "would_show": would, "hidden": hidden})
	}
	for _, r := range slices.Backward(m.requests) {
		if in := r.addressIn(); r.app == a && r.live() && !r.hidden && slices.Contains(shown, r.status) && in != "" {
			found = append(found, object{"id": r.id, "title": r.title, "in": in})
		}
	}
	return "ok", object{"statuses": statuses, "with_address": found, "link_created_at": timeOrNil(a.linkMade)}
}

// address is in texts that are drawn, and the only one that is an e-mail address.
const address = "ann@example.com"

// addressIn says where a request has an e-mail address, or "".
func (r *request) addressIn() string {
	switch {
	case strings.Contains(r.description, address):
		return "description"
	case slices.ContainsFunc(r.liveComments(), func(c *comment) bool {
		return c.ofTeam() && c.visibility == "public" && strings.Contains(c.body, address)
	}):
		return "comment"
	}
	return ""
}

// address is that of a page of the portal of an app.
func (a *app) address(page string) string {
	if host := a.portal()["host"]; host != "" {
		return "https://" + host.(string) + "/" + page
	}
	return serviceURL + "/p/" + a.portal()["slug"].(string) + "/" + page
}

// freshToken returns the token in a new address of a page of the portal.
func (m *model) freshToken(a *app, got object, kind, page string) string {
	link, _ := got["url"].(string)
	token, _, _ := strings.Cut(strings.TrimPrefix(link, a.address(page)), "&")
	return m.fresh(object{"token": token}, kind, "token")
}

func (m *model) rotateLink(w who, in, got object) (string, object) {
	a := m.app(w.account, in["id"])
	switch {
	case a == nil:
		return "apps.not_found", nil
	case a.portal()["slug"] == "":
		return "portal.invalid_id", nil
	}
	a.linkMade = m.now()
	m.record(a.account, "app.portal_link_rotated", w.actor(), w.by(), a.id, "")
	const page = "enter?key="
	return "ok", object{"url": a.address(page) + m.freshToken(a, got, "portal", page)}
}

func (m *model) portalLink(w who, in, got object) (string, object) {
	if !w.app.allows(w.origin) {
		return "widget.origin_not_allowed", nil
	}
	if w.app.portal()["access"] == "off" {
		return "portal.not_found", nil
	}
	if person, refusal := m.identified(w, in); refusal != "" {
		return refusal, nil
	} else if person == nil {
		return "widget.invalid_identity_token", nil
	}
	to, _ := in["to"].(string)
	const page = "sign-in?ticket="
	return "ok", object{"url": w.app.address(page) + m.freshToken(w.app, got, "ticket", page) + "&to=" + url.QueryEscape(to)}
}
