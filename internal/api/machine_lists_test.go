package api

import (
	"slices"
	"strings"
	"time"
)

// The model of the operations that list and change requests.

func (m *model) listRequests(w who, in, got object) (string, object) {
	if name := invalidFilter(in); name != "" {
		return "requests.invalid_" + name, nil
	}
	at, ok := m.resume(w, in, place{operation: "requests-list", sort: "newest", box: "live", limit: 50})
	ok = at.narrow(in) && ok
	if !ok {
		return "requests.invalid_cursor", nil
	}
	if at.app != "" && m.app(w.account, at.app) == nil {
		return "apps.not_found", nil
	}
	if at.text == "" {
		at.began = m.now().Truncate(time.Microsecond)
	}
	var list []item
	total := 0
	for i, r := range m.requests {
		if r.account != w.account || !at.matches(r) {
			continue
		}
		total++
		by := int64(0)
		switch at.sort {
		case "most_voted":
			if by = int64(r.votes); r.updated.After(at.began) {
				continue // may have been on an earlier page
			}
		case "recently_updated":
			by = r.updated.UnixMicro()
		}
		list = append(list, item{n: i + 1, by: by, shown: r.shown()})
	}
	code, result := m.page(at, list, got, "requests")
	result["total_count"], result["total_exact"] = total, true
	return code, result
}

// invalidFilter returns the name of a filter parameter that matches the schema but is refused,
// alone or together with others, or "".
func invalidFilter(in object) string {
	if id, ok := in["assignee_id"].(string); ok && id != "none" && id != "" {
		if _, ok := anID(id); !ok {
			return "assignee_id"
		}
	}
	if box, sent := in["box"]; sent && box != "live" && in["query"] != nil && in["query"] != "" {
		return "query"
	}
	return ""
}

// narrow applies a filter. It reports whether the filter agrees with that of the cursor.
func (p *place) narrow(in object) (agrees bool) {
	agrees = true
	for name, field := range map[string]*string{
		"app_id": &p.app, "status": &p.statuses, "sort": &p.sort, "tag": &p.tag, "assignee_id": &p.assignee, "source": &p.source,
		"query": &p.query, "created_after": &p.from, "created_before": &p.before, "box": &p.box,
	} {
		v, sent := in[name].(string)
		if !sent || v == "" {
			continue
		}
		if name == "tag" {
			v = strings.ToLower(v)
		}
		agrees = agrees && (p.text == "" || v == *field)
		*field = v
	}
	return agrees
}

// matches reports whether a request belongs to the list.
func (p place) matches(r *request) bool {
	created := r.created.Format(timeForm)
	return !r.deleted && !r.gone && r.box() == p.box &&
		(p.app == "" || r.app.id == p.app) &&
		(p.statuses == "" || slices.Contains(strings.Split(p.statuses, ","), r.status)) &&
		(p.tag == "" || slices.ContainsFunc(r.tags, func(tag any) bool { return strings.ToLower(tag.(string)) == p.tag })) &&
		(p.assignee == "" || p.assignee == r.assignee || p.assignee == "none" && r.assignee == nil) &&
		(p.source == "" || p.source == r.source) &&
		(p.query == "" || r.found(p.query)) &&
		(p.from == "" || created >= p.from) && (p.before == "" || created < p.before)
}

func (m *model) createRequest(w who, in, got object) (string, object) {
	sent, _ := in["submitter"].(object)
	submitter, votes := somebody(sent), 0
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
		app: a, id: m.fresh(got, "id", "request", "id"), title: in["title"].(string), status: "opened", metadata: object{}, version: 1, tags: []any{},
		source: "dashboard", votes: votes, submitter: submitter, assignee: in["assignee_id"], eta: in["eta"], created: m.now(), updated: m.now(),
	}
	r.description, _ = in["description"].(string)
	if status, ok := in["status"].(string); ok {
		r.status = status
	}
	if r.status != "opened" {
		m.answer(r)
	}
	if tags, ok := in["tags"].([]any); ok {
		r.tags = tags
	}
	m.came(r, "user", w.id)
	return "ok", object{"request": r.shown()}
}

// colleague returns a user of the caller's account.
func (m *model) colleague(w who, id any) *user {
	return find(m.users, func(u *user) bool { return u.id == id && u.account == w.account && !u.gone })
}

func (m *model) listHistory(w who, in, got object) (string, object) {
	at, r, refusal := m.resumeAt(w, in, "requests-history")
	if refusal != "" {
		return refusal, nil
	}
	at.sort = "newest"
	return m.events(at, w, r.id, got, "events")
}

// events returns a page of the log: the changes of a request, or those of no request.
func (m *model) events(at place, w who, request string, got object, name string) (string, object) {
	var list []item
	for _, c := range w.log {
		if c.request != request || c.kind == "request.purged" { // removed requests are not in the audit log
			continue
		}
		actor := object{"kind": c.actor, "id": c.by, "name": nil}
		if c.by == "" { // the service
			actor["id"] = nil
		}
		if u := m.colleague(w, c.by); u != nil {
			actor["name"] = u.name
		}
		list = append(list, item{n: c.number, shown: object{"number": c.number, "at": c.at.Format(timeForm), "kind": c.kind, "actor": actor}})
	}
	code, result := m.page(at, list, got, name)
	// The model does not predict these fields; finish compares the log of changes.
	events, _ := got[name].([]any)
	for i, shown := range result[name].([]object) {
		if i < len(events) {
			for _, field := range []string{"before", "after", "summary"} {
				shown[field] = events[i].(object)[field]
			}
		}
	}
	return code, result
}

func (m *model) listTags(w who, in, got object) (string, object) {
	at, ok := m.resume(w, in, place{operation: "tags-list", limit: 50})
	if !ok {
		return "tags.invalid_cursor", nil
	}
	var live []*request
	for _, r := range m.requests {
		if r.account == w.account && r.live() {
			live = append(live, r)
		}
	}
	var list []item
	for folded, shown := range tagsOf(live) {
		list = append(list, item{key: folded, n: 1, shown: shown})
	}
	return m.page(at, list, got, "tags")
}

func (m *model) bulkUpdate(w who, in, _ object) (string, object) {
	ids, byID := in["ids"].([]any)
	filter, byFilter := in["filter"].(object)
	set := in["set"].(object)
	expected, counted := in["expected_count"].(int)
	switch {
	case byID == byFilter:
		return "requests.invalid_ids", nil
	case byFilter && !counted:
		return "requests.invalid_expected_count", nil
	}
	if invalidFilter(filter) != "" {
		return "requests.invalid_filter", nil
	}
	assignee, _ := set["assignee_id"].(string)
	if _, ok := anID(assignee); !ok && assignee != "" && assignee != "none" {
		return "requests.invalid_set", nil
	}
	var meant []*request
	if byFilter {
		at := place{box: "live"}
		at.narrow(filter)
		if at.app != "" && m.app(w.account, at.app) == nil {
			return "apps.not_found", nil
		}
		for _, r := range m.requests {
			if r.account == w.account && at.matches(r) {
				meant = append(meant, r)
			}
		}
		if len(meant) != expected {
			return "requests.count_mismatch", nil
		}
	}
	for _, id := range ids {
		r := m.request(w.account, id)
		if r == nil {
			return "requests.not_found", nil
		}
		if !slices.Contains(meant, r) {
			meant = append(meant, r)
		}
	}
	slices.SortFunc(meant, m.older)
	return m.bulkChange(w, meant, set)
}

// bulkChange changes the selected requests, or none of them.
func (m *model) bulkChange(w who, meant []*request, set object) (string, object) {
	assignee, _ := set["assignee_id"].(string)
	for _, r := range meant {
		if r.binned && set["box"] != "live" {
			return "requests.not_found", nil
		}
		if _, sent := set["status"]; sent && r.root != nil {
			return "requests.merged", nil
		}
		if assignee != "" && assignee != "none" && r.assignee != assignee && m.colleague(w, assignee) == nil {
			return "requests.invalid_assignee_id", nil
		}
	}
	updated := 0
	var roots []*request
	for _, r := range meant {
		from, binned := r.box(), r.binned
		different := m.alter(r, func(r *request) {
			if status, sent := set["status"].(string); sent {
				r.status = status
			}
			switch assignee {
			case "":
			case "none":
				r.assignee = nil
			default:
				r.assignee = assignee
			}
			r.tags = bulkTags(r.tags, set)
			if box, sent := set["box"].(string); sent {
				r.binned, r.quarantined = box == "bin", false
			}
		})
		if !different {
			continue
		}
		updated++
		m.record(r.account, moved(from, r.box()), "user", w.id, r.app.id, r.id)
		if r.binned != binned {
			roots = append(roots, r.root)
		}
	}
	slices.SortFunc(roots, m.older)
	for _, root := range roots {
		m.recount(w, root)
	}
	return "ok", object{"updated": updated}
}

func bulkTags(tags []any, set object) []any {
	has := func(list []any, tag any) bool {
		return slices.ContainsFunc(list, func(t any) bool { return strings.EqualFold(t.(string), tag.(string)) })
	}
	removed, _ := set["remove_tags"].([]any)
	added, _ := set["add_tags"].([]any)
	result := []any{}
	for _, tag := range tags {
		if !has(removed, tag) {
			result = append(result, tag)
		}
	}
	for _, tag := range added {
		if !has(result, tag) {
			result = append(result, tag)
		}
	}
	return result
}
