package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// What the model answers to the operations on links of requests.

const maxLinks = 20

type link struct {
	id, url string
	author  *user
	created time.Time
}

func (l link) shown(r *request) object {
	return object{"id": l.id, "request_id": r.id, "url": l.url, "author": l.author.asAuthor(), "created_at": l.created.Format(timeForm)}
}

func (m *model) addLink(w who, in, got object) (string, object) {
	url := in["url"].(string)
	if !strings.HasPrefix(url, "http") || strings.Contains(url, "@") {
		return "links.invalid_url", nil
	}
	r := m.request(w.account, in["request_id"])
	if r == nil || r.binned {
		return "requests.not_found", nil
	}
	for _, l := range r.linked {
		if l.url == url {
			return "ok", object{"link": l.shown(r)}
		}
	}
	if len(r.linked) == maxLinks {
		return "links.too_many", nil
	}
	l := link{m.fresh(got, "id", "link", "id"), url, w.user, m.now()}
	r.linked = append(r.linked, l)
	m.noteComment(w, r, "link.added", "internal", "internal") // only the team sees links
	return "ok", object{"link": l.shown(r)}
}

func (m *model) removeLink(w who, in, _ object) (string, object) {
	r := m.request(w.account, in["request_id"])
	if r == nil || r.binned {
		return "requests.not_found", nil
	}
	i := slices.IndexFunc(r.linked, func(l link) bool { return l.id == in["id"] })
	if i < 0 {
		return "links.not_found", nil
	}
	r.linked = slices.Delete(r.linked, i, i+1)
	m.noteComment(w, r, "link.removed", "internal", "internal")
	return "ok", object{"deleted": true, "id": in["id"]}
}

// linkID draws a link of the request that was drawn.
func (m *machine) linkID(c aCall) string {
	if r := find(m.requests, func(r *request) bool { return r.id == c.in["request_id"] }); r != nil && m.often("its own link") {
		return cmp.Or(one(m, "link", r.linked, func(l link) string { return l.id }, func(link) bool { return true }), m.anyOf("{id"))
	}
	return m.anyOf("{id")
}

// linkValue draws an address.
func (m *machine) linkValue(c aCall, name string) (any, bool) {
	if c.operation != "links-add" || name != "url" {
		return nil, false
	}
	good := []any{}
	for n := range 2 * maxLinks {
		good = append(good, fmt.Sprintf("https://a.example/issues/%d", n))
	}
	odd := []any{"", "javascript:alert(1)", "https://a@b.example", "/a", "https://a.example/" + strings.Repeat("x", 2048), 7, nil}
	return m.either(name, good, odd), true
}
