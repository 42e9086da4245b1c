package api

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// The model of requests-facets.

func (m *model) requestFacets(w who, in, _ object) (string, object) {
	if name := invalidFilter(in); name != "" {
		return "requests.invalid_" + name, nil
	}
	at := place{box: "live"}
	at.narrow(in)
	if at.app != "" && m.app(w.account, at.app) == nil {
		return "apps.not_found", nil
	}
	var own []*request
	for _, r := range m.requests {
		if r.account == w.account {
			own = append(own, r)
		}
	}
	// count returns the number of requests for each value. free removes the value's part of
	// the filter.
	count := func(free func(*place), value func(*request) []any) map[any]int {
		wide, n := at, map[any]int{}
		free(&wide)
		for _, r := range own {
			if wide.matches(r) {
				for _, v := range value(r) {
					n[v]++
				}
			}
		}
		return n
	}
	one := func(value func(*request) any) func(*request) []any {
		return func(r *request) []any { return []any{value(r)} }
	}
	apps := count(func(p *place) { p.app = "" }, one(func(r *request) any { return r.app.id }))
	statuses := count(func(p *place) { p.statuses = "" }, one(func(r *request) any { return r.status }))
	assignees := count(func(p *place) { p.assignee = "" }, one(func(r *request) any { return orNone(r.assignee) }))
	sources := count(func(p *place) { p.source = "" }, one(func(r *request) any { return r.source }))
	result := object{
		"apps":      tallies("app_id", m.order(apps, at.app)),
		"assignees": tallies("assignee_id", m.order(assignees, "none", at.assignee)),
		"sources":   tallies("source", m.order(sources, at.source)),
		"statuses":  []object{}, "boxes": []object{}, "tags": m.tagFacets(w, at),
	}
	for _, status := range append(slices.Clone(settable), "duplicate") {
		result["statuses"] = append(result["statuses"].([]object), object{"status": status, "count": statuses[status], "exact": true})
	}
	for _, box := range []string{"live", "quarantine", "bin"} {
		n := 0
		if at.query == "" || box == "live" {
			n = count(func(p *place) { p.box = box }, one(func(*request) any { return box }))[box]
		}
		result["boxes"] = append(result["boxes"].([]object), object{"box": box, "count": n, "exact": true})
	}
	return "ok", result
}

// facetValue is a value and the number of requests with it.
type facetValue struct {
	value string
	n     int
}

// order sorts values by number of requests, most first, and then by value. Ids are in the
// order of creation.
func (m *model) order(n map[any]int, always ...string) []facetValue {
	for _, value := range always {
		if value != "" {
			n[value] += 0
		}
	}
	var values []facetValue
	for value, n := range n {
		values = append(values, facetValue{value.(string), n})
	}
	created := func(id string) int {
		if id == "none" { // sorted after the ids
			return len(m.apps) + len(m.users)
		}
		return max(slices.IndexFunc(m.apps, func(a *app) bool { return a.id == id }), slices.IndexFunc(m.users, func(u *user) bool { return u.id == id }))
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

// tagFacets returns the tags of the requests that match the filter without its tag.
func (m *model) tagFacets(w who, at place) []object {
	chosen := at.tag
	at.tag = ""
	var held []*request
	for _, r := range m.requests {
		if r.account == w.account && at.matches(r) {
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
