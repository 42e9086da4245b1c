package machine

import (
	"maps"
	"reflect"
	"slices"
	"time"
)

// What the model answers to the operations on saved views. m.views is in their order: those of an owner
// come one after the other, maybe with others in between.

type view struct {
	*account
	owner            *user // nil for the team
	id, name, sort   string
	filter           object
	created, updated time.Time
}

const maxViews = 50

// viewsOf returns the views of an owner.
func (m *model) viewsOf(a *account, owner *user) (of []*view) {
	for _, v := range m.views {
		if v.account == a && v.owner == owner {
			of = append(of, v)
		}
	}
	return of
}

func (m *model) seen(w who) []*view {
	return append(m.viewsOf(w.account, nil), m.viewsOf(w.account, w.user)...)
}

// viewFilter returns a filter as answers have it.
func viewFilter(filter object) object {
	saved := object{}
	for name, v := range filter {
		switch {
		case v == "":
		case name == "status":
			saved[name] = canonical(name, v)
		case name == "person":
			person := maps.Clone(v.(object))
			maps.DeleteFunc(person, func(_ string, v any) bool { return v == false || v == "" })
			saved[name] = person
		default:
			saved[name] = v
		}
	}
	return saved
}

func (m *model) shownView(w who, v *view) object {
	return object{
		"id": v.id, "name": v.name, "shared": v.owner == nil, "filter": v.filter, "sort": v.sort, "default": m.firstView[w.user] == v,
		"created_at": v.created.Format(timeForm), "updated_at": v.updated.Format(timeForm),
	}
}

func (m *model) listViews(w who, _, _ object) (string, object) {
	shown := []object{}
	for _, v := range m.seen(w) {
		shown = append(shown, m.shownView(w, v))
	}
	return "ok", object{"views": shown}
}

// mayChange reports whether the caller may change views of an owner.
func (w who) mayChange(owner *user) bool { return owner != nil || w.role != "viewer" }

func (m *model) createView(w who, in, got object) (string, object) {
	filter, _ := in["filter"].(object)
	owner := w.user
	if in["shared"] == true {
		owner = nil
	}
	switch {
	case unfit(filter) != "":
		return "views.invalid_filter", nil
	case !w.mayChange(owner):
		return "auth.forbidden", nil
	case len(m.viewsOf(w.account, owner)) >= maxViews:
		return "views.too_many", nil
	}
	v := &view{
		account: w.account, owner: owner, id: m.fresh(got, "id", "view", "id"), name: in["name"].(string), sort: "newest",
		filter: viewFilter(filter), created: m.now(), updated: m.now(),
	}
	if sort, sent := in["sort"].(string); sent {
		v.sort = sort
	}
	m.views = append(m.views, v)
	if in["default"] == true {
		m.firstView[w.user] = v
	}
	return "ok", object{"view": m.shownView(w, v)}
}

func (m *model) updateView(w who, in, _ object) (string, object) {
	filter, filtered := in["filter"].(object)
	if unfit(filter) != "" {
		return "views.invalid_filter", nil
	}
	v := find(m.seen(w), func(v *view) bool { return v.id == in["id"] })
	if v == nil {
		return "views.not_found", nil
	}
	next := *v
	changes := filtered
	if filtered {
		next.filter = viewFilter(filter)
	}
	for name, field := range map[string]*string{"name": &next.name, "sort": &next.sort} {
		if text, sent := in[name].(string); sent {
			*field, changes = text, true
		}
	}
	if shared, sent := in["shared"].(bool); sent {
		next.owner, changes = w.user, true
		if shared {
			next.owner = nil
		}
	}
	after, moved := in["after"]
	if (changes || moved) && (!w.mayChange(v.owner) || !w.mayChange(next.owner)) {
		return "auth.forbidden", nil
	}
	group := m.viewsOf(w.account, next.owner)
	if next.owner != v.owner && len(group) >= maxViews {
		return "views.too_many", nil
	}
	behind := find(group, func(other *view) bool { return other.id == after && other != v })
	if moved && after != nil && behind == nil {
		return "views.not_found", nil
	}
	if !reflect.DeepEqual(next, *v) {
		next.updated = m.now()
	}
	m.reorder(v, &next, moved, behind)
	for u, first := range m.firstView {
		if first == v && u != w.user && next.owner != nil {
			delete(m.firstView, u)
		}
	}
	switch first := in["default"]; {
	case first == true:
		m.firstView[w.user] = v
	case first == false && m.firstView[w.user] == v:
		delete(m.firstView, w.user)
	}
	*v = next
	return "ok", object{"view": m.shownView(w, v)}
}

// reorder moves a view that changes to the end of its new owner's, or behind another one.
func (m *model) reorder(v, next *view, moved bool, behind *view) {
	if !moved && next.owner == v.owner {
		return
	}
	m.views = slices.DeleteFunc(m.views, func(other *view) bool { return other == v })
	at := len(m.views)
	if moved {
		at = slices.Index(m.views, behind) + 1 // 0 for the beginning
	}
	m.views = slices.Insert(m.views, at, v)
}

func (m *model) deleteView(w who, in, _ object) (string, object) {
	v := find(m.seen(w), func(v *view) bool { return v.id == in["id"] })
	switch {
	case v == nil:
		return "views.not_found", nil
	case !w.mayChange(v.owner):
		return "auth.forbidden", nil
	}
	m.forgetViews(func(other *view) bool { return other == v })
	return "ok", object{"deleted": true, "id": v.id}
}

// forgetViews removes views.
func (m *model) forgetViews(gone func(*view) bool) {
	m.views = slices.DeleteFunc(m.views, gone)
	maps.DeleteFunc(m.firstView, func(_ *user, v *view) bool { return gone(v) })
}

// viewID draws the id of a view, most likely one that the caller sees.
func (m *machine) viewID(c aCall) string {
	t := m.sessionOf(c.who)
	return one(m, "view", m.views, func(v *view) string { return v.id }, func(v *view) bool {
		return t == nil || v.account == t.account && (v.owner == nil || v.owner == t.user)
	})
}
