package machine

import (
	"fmt"
	"reflect"
	"slices"
	"time"
)

// What the model answers to the operations on changelogs.

type entry struct {
	*app
	id, title, body, state string
	labels                 []any
	about                  []*request
	author                 *user
	at, published          time.Time // zero unless it is scheduled or published
	complete, quiet        bool
	scheduler              who
	version, n             int // n is its place among all that there have ever been
	created, updated       time.Time
}

const entryPage = 50 // the most entries that people outside get

func (m *model) entry(a *account, id any) *entry {
	return find(m.entries, func(e *entry) bool { return e.id == id && e.account == a && e.live() })
}

// remaining returns the requests that the entry is about and that exist.
func (e *entry) remaining() []*request {
	return slices.DeleteFunc(slices.Clone(e.about), func(r *request) bool { return r.gone })
}

func (e *entry) shown() object {
	ids := []any{}
	for _, r := range e.remaining() {
		ids = append(ids, r.id)
	}
	shown := object{
		"id": e.id, "app_id": e.app.id, "state": e.state, "title": e.title, "body": e.body, "labels": e.labels, "author": nil,
		"publish_at": timeOrNil(e.at), "complete": e.complete, "quiet": e.quiet, "published_at": timeOrNil(e.published), "request_ids": ids,
		"version": e.version, "created_at": e.created.Format(timeForm), "updated_at": e.updated.Format(timeForm),
	}
	if !e.author.gone {
		shown["author"] = object{"id": e.author.id, "name": e.author.name}
	}
	return shown
}

// entryRequests returns the requests with the ids, oldest first, or false if one that the entry is not about
// yet is not of the app or is in the bin.
func (m *model) entryRequests(a *app, ids any, former []*request) (about []*request, ok bool) {
	list, _ := ids.([]any)
	for _, id := range list {
		r := find(m.requests, func(r *request) bool { return r.id == id && r.app == a && !r.gone })
		if r == nil || r.binned && !slices.Contains(former, r) {
			return nil, false
		}
		if !slices.Contains(about, r) {
			about = append(about, r)
		}
	}
	slices.SortFunc(about, m.older)
	return about, true
}

func (m *model) createEntry(w who, in, got object) (string, object) {
	a := m.app(w.account, in["app_id"])
	if a == nil {
		return "apps.not_found", nil
	}
	about, ok := m.entryRequests(a, in["request_ids"], nil)
	if !ok {
		return "requests.not_found", nil
	}
	labels, _ := in["labels"].([]any)
	e := &entry{
		app: a, id: m.fresh(got, "id", "entry", "id"), title: in["title"].(string), state: "draft", labels: distinct(labels), about: about,
		author: w.user, version: 1, created: m.now(), updated: m.now(),
	}
	e.body, _ = in["body"].(string)
	m.entriesEver++
	e.n = m.entriesEver
	m.entries = append(m.entries, e)
	m.record(a.account, "entry.created", w.actor(), w.by(), a.id, "")
	a.latest().facts = &facts{fmt.Sprintf("created the changelog entry %q", e.title), nil, object{"entry_id": e.id, "title": e.title}}
	return "ok", object{"entry": e.shown()}
}

func (m *model) updateEntry(w who, in, _ object) (string, object) {
	e := m.entry(w.account, in["id"])
	if e == nil {
		return "entries.not_found", nil
	}
	if expected, sent := in["expected_version"]; sent && expected != e.version {
		return "entries.version_conflict", nil
	}
	about := e.about
	if ids, sent := in["request_ids"]; sent {
		var ok bool
		if about, ok = m.entryRequests(e.app, ids, e.about); !ok {
			return "requests.not_found", nil
		}
	}
	m.changeEntry(e, w.actor(), w.by(), func() {
		e.about = about
		if labels, sent := in["labels"].([]any); sent {
			e.labels = distinct(labels)
		}
		for name, field := range map[string]*string{"title": &e.title, "body": &e.body} {
			if text, sent := in[name].(string); sent {
				*field = text
			}
		}
	})
	return "ok", object{"entry": e.shown()}
}

// changeEntry changes an entry. It records the change if the entry differs afterwards.
func (m *model) changeEntry(e *entry, actor, by string, change func()) {
	old := e.shown()
	change()
	now := e.shown()
	if reflect.DeepEqual(old, now) {
		return
	}
	e.version++
	e.updated = m.now()
	before, after := object{}, object{"entry_id": e.id, "title": e.title}
	for name := range now {
		if !reflect.DeepEqual(old[name], now[name]) && name != "body" && name != "quiet" {
			before[name], after[name] = old[name], now[name]
		}
	}
	kind, did := "entry.updated", "changed the changelog entry %q"
	switch was := old["state"]; {
	case e.state == "published" && was != "published":
		kind, did = "entry.published", "published the changelog entry %q"
	case e.state != "published" && was == "published":
		kind, did = "entry.unpublished", "took back the changelog entry %q"
	case after["publish_at"] != nil:
		did = "scheduled the changelog entry %q for " + e.at.Format(timeForm)
	case e.state != was:
		did = "made the changelog entry %q a draft again"
	case before["title"] != nil:
		did = fmt.Sprintf("renamed the changelog entry from %q to ", before["title"]) + "%q"
	}
	m.record(e.account, kind, actor, by, e.app.id, "")
	e.latest().facts = &facts{fmt.Sprintf(did, e.title), before, after}
}

// completable returns the requests that publishing an entry can complete, oldest first.
func (m *model) completable(e *entry) (list []*request) {
	for _, r := range e.remaining() {
		root := r.countsFor()
		if r.live() && root.live() && root.status != "completed" && !slices.Contains(list, root) {
			list = append(list, root)
		}
	}
	slices.SortFunc(list, m.older)
	return list
}

func (m *model) getEntry(w who, in, _ object) (string, object) {
	e := m.entry(w.account, in["id"])
	if e == nil {
		return "entries.not_found", nil
	}
	told := 0
	list := m.completable(e)
	for _, r := range list {
		status := r.status
		r.status = "completed" // on which it depends whether the app shares it
		p := m.audience(r)
		r.status = status
		told += p.askers + p.voters + p.links
	}
	return "ok", object{"entry": e.shown(), "audience": object{"requests": len(list), "people": told}}
}

func (m *model) publishEntry(w who, in, _ object) (string, object) {
	e := m.entry(w.account, in["id"])
	if e == nil {
		return "entries.not_found", nil
	}
	complete := in["complete"] == true
	text, scheduled := in["at"].(string)
	if !scheduled {
		m.publish(e, w.actor(), w.by(), w.quiet, complete)
		return "ok", object{"entry": e.shown()}
	}
	at, _ := time.Parse(timeForm, text) // the schema has accepted it
	if e.state == "published" || !at.After(m.now()) {
		return "entries.invalid_at", nil
	}
	e.scheduler = w
	m.changeEntry(e, w.actor(), w.by(), func() { e.state, e.at, e.complete, e.quiet = "scheduled", at, complete, w.quiet })
	return "ok", object{"entry": e.shown()}
}

// publish publishes an entry now, and completes its requests before.
func (m *model) publish(e *entry, actor, by string, quiet, complete bool) {
	if complete {
		for _, r := range m.completable(e) {
			status, answered := r.status, r.answered
			m.alter(r, func(r *request) { r.status = "completed" })
			if actor == "service" { // only the team answers
				r.answered = answered
			}
			m.record(r.account, "request.updated", actor, by, r.app.id, r.id)
			r.latest().differs("status", status, r.status)
			m.tellStatus(who{quiet: quiet}, r, status)
		}
	}
	if e.state != "published" {
		m.changeEntry(e, actor, by, func() {
			e.state, e.at, e.complete, e.quiet, e.published = "published", time.Time{}, false, false, m.now()
		})
	}
}

// publishDue publishes the scheduled entries whose time has come, up to 32.
func (m *model) publishDue() {
	due := slices.DeleteFunc(slices.Clone(m.entries), func(e *entry) bool {
		return e.state != "scheduled" || !e.live() || e.at.After(m.now())
	})
	slices.SortStableFunc(due, func(a, b *entry) int { return a.at.Compare(b.at) })
	for _, e := range due[:min(32, len(due))] {
		w := e.scheduler
		if w.program != nil && !w.program.known() || w.program == nil && w.gone {
			m.publish(e, "service", "", e.quiet, e.complete)
		} else {
			m.publish(e, w.actor(), w.by(), e.quiet, e.complete)
		}
	}
}

func (m *model) unpublishEntry(w who, in, _ object) (string, object) {
	e := m.entry(w.account, in["id"])
	if e == nil {
		return "entries.not_found", nil
	}
	m.changeEntry(e, w.actor(), w.by(), func() {
		e.state, e.at, e.complete, e.quiet, e.published = "draft", time.Time{}, false, false, time.Time{}
	})
	return "ok", object{"entry": e.shown()}
}

func (m *model) deleteEntry(w who, in, _ object) (string, object) {
	e := m.entry(w.account, in["id"])
	if e == nil {
		return "entries.not_found", nil
	}
	m.entries = slices.DeleteFunc(m.entries, func(other *entry) bool { return other == e })
	m.record(e.account, "entry.deleted", w.actor(), w.by(), e.app.id, "")
	e.latest().facts = &facts{
		fmt.Sprintf("deleted the changelog entry %q", e.title), object{"entry_id": e.id, "title": e.title, "state": e.state}, nil,
	}
	return "ok", object{"deleted": true, "id": e.id}
}

func (m *model) listEntries(w who, in, got object) (string, object) {
	state, sent := in["state"].(string)
	at, ok := m.resume(w, in, place{
		operation: "entries-list", sort: "newest", request: in["app_id"].(string), filter: object{"state": state}, limit: 50,
	})
	switch {
	case !ok || at.request != in["app_id"] || sent && at.filter["state"] != state:
		return "entries.invalid_cursor", nil
	case m.app(w.account, in["app_id"]) == nil:
		return "apps.not_found", nil
	}
	var list []item
	for _, e := range m.entries {
		if e.app.id == at.request && (at.filter["state"] == "" || e.state == at.filter["state"]) {
			list = append(list, item{n: e.n, shown: e.shown()})
		}
	}
	return m.page(at, list, got, "entries")
}

func (m *model) widgetEntries(w who, in, got object) (string, object) {
	if !w.app.allows(w.origin) {
		return "widget.origin_not_allowed", nil
	}
	at, ok := m.resume(who{session: &session{user: &user{account: w.app.account}}}, in,
		place{operation: "widget-entries", sort: "newest", request: w.app.id, limit: 10})
	if !ok || at.request != w.app.id {
		return "widget.invalid_cursor", nil
	}
	at.limit = min(at.limit, entryPage)
	var list []item
	for _, e := range m.entries {
		if e.app == w.app && e.state == "published" {
			list = append(list, item{n: e.n, by: e.published.UnixMicro(), shown: m.outsideEntry(e)})
		}
	}
	code, result := m.page(at, list, got, "entries")
	delete(result, "total_count")
	return code, result
}

// outsideEntry returns an entry as people outside the account see it.
func (m *model) outsideEntry(e *entry) object {
	var roots []*request
	for _, r := range e.remaining() {
		if root := r.countsFor(); r.live() && root.live() && root.shared() && !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	slices.SortFunc(roots, m.older)
	requests := []object{}
	for _, r := range roots {
		requests = append(requests, object{"id": r.id, "title": r.title, "status": r.status, "votes": r.votes})
	}
	return object{
		"id": e.id, "title": e.title, "body": e.body, "labels": e.labels, "published_at": e.published.Format(timeForm), "requests": requests,
	}
}
