package machine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// either draws one of the good values, or rarely one of the odd ones.
func (m *machine) either(label string, good, odd []any) any {
	if m.rarely(label + " is odd") {
		good = odd
	}
	return draw(m, label, good...)
}

// value draws a parameter, mostly a good one. The functions below draw parameters for which the
// schema is not enough.
func (m *machine) value(c aCall, name string) any {
	if c.operation == "requests-similar" && c.in["id"] != nil && m.often("by the id alone") {
		return nil
	}
	for _, of := range []func(aCall, string) (any, bool){
		m.portalValue, m.entryValue, m.readerValue, m.webhookValue, m.mailValue, m.strangerValue, m.teamValue, m.tokenValue, m.eventValue,
		m.mentionValue,
		m.idValue, m.fileValue, m.linkValue, m.filterValue, m.requestValue, m.setValue, m.personValue, m.appValue, m.loginValue,
	} {
		if v, ok := of(c, name); ok {
			return v
		}
	}
	return m.sample(name, operations[c.operation].parameters.Properties[name])
}

// sample draws a value that the schema accepts, or rarely another one.
func (m *machine) sample(name string, s *schema) any {
	good, odd := []any{"A", "B"}, oddTexts
	switch s = s.resolved(); {
	case len(s.Enum) > 0:
		good, odd = slices.Clone(s.Enum), []any{"junk", true, ""}
	case s.is("boolean"):
		good, odd = []any{true, false}, []any{"true", 1}
	case s.is("integer"):
		good, odd = []any{number("1"), number("2"), number("3")}, []any{number("1.5"), "1"}
		if s.Minimum != nil {
			good, odd = append(good, whole(int(*s.Minimum))), append(odd, whole(int(*s.Minimum)-1))
		}
		if s.Maximum != nil {
			good, odd = append(good, whole(int(*s.Maximum))), append(odd, whole(int(*s.Maximum)+1))
		}
	case s.Pattern != "":
		good, odd = slices.Clone(s.Examples), []any{"soon", "2026-13", "2026-02-30", "2026-Q5", 7}
	case s.Format == "date-time":
		at := m.now().Add(-draw(m, name, 0, time.Millisecond, time.Second, time.Minute, 24*time.Hour, 40*24*time.Hour))
		good, odd = []any{at.Format(time.RFC3339Nano), at.In(time.FixedZone("", 7200)).Format(time.RFC3339Nano)}, []any{"yesterday", 1}
	case s.Format == "uuid":
		good, odd = []any{m.anyOf("{id"), nobodysID}, []any{"junk", 7}
	}
	if s.is("null") {
		good = append(good, nil)
	}
	return m.either(name, good, odd)
}

var oddTexts = []any{
	" É\t", "a\tb", "a \u202e b", "x\u200dy", "😀", "", " ", "a\x00b", `\`, "'; --", strings.Repeat("é", 200), strings.Repeat("x ", 101),
	1, nil,
}

func number(text string) any { return json.Number(text) }

func whole(n int) any { return number(strconv.Itoa(n)) }

// requestValue draws a field of a request or of a comment.
func (m *machine) requestValue(c aCall, name string) (any, bool) {
	raw := func(text string) any { return json.RawMessage(text) }
	switch name {
	case "tags":
		return m.either(name, []any{[]any{"design"}, []any{"Design", "pro", "design"}, []any{"é", " Pro "}, []any{}},
			[]any{"design", []any{""}, []any{"a\tb"}, []any{1}, slices.Repeat([]any{"x"}, 21)}), true
	case "status":
		return m.either(name, []any{"planned", "declined", "opened", "completed", nil}, []any{"duplicate", "junk"}), true
	case "assignee_id":
		return m.either(name, []any{m.colleagueOf(c), nil}, []any{m.anyOf("{id"), nobodysID, "junk"}), true
	case "expected_version":
		return m.either(name, []any{number("1"), number("1"), number("2"), number("3"), nil}, []any{number("0"), "1"}), true
	case "submitter":
		return m.either(name, []any{object{"email": "a@example.com"}, object{"name": "Ann", "external_id": "7"}, object{}},
			[]any{object{"email": "junk"}, object{"id": "x"}, "Ann"}), true
	case "metadata":
		return m.either(name, []any{
			raw(`{"b":1.50,"a":[1,2]}`), raw(`{"n":12345678901234567890}`), raw(`{"a":{"b":null}}`), raw(`{}`),
		}, []any{raw(deepMetadata), raw(`[]`)}), true
	case "title", "text":
		return m.either(name, []any{"A", "Dark mode", "B", "A mode for the dark", "Darker modes"}, oddTexts), true
	case "description":
		return m.either(name, []any{"", "A", "Dark, please", strings.Repeat("so ", 23) + "mode dark", "Ask " + address}, oddTexts), true
	case "body":
		return m.either(name, []any{"Why not?", "It is <b>done</b>", "Ask " + address}, []any{"", " ", strings.Repeat("é", 10_001), 1}), true
	case "form":
		return m.either(name, []any{
			nil, nil,
			object{"seconds": number("30"), "website": ""},
			object{"seconds": number("2")},
			object{"seconds": number("1.99")},
			object{"website": "x"},
			object{},
		}, []any{object{"seconds": number("-1")}, object{"x": 1}, object{"website": 7}, "x", 7}), true
	case "idempotency_key":
		return m.either(name, []any{"k", "l", " k"}, []any{"", strings.Repeat("x", 65)}), true
	}
	return nil, false
}

// filters reports whether the call takes the filters of requests-list.
func (c aCall) filters() bool { return operations[c.operation].parameters.Properties["box"] != nil }

// filterValue draws a filter, an order or a place in a list.
func (m *machine) filterValue(c aCall, name string) (any, bool) {
	if (name == "status" || name == "assignee_id") && !c.filters() {
		return nil, false // the parameter is a field of a request, not a filter
	}
	switch name {
	case "query":
		return m.either(name, []any{
			"dark", "Dark mode", "mode da", "mod", "Dark modes", "A", "é", "mode dark mode", "a mode dar", "drak moed",
			"Ann", "ann dark", "A@example.c", "exa", "",
		}, []any{"'; --", "😀", strings.Repeat("x ", 101), 1}), true
	case "sort":
		good, odd := []any{"newest", "oldest", "most_voted", "trending", "recently_updated"}, []any{"relevance", "junk", ""}
		if c.in["query"] != nil {
			good = append(good, slices.Repeat([]any{"relevance"}, 2*len(good))...)
		}
		return m.either(name, good, odd), true
	case "tag":
		return m.either(name, []any{"design", "Pro", "É"}, []any{"", strings.Repeat("x", 41), 1}), true
	case "status":
		return m.either(name, []any{
			"opened", "planned", []any{"opened", "planned"}, []any{"planned", "declined", "planned"}, "duplicate", nil,
		}, []any{"junk", []any{}, []any{"planned", 1}}), true
	case "assignee_id":
		colleague := m.colleagueOf(c)
		return m.either(name, []any{colleague, colleague, "none", ""}, []any{"junk", nobodysID}), true
	case "person":
		return m.either(name, []any{
			object{"email": "A@example.com"},
			object{"email": "b@example.com", "name": "Bob"},
			object{"external_id": "42"},
			object{"external_id": "42", "verified": true},
			object{"name": "ann"},
			object{"external_id": "7", "name": "Ann", "verified": false},
		}, []any{object{}, object{"email": "a@example.com", "verified": true}, object{"id": "42"}, "Ann", 7}), true
	case "from", "to":
		at := m.now().Add(-draw(m, name, 0, time.Second, 24*time.Hour, 7*24*time.Hour, 40*24*time.Hour, 365*24*time.Hour))
		return m.either(name, []any{at.Format(time.DateOnly), at.Format(time.RFC3339Nano), at.Format(time.RFC3339)},
			[]any{"yesterday", "2026-13-01", 1}), true
	case "bom":
		return m.either(name, []any{nil, c.in["format"] == "csv"}, []any{true, "yes"}), true
	case "limit":
		return m.either(name, []any{number("1"), number("2"), number("3"), number("200"), number("1000"), number("1e3")},
			[]any{number("0"), number("-1"), number("1.5"), "1"}), true
	case "cursor":
		right := one(m, "cursor", m.cursors, func(p *place) string { return p.text }, func(p *place) bool {
			same := p.operation == c.operation || p.operation == "mine" && ofReaders(c.operation)
			return same && (c.in["request_id"] == nil || c.in["request_id"] == p.request)
		})
		return m.either(name, []any{right, right, ""}, []any{m.any(), "junk"}), true
	}
	return nil, false
}

// aFilter draws a filter with one parameter.
func (m *machine) aFilter(c aCall) object {
	name := draw(m, "filter by", slices.Sorted(maps.Keys(filters))...)
	return object{name: m.value(aCall{operation: "requests-facets", who: c.who, in: object{}}, name)}
}

// setValue draws a parameter of a bulk change.
func (m *machine) setValue(c aCall, name string) (any, bool) {
	switch name {
	case "ids":
		if c.in["filter"] != nil {
			return nil, true
		}
		return m.either(name, []any{[]any{m.id(c, "id")}, []any{m.id(c, "id"), m.id(c, "id"), m.id(c, "id")}},
			[]any{[]any{}, []any{"junk"}, "x"}), true
	case "filter":
		if c.in["ids"] != nil {
			return nil, true
		}
		return m.either(name, []any{
			object{"status": "opened"},
			object{"status": []any{"opened", "planned"}, "box": "live"},
			object{"box": "bin"},
			object{"box": "quarantine"},
			m.aFilter(c), m.aFilter(c), m.aFilter(c),
		}, []any{object{"x": 1}, "all", object{"status": "x"}, object{"query": "dark", "box": "bin"}}), true
	case "expected_count":
		right := 0
		if w, filter := (who{session: m.sessionOf(c.who), program: m.program(c.who)}), c.in["filter"]; w.session != nil && filter != nil {
			clean, ok := operations[c.operation].parameters.Properties["filter"].read(filter, textRule(c.operation, "filter"))
			if ok && m.limit(w, "requests-list", clean.(object)) == "" {
				_, result := m.listRequests(w, clean.(object), nil)
				right, _ = result["total_count"].(int)
			}
		}
		return m.either(name, []any{number(strconv.Itoa(right))}, []any{number("7"), number("-1"), "1"}), true
	case "set":
		return m.either(name, []any{
			object{"status": "planned"},
			object{"status": "opened", "add_tags": []any{"Pro"}},
			object{"remove_tags": []any{"PRO", "design", "a\nb"}, "assignee_id": m.colleagueOf(c)},
			object{"assignee_id": "none"},
			object{"box": "bin"},
			object{"hidden": true},
			object{"hidden": false, "status": "planned"},
			object{"box": "live", "status": "declined"},
		}, []any{
			object{"status": "duplicate"},
			object{"x": 1},
			object{},
			object{"add_tags": []any{"a\nb"}},
			object{"assignee_id": "junk"},
			object{"assignee_id": nobodysID},
			7,
		}), true
	}
	return nil, false
}

// loginValue draws tokens, passwords and other values for logins.
func (m *machine) loginValue(c aCall, name string) (any, bool) {
	switch name {
	case "refresh_token":
		// Sessions that have been refreshed before are the most interesting ones.
		refreshed := last(m.tokens, func(t *token) bool { return t.next != "" })
		again := refreshed != nil && rapid.Bool().Draw(m.t, "the same session")
		return one(m, name, m.tokens, func(t *token) string { return t.text }, func(t *token) bool {
			return t.refreshes() && (!again || t.session == refreshed.session) && (t.valid(m.now()) || m.rarely("expired"))
		}), true
	case "token":
		return m.either(name, []any{setupToken}, []any{"junk"}), true
	case "email":
		if c.operation == "setup-create-owner" {
			return m.either(name, []any{"founder@example.com"}, []any{"junk", ""}), true
		}
		return m.either(name, []any{
			"owner@example.com", "Viewer@Example.com", "member@example.com", "stranger@example.com", "new1@example.com",
		}, []any{"nobody@example.com", "new2@example.com"}), true
	case "password", "current_password":
		right := passwords[0]
		if t := m.token(c.who); t != nil {
			right = t.password
		} else if u := m.userOf(fmt.Sprint(c.in["email"])); u != nil {
			right = u.password
		}
		return draw(m, name, right, right, right, "wrong"), true
	case "new_password":
		return m.either(name, []any{passwords[1], passwords[0]}, []any{"short", strings.Repeat("x", 1025)}), true
	case "account_name":
		return "Acme", true
	}
	return nil, false
}

// idValue draws the id of a record.
func (m *machine) idValue(c aCall, name string) (any, bool) {
	switch name {
	case "id", "app_id", "request_id", "into_id":
		return m.id(c, name), true
	case "after":
		return m.either(name, []any{m.viewID(c), m.viewID(c), nil}, []any{m.anyOf("{id"), nobodysID, "junk", 7}), true
	}
	return nil, false
}

// id draws an id, most likely of something that the caller can see.
func (m *machine) id(c aCall, name string) any {
	t := m.sessionOf(c.who)
	shop := find(m.apps, func(a *app) bool { return a.key == c.who })
	if t == nil && shop == nil || !m.often("its own id") {
		return draw[any](m, "id", m.anyOf("{id"), m.anyOf("{id"), m.anyOf("{id"), m.any(), nobodysID, "junk", nil, 7)
	}
	only := (who{program: m.program(c.who)}).only()
	if only != "" && draw(m, "outside of its app", false, false, true) {
		only = ""
	}
	within := func(a *app) bool {
		return a == shop || t != nil && a.account == t.account && (only == "" || only == a.id)
	}
	if r := last(m.requests, (*request).remarked); c.operation == "people-block" && name == "app_id" && r != nil && t != nil && within(r.app) {
		return r.app.id
	}
	if name == "app_id" || strings.HasPrefix(c.operation, "apps-") || strings.HasPrefix(c.operation, "portal-") {
		return one(m, "app", m.apps, func(a *app) string { return a.id }, func(a *app) bool {
			return within(a) && a.live()
		})
	}
	if strings.HasPrefix(c.operation, "users-") {
		return m.userID(c)
	}
	if strings.HasPrefix(c.operation, "sessions-") {
		return m.sessionID(c)
	}
	if strings.HasPrefix(c.operation, "tokens-") {
		return m.programID(c)
	}
	if name == "id" && strings.HasPrefix(c.operation, "webhooks-") {
		return m.webhookID(c)
	}
	if name == "id" && strings.HasPrefix(c.operation, "views-") {
		return m.viewID(c)
	}
	if name == "id" && strings.HasPrefix(c.operation, "templates-") {
		return m.templateID(c)
	}
	if name == "id" && strings.HasPrefix(c.operation, "comments-") {
		return m.commentID(c)
	}
	if name == "id" && strings.HasPrefix(c.operation, "links-") {
		return m.linkID(c)
	}
	pick := func(fits func(*request) bool) string {
		return one(m, "request", m.requests, func(r *request) string { return r.id }, func(r *request) bool {
			return within(r.app) && !r.deleted && !r.gone && fits(r)
		})
	}
	if id := pick(m.likely(c, name)); id != "" && !m.rarely("any of its own") {
		return id
	}
	return pick(func(*request) bool { return true })
}

// likely returns a function that reports whether a call with a request most likely succeeds.
func (m *machine) likely(c aCall, name string) func(*request) bool {
	many := m.often("with more of them")
	return func(r *request) bool {
		switch c.operation {
		case "requests-restore":
			return r.binned
		case "requests-release", "requests-block":
			return r.quarantined
		case "widget-vote", "widget-comment", "widget-request":
			return !r.binned && r.shared() && (c.operation != "widget-comment" || r.root == nil)
		case "people-block":
			return r.app.id == c.in["app_id"] && (r.remarked() || !many)
		case "requests-merge":
			from := find(m.requests, func(r *request) bool { return r.id == c.in["id"] })
			near := func(other *request) bool {
				return other != r && (other.app == r.app || !many) && (other.live() || !many && !other.binned)
			}
			fits := name == "into_id" && (from == nil || near(from))
			if name == "id" {
				fits = r.root == nil && slices.ContainsFunc(m.requests, near)
			}
			return !r.binned && (r.live() || !many) && fits
		case "requests-unmerge":
			return !r.binned && (r.root != nil || !many)
		case "comments-list":
			return !r.binned && (r.commented() || !many)
		case "comments-update", "comments-delete":
			return !r.binned && slices.ContainsFunc(r.comments, m.changeable(c))
		case "links-remove":
			return !r.binned && (len(r.linked) > 0 || !many)
		case "requests-delete":
			merged := len(m.members(r)) > 0 || r.root != nil
			return !r.binned && (merged || !many)
		case "votes-list", "votes-remove":
			return !r.binned && (len(m.people(r)) > 1 || !many)
		}
		return !r.binned
	}
}
