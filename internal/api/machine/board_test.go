package machine

import (
	"slices"
	"strings"

	"gatherkit/internal/feedback"
)

// What the model answers to the operations that show a portal to callers with an API key.

// boardPage is the most ideas of a page.
const boardPage = 50

// viewer returns the key of the person for whom a call reads, or "", and why it may not.
func (m *model) viewer(w who, in object) (key, refusal string) {
	if !w.app.allows(w.origin) {
		return "", "widget.origin_not_allowed"
	}
	person, refusal := m.identified(w, in)
	if refusal != "" {
		return "", refusal
	}
	if person != nil {
		return keyOf(person), ""
	}
	if voter, sent := in["voter"].(string); sent {
		key = "b:" + voter
	}
	return key, ""
}

// admits returns the key of somebody whom the portal lets in without its link. People who are blocked are nobody.
func (a *app) admits(key string) (known, refusal string) {
	if a.blocked(key) >= 0 {
		key = ""
	}
	access := a.portal()["access"]
	switch {
	case access == "public" || access == "signed_in" && strings.HasPrefix(key, "v:"):
		return key, ""
	case access == "signed_in":
		return "", "portal.sign_in_needed"
	}
	return "", "portal.not_found"
}

// onPortal reports whether the portal of its app shows the request.
func (r *request) onPortal() bool { return r.live() && r.root == nil && r.shared() }

func (r *request) label() any { return r.settings["statuses"].(object)[r.status].(object)["label"] }

// idea returns a request as visitors see it.
func (m *model) idea(r *request, key string) object {
	portal := r.portal()
	shown := object{
		"id": r.id, "title": r.title, "description": "", "status": r.status, "label": r.label(), "votes": r.votes,
		"comments": min(len(r.remarks()), 100), "tags": []any{}, "author": "", "created_at": r.created.Format(timeForm),
		"voted": key != "" && m.people(r)[key] != nil, "mine": key != "" && keyOf(r.submitter) == key,
	}
	if portal["descriptions"] == true {
		shown["description"] = r.description
	}
	for _, tag := range r.tags {
		if slices.ContainsFunc(portal["tags"].([]any), func(listed any) bool { return strings.EqualFold(listed.(string), tag.(string)) }) {
			shown["tags"] = append(shown["tags"].([]any), tag)
		}
	}
	if name, named := r.submitter["name"].(string); named && portal["names"] == "verified" && r.submitter["verified"] == true {
		shown["author"] = name
	}
	return shown
}

// remarks returns the comments that visitors see.
func (r *request) remarks() []*comment {
	return slices.DeleteFunc(r.liveComments(), func(c *comment) bool {
		return c.visibility != "public" || !c.ofTeam() && c.visitor == nil
	})
}

// remark returns a comment as visitors see it.
func (c *comment) remark(a *app, key string) object {
	shown := object{
		"id": c.id, "author": "", "team": c.ofTeam(), "mine": false, "body": c.body, "created_at": c.created.Format(timeForm),
	}
	if !c.ofTeam() {
		shown["mine"] = key != "" && c.key == key
		if name, named := c.visitor["name"].(string); named && a.portal()["names"] == "verified" && c.visitor["verified"] == true {
			shown["author"] = name
		}
		return shown
	}
	shown["body"], shown["author"] = c.outside(a)["body"], a.publicName()
	if name := c.author.asAuthor()["name"]; a.portal()["team_names"] == true && name != nil {
		shown["author"] = name
	}
	return shown
}

func (m *model) widgetBoard(w who, in, got object) (string, object) {
	key, refusal := m.viewer(w, in)
	if refusal != "" {
		return refusal, nil
	}
	at, ok := m.resume(who{session: &session{user: &user{account: w.app.account}}}, in,
		place{operation: "widget-board", sort: "top", filter: object{}, request: w.app.id, limit: 20})
	if !ok || at.request != w.app.id || !at.narrow(in) {
		return "widget.invalid_cursor", nil
	}
	at.limit = min(at.limit, boardPage)
	if key, refusal = w.app.admits(key); refusal != "" {
		return refusal, nil
	}
	counts := map[string]int{}
	var list []item
	for i, r := range m.requests {
		if r.app != w.app || !r.onPortal() {
			continue
		}
		counts[r.status]++
		if !at.holds(r) || !w.app.finds(r, at.filter) {
			continue
		}
		by := int64(0)
		switch at.sort {
		case "top":
			by = int64(r.votes)
		case "trending":
			by = r.heat
		}
		list = append(list, item{n: i + 1, by: by, shown: m.idea(r, key)})
	}
	_, result := m.page(at, list, got, "requests")
	result["total"] = result["total_count"]
	delete(result, "total_count")
	statuses := []object{}
	for _, status := range feedback.Statuses() {
		settings := w.app.settings
		if (&request{app: &app{settings: settings}, status: string(status)}).shared() && status != feedback.Duplicate {
			label := settings["statuses"].(object)[string(status)].(object)["label"]
			statuses = append(statuses, object{"status": status, "label": label, "count": counts[string(status)]})
		}
	}
	result["statuses"] = statuses
	return "ok", result
}

// finds reports whether a search on the portal finds a request, of whose submitter it tells nothing.
func (a *app) finds(r *request, filter object) bool {
	if tag, sent := filter["tag"].(string); sent {
		if !slices.ContainsFunc(a.portal()["tags"].([]any), func(listed any) bool { return strings.EqualFold(listed.(string), tag) }) {
			return false
		}
	}
	query, _ := filter["query"].(string)
	if query == "" {
		return true
	}
	wanted, words := queried(query), r.words()
	if a.portal()["descriptions"] != true {
		words = wordsIn(r.title)
	}
	if len(wanted) == 0 {
		return false
	}
	last := wanted[len(wanted)-1]
	return !slices.ContainsFunc(wanted[:len(wanted)-1], func(word string) bool { return !slices.Contains(words, word) }) &&
		slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, last) })
}

func (m *model) widgetRequest(w who, in, got object) (string, object) {
	key, refusal := m.viewer(w, in)
	if refusal != "" {
		return refusal, nil
	}
	if key, refusal = w.app.admits(key); refusal != "" {
		return refusal, nil
	}
	r := m.request(w.app.account, in["id"])
	if r != nil && r.app == w.app && r.live() && r.root != nil {
		r = r.root
	}
	if r == nil || r.app != w.app || !r.onPortal() {
		return "requests.not_found", nil
	}
	list := r.remarks()
	if before, sent := in["before"]; sent {
		number := find(r.comments, func(c *comment) bool { return c.id == before }).number
		list = slices.DeleteFunc(list, func(c *comment) bool { return c.number >= number })
	}
	more := len(list) > 20
	shown := []object{}
	answered, _ := got["comments"].([]any)
	for i, c := range list[max(0, len(list)-20):] {
		m.learnComment(c, i, answered)
		shown = append(shown, c.remark(w.app, key))
	}
	return "ok", object{"request": m.idea(r, key), "comments": shown, "has_more": more}
}
