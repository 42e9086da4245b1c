package machine

import (
	"cmp"
	"slices"
	"time"
)

// What the model answers to merges. Merged requests are a tree: parent is the request that
// one was merged into, and root the one where its votes count.

func (m *model) mergeRequest(w who, in, _ object) (string, object) {
	r, into := m.request(w.account, in["id"]), m.request(w.account, in["into_id"])
	if r == nil || into == nil {
		return "requests.not_found", nil
	}
	root := into
	if into.root != nil {
		root = into.root
	}
	switch {
	case r.binned || into.binned:
		return "requests.not_found", nil
	case r.parent == into:
		return "ok", object{"request": r.shown()} // the call was repeated
	case root.binned:
		return "requests.not_found", nil
	case r == into, r.app != into.app:
		return "requests.invalid_into_id", nil
	case r.quarantined, into.quarantined:
		return "requests.quarantined", nil
	case r.root != nil, r == root:
		return "requests.merged", nil
	}
	followers := m.members(r)
	r.kept, root.kept = true, true
	told := m.audienceBelow(r, root)
	for _, f := range followers {
		f.root, f.rooted = root, m.now()
	}
	r.status, r.former, r.parent, r.root, r.rooted = "duplicate", r.status, into, root, m.now()
	m.answer(r)
	m.recount(followers...)
	m.recount(r, root)
	m.warm(r, root)
	entries := m.recordAll(append([]*request{r, root}, followers...), "request.merged", w.actor(), w.by())
	entries[0].tell(w, r, told)
	m.tellNews(w, append(followers, r)...)
	return "ok", object{"request": r.shown()}
}

func (m *model) unmergeRequest(w who, in, _ object) (string, object) {
	r := m.request(w.account, in["id"])
	if r == nil || r.binned {
		return "requests.not_found", nil
	}
	if root := r.root; root != nil {
		followers := m.takeOut(r)
		m.recount(root)
		m.warm(root)
		entries := m.recordAll(append([]*request{r, root}, followers...), "request.unmerged", w.actor(), w.by())
		entries[0].tell(w, r, m.audience(r))
		m.tellNews(w, append(followers, r)...)
	}
	return "ok", object{"request": r.shown()}
}

// members returns the requests that are merged into a root, oldest first.
func (m *model) members(root *request) []*request {
	var members []*request
	for _, r := range m.requests {
		if r.root == root {
			members = append(members, r)
		}
	}
	return members
}

// takeOut makes a merged request a root again. It returns the requests below it, which stay
// merged into it.
func (m *model) takeOut(r *request) (followers []*request) {
	r.status, r.former, r.parent, r.root = r.former, "", nil, nil
	for from := []*request{r}; len(from) > 0; from = from[1:] {
		for _, other := range m.requests {
			if other.parent == from[0] && !other.gone {
				other.root, other.rooted = r, m.now()
				followers = append(followers, other)
				from = append(from, other)
			}
		}
	}
	m.recount(followers...)
	m.recount(r)
	m.warm(r)
	return followers
}

// recordAll adds an entry for each request of an account, and returns these.
func (m *model) recordAll(requests []*request, kind, actor, by string) []change {
	for _, r := range requests {
		m.record(r.account, kind, actor, by, r.app.id, r.id)
	}
	if len(requests) == 0 {
		return nil
	}
	log := requests[0].log
	return log[len(log)-len(requests):]
}

func (m *model) older(a, b *request) int {
	return cmp.Compare(slices.Index(m.requests, a), slices.Index(m.requests, b))
}

// emptyBin permanently removes the requests that were moved to an account's bin before a time.
// Requests that were merged into one of them move up to its parent, or become roots.
func (m *model) emptyBin(a *account, until time.Time) {
	var gone []*request
	ids := map[string]bool{}
	for _, r := range m.requests {
		if r.account == a && r.binned && !r.deleted && !r.gone && r.updated.Before(until) {
			gone = append(gone, r)
			r.gone, ids[r.id] = true, true
		}
	}
	var heads, followers []*request
	for _, r := range m.requests {
		for r.parent != nil && r.parent.gone && r.parent.parent != nil {
			r.parent = r.parent.parent
		}
		if !r.gone && r.parent != nil && r.parent.gone {
			heads = append(heads, r)
		}
	}
	for _, head := range heads {
		followers = append(followers, m.takeOut(head)...)
	}
	entries := m.recordAll(append(heads, followers...), "request.unmerged", "service", "")
	for i, head := range heads {
		entries[i].tell(who{}, head, m.audience(head))
	}
	m.tellNews(who{}, append(heads, followers...)...)
	m.forget(a, ids)
	for _, r := range gone {
		r.root, r.parent = nil, nil
		m.record(a, "request.purged", "service", "", r.app.id, "")
	}
}
