package machine

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// filters reports, for each filter of requests-list, whether a request matches a value.
var filters = map[string]func(r *request, v any) bool{
	"status": func(r *request, v any) bool { return slices.Contains(v.([]any), any(r.status)) },
	"app_id": func(r *request, v any) bool { return r.app.id == v },
	"tag": func(r *request, v any) bool {
		return slices.ContainsFunc(r.tags, func(t any) bool { return folded(t) == v })
	},
	"assignee_id": func(r *request, v any) bool { return orNone(r.assignee) == v },
	"query":       func(r *request, v any) bool { return r.found(v.(string)) },
	"source":      func(r *request, v any) bool { return r.source == v },
	"person": func(r *request, v any) bool {
		return keyOf(r.submitter) == v || slices.ContainsFunc(r.given, func(by *vote) bool { return by.key == v })
	},
	"hidden":         func(r *request, v any) bool { return r.hidden == v },
	"created_after":  func(r *request, v any) bool { return r.created.Format(timeForm) >= v.(string) },
	"created_before": func(r *request, v any) bool { return r.created.Format(timeForm) < v.(string) },
	"box":            func(r *request, v any) bool { return r.box() == v },
}

// statuses has all statuses of requests in order.
var statuses = records["Status"].Enum

// canonical returns the canonical form of a filter's value, which cursors compare.
func canonical(name string, v any) any {
	switch name {
	case "status":
		list, several := v.([]any)
		if !several {
			list = []any{v}
		}
		list = slices.SortedFunc(slices.Values(list), func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		return slices.Compact(list)
	case "tag":
		return folded(v)
	case "person":
		return wantedKey(v)
	}
	return v
}

// wantedKey returns the key of the person of a filter, or "" if it identifies nobody.
func wantedKey(v any) string {
	sent := v.(object)
	person := personOf(sent)
	if person["verified"], _ = sent["verified"].(bool); person["verified"] == true && person["external_id"] == nil {
		return ""
	}
	return keyOf(person)
}

func folded(tag any) string { return strings.ToLower(tag.(string)) }

// narrow adds the filters of a call. It reports whether they agree with those of the cursor.
func (p *place) narrow(in object) (agrees bool) {
	agrees = true
	filter := object{} // a copy, because cursors share theirs
	maps.Copy(filter, p.filter)
	p.filter = filter
	for name, v := range in {
		if filters[name] == nil || v == "" {
			continue
		}
		v = canonical(name, v)
		agrees = agrees && (p.text == "" || reflect.DeepEqual(v, p.filter[name]))
		p.filter[name] = v
	}
	if sort, sent := in["sort"].(string); sent {
		agrees = agrees && (p.text == "" || sort == p.sort)
		p.sort = sort
	}
	return agrees
}

// without returns the place without a filter.
func (p place) without(name string) place {
	p.filter = maps.Clone(p.filter)
	delete(p.filter, name)
	return p
}

// holds reports whether a request is in the list.
func (p place) holds(r *request) bool {
	for name, v := range p.filter {
		if !filters[name](r, v) {
			return false
		}
	}
	return !r.deleted && !r.gone
}

// knows reports whether the caller's account has the app of the filter.
func (m *model) knows(w who, p place) bool {
	id := p.filter["app_id"]
	return id == nil || m.app(w.account, id) != nil
}

// unfit returns the name of a filter that is well-formed but not allowed, alone or together
// with another one. It returns "" if there is none.
func unfit(in object) string {
	if id, ok := in["assignee_id"].(string); ok && id != "none" && id != "" && !uuidText.MatchString(id) {
		return "assignee_id"
	}
	if person, sent := in["person"].(object); sent && wantedKey(person) == "" {
		return "person"
	}
	if box, sent := in["box"]; sent && box != "live" && in["query"] != nil && in["query"] != "" {
		return "query"
	}
	return ""
}
