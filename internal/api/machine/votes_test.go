package machine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gatherkit/internal/feedback"
)

// What the model answers to votes. A person counts once for a request and all requests that are
// merged into it. The submitter votes by submitting.

// vote is one person's vote. by describes the person, and key identifies them.
type vote struct {
	by          object
	key, source string
	reader      string // who hears of the request; "" for nobody
	why         any    // nil for nothing
	created     time.Time
}

// personOf returns the person that a call describes. Empty values count as omitted.
func personOf(sent object) object {
	person := object{"verified": false, "email": nil, "name": nil, "external_id": nil}
	for name := range person {
		if text, _ := sent[name].(string); text != "" {
			person[name] = text
		}
	}
	return person
}

// voters are the ids that browsers keep.
var voters = []any{"0b5d1a52-5f0e-4c8b-9d38-1f6f6a1c2b3d", "9a1c2b3d-5f0e-4c8b-9d38-0b5d1a520b5d"}

// keyOf returns what identifies a person, or "" if nothing is known.
func keyOf(person object) string {
	if person["verified"] == true {
		return fmt.Sprint("v:", person["external_id"])
	}
	for _, known := range []struct{ mark, name string }{{"e:", "email"}, {"x:", "external_id"}, {"n:", "name"}} {
		text, ok := person[known.name].(string)
		if ok && known.name != "external_id" {
			text = strings.ToLower(text)
		}
		if ok {
			return known.mark + text
		}
	}
	return ""
}

// addRequest adds a new request. An anonymous submitter is identified by the number of the
// request, so that keys sort by creation.
func (m *model) addRequest(r *request, actor, by string) {
	r.set(nil)
	if r.votes == 1 {
		key := cmp.Or(keyOf(r.submitter), fmt.Sprintf("r:%09d", len(m.requests)))
		r.given = []*vote{{by: r.submitter, key: key, source: r.source, created: r.created}}
	}
	m.requests = append(m.requests, r)
	m.record(r.account, "request.created", actor, by, r.app.id, r.id)
}

// counting returns the requests whose votes count for r, oldest first.
func (m *model) counting(r *request) []*request {
	var counting []*request
	for _, other := range m.requests {
		if other == r || other.root == r && !other.binned {
			counting = append(counting, other)
		}
	}
	return counting
}

// people returns who voted for a request, each with the vote on the oldest of its merged
// requests.
func (m *model) people(r *request) map[string]object {
	people := map[string]object{}
	for _, at := range m.counting(r) {
		for _, v := range at.given {
			if people[v.key] == nil {
				people[v.key] = v.shown(at)
			}
		}
	}
	return people
}

// warm computes the heat of requests again. Each person counts from their first vote on, and a submitter only after
// somebody has voted or the request was merged.
func (m *model) warm(requests ...*request) {
	for _, r := range requests {
		first := map[string]feedback.Time{}
		for _, at := range m.counting(r) {
			for _, v := range at.given {
				given := feedback.At(v.created)
				if before, voted := first[v.key]; at.kept && (!voted || given < before) {
					first[v.key] = given
				}
			}
		}
		r.heat = feedback.Heat(slices.Collect(maps.Values(first)))
	}
}

func (v *vote) shown(at *request) object {
	shown := maps.Clone(v.by)
	shown["request_id"], shown["source"], shown["created_at"] = at.id, v.source, v.created.Format(timeForm)
	shown["why"] = v.why
	return shown
}

// recount counts the votes of requests again and gives each a new version. In the bin,
// updated_at does not change, because it is the time when the request was deleted.
func (m *model) recount(requests ...*request) {
	for _, r := range requests {
		r.votes = len(m.people(r))
		r.version++
		if !r.binned {
			r.updated = m.now()
		}
	}
}

// recountIfChanged counts the votes of a root again, after one of its members was moved to or
// from the bin, and records a change of their number.
func (m *model) recountIfChanged(w who, root *request) {
	if root == nil {
		return
	}
	m.warm(root)
	if len(m.people(root)) != root.votes {
		m.recount(root)
		m.record(root.account, "request.updated", w.actor(), w.by(), root.app.id, root.id)
	}
}

// cast adds a vote to a root, or removes all votes of the person that count there.
func (m *model) cast(root *request, v *vote, remove bool, actor, by string) (string, object) {
	of := func(other *vote) bool { return other.key == v.key }
	var changed []*request
	kind := "vote.added"
	if before := find(root.given, of); before != nil && before.why == nil && !remove {
		before.why = v.why
	}
	switch {
	case !remove && !slices.ContainsFunc(root.given, of):
		root.kept = true
		if root.heat != 0 && m.people(root)[v.key] == nil {
			root.heat = feedback.Warmer(root.heat, feedback.At(v.created))
		}
		root.given = append(root.given, v)
		changed = []*request{root}
	case remove && m.people(root)[v.key] != nil:
		root.kept, kind = true, "vote.removed"
		own := find(root.given, of)
		for _, at := range m.counting(root) {
			if at == root || slices.ContainsFunc(at.given, of) {
				at.given = slices.DeleteFunc(at.given, of)
				changed = append(changed, at)
			}
		}
		left, known := int64(0), false
		if own != nil && len(changed) == 1 {
			left, known = feedback.Cooler(root.heat, feedback.At(own.created))
		}
		if root.heat = left; !known {
			m.warm(changed...)
		}
	}
	m.recount(changed...)
	if len(changed) > 0 && root.heat == 0 {
		m.warm(root)
	}
	for _, r := range changed {
		m.record(r.account, kind, actor, by, r.app.id, r.id)
	}
	return "ok", object{"votes": root.votes, "voted": !remove}
}

// whereItCounts returns the root of a request, or nil if one of the two is in the bin.
func (r *request) whereItCounts() *request {
	root := r
	if r != nil && r.root != nil {
		root = r.root
	}
	if r == nil || r.binned || root.binned {
		return nil
	}
	return root
}

func (m *model) addVote(w who, in, _ object) (string, object)    { return m.vote(w, in, false) }
func (m *model) removeVote(w who, in, _ object) (string, object) { return m.vote(w, in, true) }

// vote adds or removes a vote on behalf of a person.
func (m *model) vote(w who, in object, remove bool) (string, object) {
	v := &vote{by: personOf(in), source: "dashboard", why: whyIn(in), created: m.now()}
	email, _ := in["email"].(string)
	if v.key = keyOf(v.by); v.key == "" || email != "" && !strings.Contains(email, "@") {
		return "votes.invalid_email", nil
	}
	root := m.request(w.account, in["request_id"]).whereItCounts()
	if root == nil {
		return "requests.not_found", nil
	}
	return m.cast(root, v, remove, w.actor(), w.by())
}

// whyIn returns what a person wrote with a vote, or nil.
func whyIn(in object) any {
	if text, _ := in["why"].(string); text != "" {
		return text
	}
	return nil
}

// widgetVote adds or removes the vote of a verified person or of a browser.
func (m *model) widgetVote(w who, in, _ object) (string, object) {
	v := &vote{by: personOf(nil), source: "widget", why: whyIn(in), created: m.now()}
	voter, _ := in["voter"].(string)
	v.key = "b:" + voter
	person, refusal := m.identified(w, in)
	reader, wrong := readerIn(in)
	v.reader = reader
	switch {
	case !w.app.allows(w.origin):
		return "widget.origin_not_allowed", nil
	case wrong != "":
		return wrong, nil
	case refusal != "":
		return refusal, nil
	case person != nil:
		v.by, v.key, v.reader = person, keyOf(person), keyOf(person)
	case voter == "":
		return "widget.invalid_voter", nil
	}
	r := m.request(w.app.account, in["request_id"])
	root := r.whereItCounts()
	if root == nil || r.app != w.app || !r.shared() || !root.shared() {
		return "requests.not_found", nil
	}
	return m.cast(root, v, in["remove"] == true, "api_key", w.app.id)
}

// shared reports whether users of the widget may see the request.
func (r *request) shared() bool { return r.sharedAs(r.status) }

// sharedUnmerged reports whether they might see it if it were not merged.
func (r *request) sharedUnmerged() bool { return r.sharedAs(cmp.Or(r.former, r.status)) }

func (r *request) sharedAs(status string) bool {
	if r.quarantined || r.hidden {
		return false
	}
	switch r.settings["sharing"] {
	case "all":
		return true
	case "triaged":
		return !slices.Contains([]string{"opened", "declined", "duplicate"}, status)
	}
	return false
}

func (m *model) listVotes(w who, in, got object) (string, object) {
	at, r, refusal := m.resumeAt(w, in, "votes-list")
	if refusal != "" {
		return refusal, nil
	}
	var list []item
	for key, shown := range m.people(r) {
		list = append(list, item{key: key, n: 1, shown: shown})
	}
	return m.page(at, list, got, "votes")
}

// resumeAt returns where a page of a request's list begins.
func (m *model) resumeAt(w who, in object, operation string) (at place, r *request, refusal string) {
	area, _, _ := strings.Cut(operation, "-")
	at, ok := m.resume(w, in, place{operation: operation, limit: 50, request: in["request_id"].(string)})
	if !ok || at.request != in["request_id"] {
		return at, nil, area + ".invalid_cursor"
	}
	if r = m.request(w.account, at.request); r == nil || r.binned {
		return at, nil, "requests.not_found"
	}
	return at, r, ""
}
