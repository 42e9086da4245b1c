package machine

import (
	"cmp"
	"reflect"
	"time"
)

// What the model answers to the operations on comments.

type comment struct {
	id               string
	number           int    // of all comments, in the order of creation
	author           *user  // nil if the submitter of the request or a visitor of the portal wrote it
	visitor          object // of the portal; nil if somebody else wrote it
	key              string // of the visitor
	visibility, body string
	created, updated time.Time
	deleted          bool
}

// liveComments returns the comments that are not deleted.
func (r *request) liveComments() []*comment {
	var live []*comment
	for _, c := range r.comments {
		if !c.deleted {
			live = append(live, c)
		}
	}
	return live
}

func (r *request) commented() bool { return len(r.liveComments()) > 0 }

func (c *comment) ofTeam() bool { return c.author != nil }

func (u *user) asAuthor() object {
	if u.gone {
		return object{"id": u.id, "name": nil, "kind": "team"}
	}
	return object{"id": u.id, "name": u.name, "kind": "team"}
}

func (c *comment) shown(r *request) object {
	author, person := object{"id": nil, "name": r.submitter["name"], "kind": "submitter"}, any(nil)
	switch {
	case c.ofTeam():
		author = c.author.asAuthor()
	case c.visitor != nil:
		author, person = object{"id": nil, "name": c.visitor["name"], "kind": "visitor"}, c.visitor
	}
	return object{
		"id": c.id, "request_id": r.id, "author": author, "visibility": c.visibility, "person": person, "body": c.body,
		"created_at": c.created.Format(timeForm), "updated_at": c.updated.Format(timeForm),
	}
}

func (m *model) listComments(w who, in, got object) (string, object) {
	at, r, refusal := m.resumeAt(w, in, "comments-list")
	if refusal != "" {
		return refusal, nil
	}
	var list []item
	for i, c := range r.comments {
		if !c.deleted {
			list = append(list, item{n: i + 1, shown: object{"at": c}})
		}
	}
	code, result := m.page(at, list, got, "comments")
	answered, _ := got["comments"].([]any)
	for i, shown := range result["comments"].([]object) {
		c := shown["at"].(*comment)
		m.learnComment(c, i, answered)
		result["comments"].([]object)[i] = c.shown(r)
	}
	return code, result
}

// learnComment takes the id of a visitor's comment from its place in a list that the service
// answered, because the answer to the visitor has no id.
func (m *model) learnComment(c *comment, i int, answered []any) {
	if c.id == "" && i < len(answered) {
		c.id = m.fresh(answered[i].(object), "id", "id")
	}
}

func (m *model) createComment(w who, in, got object) (string, object) {
	r := m.request(w.account, in["request_id"])
	if r == nil || r.binned {
		return "requests.not_found", nil
	}
	c := &comment{
		id: m.fresh(got, "id", "comment", "id"), author: w.user, visibility: "internal", body: in["body"].(string),
		created: m.now(), updated: m.now(),
	}
	if visibility, sent := in["visibility"].(string); sent {
		c.visibility = visibility
	}
	m.addComment(r, c)
	m.saveMentions(r, c)
	if c.visibility == "public" {
		m.answer(r)
	}
	m.noteComment(w, r, "comment.created", "", c.visibility)
	m.published(w, r, "", c)
	return "ok", object{"comment": c.shown(r)}
}

func (m *model) addComment(r *request, c *comment) {
	m.comments++
	c.number = m.comments
	r.comments = append(r.comments, c)
}

// noteComment records a change of a comment, which also changes the request. before and after are the
// visibility, or "" if there was no comment.
func (m *model) noteComment(w who, r *request, kind, before, after string) {
	m.recount(r)
	m.record(r.account, kind, w.actor(), w.by(), r.app.id, r.id)
	c := r.latest()
	c.differs("visibility", before, after)
	c.internal = before == "internal" || after == "internal"
}

// comment returns the comment that a call names.
func (m *model) comment(w who, in object) (r *request, c *comment, refusal string) {
	if r = m.request(w.account, in["request_id"]); r == nil || r.binned {
		return nil, nil, "requests.not_found"
	}
	if c = find(r.liveComments(), func(c *comment) bool { return c.id == in["id"] }); c == nil {
		return nil, nil, "comments.not_found"
	}
	return r, c, ""
}

// updateComment refuses everyone but the author.
func (m *model) updateComment(w who, in, _ object) (string, object) {
	r, c, refusal := m.comment(w, in)
	switch {
	case refusal != "":
		return refusal, nil
	case c.author != w.user:
		return "auth.forbidden", nil
	}
	old := *c
	for name, field := range map[string]*string{"body": &c.body, "visibility": &c.visibility} {
		if v, sent := in[name].(string); sent {
			*field = v
		}
	}
	if !reflect.DeepEqual(*c, old) {
		c.updated = m.now()
		m.saveMentions(r, c)
		if c.visibility == "public" {
			m.answer(r)
		}
		m.noteComment(w, r, "comment.updated", old.visibility, c.visibility)
		m.published(w, r, old.visibility, c)
	}
	return "ok", object{"comment": c.shown(r)}
}

// deleteComment refuses everyone but the author, admins and owners.
func (m *model) deleteComment(w who, in, _ object) (string, object) {
	r, c, refusal := m.comment(w, in)
	switch {
	case refusal != "":
		return refusal, nil
	case c.author != w.user && w.role != "admin" && w.role != "owner":
		return "auth.forbidden", nil
	}
	c.deleted = true
	m.unanswered(r, c)
	m.noteComment(w, r, "comment.deleted", c.visibility, "")
	return "ok", object{"deleted": true, "id": c.id}
}

// commentID draws a comment of the request that was drawn, most likely one that the caller
// may change.
func (m *machine) commentID(c aCall) string {
	r := find(m.requests, func(r *request) bool { return r.id == c.in["request_id"] })
	if r == nil {
		return m.anyOf("{id")
	}
	pick := func(fits func(*comment) bool) string {
		return one(m, "comment", r.comments, func(c *comment) string { return c.id }, fits)
	}
	if id := pick(m.changeable(c)); id != "" && m.often("its own comment") {
		return id
	}
	return cmp.Or(pick(func(*comment) bool { return true }), m.anyOf("{id"))
}

// changeable returns a function that reports whether the caller may change a comment. For
// comments-delete, it accepts all comments, because admins can delete any.
func (m *machine) changeable(c aCall) func(*comment) bool {
	t := m.sessionOf(c.who)
	return func(one *comment) bool {
		return !one.deleted && (c.operation == "comments-delete" || t != nil && one.author == t.user)
	}
}
