package machine

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
)

// How the model learns the names of random values, and how it returns pages.

// fresh returns the new name at a path of the result. If there is no new name of that kind, it
// returns a text that no answer has.
func (m *model) fresh(got object, kind string, path ...string) string {
	v := any(got)
	for _, name := range path {
		inner, _ := v.(object)
		v = inner[name]
	}
	text, _ := v.(string)
	if !strings.HasPrefix(text, "{"+kind) || m.learned[text] {
		return "a fresh " + kind
	}
	m.learned[text] = true
	return text
}

// item is a record in a list. Lists are sorted by by, key and n. n increases in the order of
// creation.
type item struct {
	n     int
	by    int64
	key   string
	shown object
}

func (i item) compare(n int, by int64, key string) int {
	return cmp.Or(cmp.Compare(i.by, by), cmp.Compare(i.key, key), cmp.Compare(i.n, n))
}

// page returns a page of a list.
func (m *model) page(at place, list []item, got object, name string) (string, object) {
	total := len(list)
	slices.SortFunc(list, func(a, b item) int { return a.compare(b.n, b.by, b.key) })
	down := at.sort != "" && at.sort != "oldest"
	if down {
		slices.Reverse(list)
	}
	rest := slices.DeleteFunc(list, func(i item) bool {
		order := i.compare(at.after, at.afterBy, at.afterKey)
		return at.after > 0 && (down && order >= 0 || !down && order <= 0)
	})
	shown := []object{}
	for _, i := range rest[:min(at.limit, len(rest))] {
		shown = append(shown, i.shown)
	}
	next, more := "", len(rest) > at.limit
	if more {
		last := rest[at.limit-1]
		at.after, at.afterBy, at.afterKey = last.n, last.by, last.key
		next = m.cursorTo(at, got)
	}
	return "ok", object{name: shown, "next_cursor": next, "has_more": more, "total_count": total}
}

// cursorTo returns the cursor for a place, which is always the same.
func (m *model) cursorTo(at place, got object) string {
	known := find(m.cursors, func(p *place) bool { return reflect.DeepEqual(p.at(), at.at()) })
	if known == nil {
		at.text = m.fresh(got, "cursor", "next_cursor")
		known = &at
		m.cursors = append(m.cursors, known)
	}
	return known.text
}

func (p place) at() place {
	p.text = ""
	return p
}

// resume returns the place where a page begins: that of the cursor, or first without one.
func (m *model) resume(w who, in object, first place) (place, bool) {
	text, _ := in["cursor"].(string)
	first.account = w.account
	if text != "" {
		from := find(m.cursors, func(p *place) bool { return p.text == text })
		if from == nil || from.account != w.account || from.operation != first.operation {
			return place{}, false
		}
		first = *from
	}
	if n, ok := in["limit"].(int); ok {
		first.limit = min(n, 200)
	}
	return first, true
}
