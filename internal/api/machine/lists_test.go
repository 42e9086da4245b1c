package machine

import "time"

// What the model answers to the operations that list requests, events and tags.

func (m *model) listRequests(w who, in, got object) (string, object) {
	if name := unfit(in); name != "" {
		return "requests.invalid_" + name, nil
	}
	at, ok := m.resume(w, in, place{operation: "requests-list", sort: "newest", filter: object{"box": "live"}, limit: 50})
	ok = at.narrow(in) && ok
	if !ok {
		return "requests.invalid_cursor", nil
	}
	query, _ := at.filter["query"].(string)
	if at.sort == "relevance" && query == "" {
		return "requests.invalid_sort", nil
	}
	if !m.knows(w, at) {
		return "apps.not_found", nil
	}
	if at.text == "" {
		at.began = m.now().Truncate(time.Microsecond)
	}
	var list []item
	total := 0
	for i, r := range m.requests {
		if r.account != w.account || !at.holds(r) {
			continue
		}
		total++
		by := int64(0)
		switch at.sort {
		case "most_voted":
			if by = int64(r.votes); r.updated.After(at.began) {
				continue // it may have been on an earlier page
			}
		case "trending":
			if by = r.heat; r.updated.After(at.began) {
				continue
			}
		case "recently_updated":
			by = r.updated.UnixMicro()
		}
		list = append(list, item{n: i + 1, by: by, shown: r.shown()})
	}
	var result object
	if at.sort == "relevance" {
		result = m.relevant(w, at, got)
	} else {
		_, result = m.page(at, list, got, "requests")
		result["total_count"] = total
	}
	result["total_exact"] = true
	if meant, fits := suggested(query, got); fits && query != "" && result["total_count"] == 0 {
		result["did_you_mean"] = meant
	}
	return "ok", result
}

// colleague returns the user with an id in the caller's account.
func (m *model) colleague(w who, id any) *user {
	return find(m.users, func(u *user) bool { return u.id == id && u.account == w.account && !u.gone })
}

func (m *model) listHistory(w who, in, got object) (string, object) {
	at, r, refusal := m.resumeAt(w, in, "requests-history")
	if refusal != "" {
		return refusal, nil
	}
	at.sort = "newest"
	return m.events(at, w, func(c change) bool { return c.request == r.id }, got, "events")
}

// events returns a page of the changes in the log for which holds returns true.
func (m *model) events(at place, w who, holds func(change) bool, got object, name string) (string, object) {
	var list []item
	for _, c := range w.log {
		if !holds(c) {
			continue
		}
		shown := object{"number": c.number, "at": c.at.Format(timeForm), "kind": c.kind, "actor": m.shownActor(w, c)}
		if name == "entries" {
			shown["request"] = m.audited(c)
		}
		list = append(list, item{n: c.number, shown: shown})
	}
	code, result := m.page(at, list, got, name)
	events, _ := got[name].([]any)
	for i, shown := range result[name].([]object) {
		if i < len(events) {
			m.tell(shown, find(w.log, func(c change) bool { return c.number == shown["number"] }), events[i].(object))
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
