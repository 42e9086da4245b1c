package machine

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// What the model answers to requests-facets.

func (m *model) requestFacets(w who, in, _ object) (string, object) {
	if name := unfit(in); name != "" {
		return "requests.invalid_" + name, nil
	}
	at := place{filter: object{"box": "live"}}
	at.narrow(in)
	if !m.knows(w, at) {
		return "apps.not_found", nil
	}
	// count returns how many requests have each value, without the filter for that field.
	count := func(name string, value func(*request) any) map[any]int {
		wide, n := at.without(name), map[any]int{}
		for _, r := range m.requests {
			if r.account == w.account && wide.holds(r) {
				n[value(r)]++
			}
		}
		return n
	}
	apps := count("app_id", func(r *request) any { return r.app.id })
	byStatus := count("status", func(r *request) any { return r.status })
	if only := w.only(); only != "" {
		apps = map[any]int{only: apps[only]}
	}
	assignees := count("assignee_id", func(r *request) any { return orNone(r.assignee) })
	sources := count("source", func(r *request) any { return r.source })
	boxes := count("box", func(r *request) any { return r.box() })
	result := object{
		"apps":      tallies("app_id", m.order(apps, at.filter["app_id"])),
		"assignees": tallies("assignee_id", m.order(assignees, "none", at.filter["assignee_id"])),
		"sources":   tallies("source", m.order(sources, at.filter["source"])),
		"statuses":  []object{}, "boxes": []object{}, "tags": m.tagFacets(w, at),
	}
	for _, status := range statuses {
		result["statuses"] = append(result["statuses"].([]object), object{"status": status, "count": byStatus[status], "exact": true})
	}
	for _, box := range []string{"live", "quarantine", "bin"} {
		n := 0
		if at.filter["query"] == nil || box == "live" {
			n = boxes[box]
		}
		result["boxes"] = append(result["boxes"].([]object), object{"box": box, "count": n, "exact": true})
	}
	return "ok", result
}

// facetValue is a value and the number of requests that have it.
type facetValue struct {
	value string
	n     int
}

// order sorts the values of a facet: by number, then ids by creation and other values by
// value. always has values that appear even if no request has them.
func (m *model) order(n map[any]int, always ...any) []facetValue {
	for _, value := range always {
		if value != nil {
			n[value] += 0
		}
	}
	var values []facetValue
	for value, n := range n {
		values = append(values, facetValue{value.(string), n})
	}
	created := func(id string) int {
		if id == "none" { // it comes after the ids
			return len(m.apps) + len(m.users)
		}
		return max(
			slices.IndexFunc(m.apps, func(a *app) bool { return a.id == id }),
			slices.IndexFunc(m.users, func(u *user) bool { return u.id == id }),
		)
	}
	slices.SortFunc(values, func(a, b facetValue) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(created(a.value), created(b.value)), cmp.Compare(a.value, b.value))
	})
	return values
}

func tallies(name string, values []facetValue) []object {
	list := []object{}
	for _, v := range values {
		list = append(list, object{name: v.value, "count": v.n, "exact": true})
	}
	return list
}

// tagFacets returns the tags of the requests that the filter would match without its tag.
func (m *model) tagFacets(w who, at place) []object {
	chosen, _ := at.filter["tag"].(string)
	wide := at.without("tag")
	var held []*request
	for _, r := range m.requests {
		if r.account == w.account && wide.holds(r) {
			held = append(held, r)
		}
	}
	labels := tagsOf(held)
	folded := slices.SortedFunc(maps.Keys(labels), func(a, b string) int {
		return cmp.Or(cmp.Compare(labels[b]["requests"].(int), labels[a]["requests"].(int)), strings.Compare(a, b))
	})
	list := []object{}
	for _, tag := range folded {
		list = append(list, object{"tag": labels[tag]["tag"], "count": labels[tag]["requests"], "exact": true})
	}
	if chosen != "" && labels[chosen] == nil {
		list = append(list, object{"tag": chosen, "count": 0, "exact": true})
	}
	return list
}

// orNone returns the assignee, or "none".
func orNone(assignee any) any {
	if assignee == nil {
		return "none"
	}
	return assignee
}
