package machine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gatherkit/internal/feedback"
)

// What the model answers to events-list.

// wantedKinds returns a function that reports whether changes have one of the kinds. It returns false if
// one of them is wrong.
func wantedKinds(kinds []any) (fits func(change) bool, ok bool) {
	is := func(wanted any, kind string) bool {
		name, _, _ := strings.Cut(wanted.(string), ":")
		area, _, _ := strings.Cut(kind, ".")
		return name == kind || name == area+".*"
	}
	for _, wanted := range kinds {
		if !slices.ContainsFunc(feedback.ChangeKinds(), func(k feedback.ChangeKind) bool { return is(wanted, string(k)) }) ||
			strings.Contains(wanted.(string), "*:") {
			return nil, false
		}
	}
	return func(c change) bool {
		return len(kinds) == 0 || slices.ContainsFunc(kinds, func(wanted any) bool {
			_, field, limited := strings.Cut(wanted.(string), ":")
			return is(wanted, c.kind) && (!limited || slices.Contains(c.changed, field))
		})
	}, true
}

// differs notes that a field has changed, if it has.
func (c *change) differs(field, before, after string) {
	if before != after {
		c.changed = append(c.changed, field)
	}
}

// aboutRequests reports whether viewers and members see the change in the feed.
func (c change) aboutRequests() bool { return c.request != "" || c.kind == "request.purged" }

func (m *model) listEvents(w who, in, got object) (string, object) {
	kinds, _ := in["kinds"].([]any)
	fits, ok := wantedKinds(kinds)
	app, _ := in["app_id"].(string)
	position, limit := w.seq, 100
	if after, sent := in["after"].(int); sent {
		position = after
	}
	if most, sent := in["limit"].(int); sent {
		limit = min(most, 1000)
	}
	switch {
	case !ok:
		return "events.invalid_kinds", nil
	case app != "" && m.app(w.account, app) == nil:
		return "apps.not_found", nil
	case position > w.seq:
		return "events.position_ahead", nil
	}
	events, erased := []object{}, []object{}
	skip := func(to int) {
		if to > position {
			erased = append(erased, object{"from": position + 1, "to": to})
			position = to
		}
	}
	listed, _ := got["events"].([]any)
	for _, c := range w.log {
		if c.number <= position {
			continue
		}
		if len(events) == limit {
			break
		}
		skip(c.number - 1)
		position = c.number
		if !fits(c) || !c.aboutRequests() && !atLeast(w.role, feedback.RoleAdmin) || app != "" && c.app != app {
			continue
		}
		var answered object
		if i := len(events); i < len(listed) {
			answered, _ = listed[i].(object)
		}
		events = append(events, m.event(w.account, c, answered))
	}
	if len(events) < limit {
		skip(w.seq)
	}
	return "ok", object{"events": events, "position": position, "last": w.seq, "more": position < w.seq, "erased": erased}
}

// event returns a change as the feed and deliveries have it. shown is what an answer has.
func (m *model) event(a *account, c change, shown object) object {
	w := who{session: &session{user: &user{account: a}}}
	event := object{
		"number": c.number, "at": c.at.Format(timeForm), "kind": c.kind, "actor": m.shownActor(w, c), "version": 1,
		"app_id": orNull(c.app), "request_id": orNull(c.request), "request": m.requestNow(c),
	}
	m.tell(event, c, shown)
	event["id"] = m.eventID(a, c.number, shown["id"])
	return event
}

// tell adds to an entry what changed. If the model does not know it, it takes it from the answer, because
// finish compares the log itself.
func (m *model) tell(entry object, c change, shown object) {
	for _, field := range []string{"before", "after", "summary"} {
		entry[field] = shown[field]
	}
	if after, changed := shown["after"].(object); changed || c.quiet || c.told > 0 {
		entry["after"] = c.outside(after)
	}
	if c.facts == nil {
		return
	}
	entry["before"], entry["after"] = object{}, object{}
	maps.Copy(entry["before"].(object), c.facts.before)
	maps.Copy(entry["after"].(object), c.facts.after)
	if summary, _ := shown["summary"].(string); !strings.HasSuffix(summary, " "+c.facts.did+".") {
		entry["summary"] = "… " + c.facts.did + "."
	}
}

// eventID returns the id of an event, which never changes: the first one that is shown.
func (m *model) eventID(a *account, number int, shown any) string {
	key := fmt.Sprint(a.id, " ", number)
	if m.eventIDs[key] == "" {
		m.eventIDs[key] = m.fresh(object{"id": shown}, "event", "id")
	}
	return m.eventIDs[key]
}

// requestNow returns the request of an event as it is now, or nil unless it is live.
func (m *model) requestNow(c change) any {
	r := find(m.requests, func(r *request) bool { return r.id == c.request })
	if r == nil || !r.live() {
		return nil
	}
	shown := object{
		"id": r.id, "app_id": r.app.id, "title": r.title, "status": r.status, "votes": r.votes, "merged_into_id": nil,
		"url": "https://feedback.example.com/?request=" + r.id,
	}
	if r.root != nil {
		shown["merged_into_id"] = r.root.id
	}
	return shown
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// eventValue draws parameters of events-list. No call waits, because that would take seconds.
func (m *machine) eventValue(c aCall, name string) (any, bool) {
	if c.operation != "events-list" {
		return nil, false
	}
	switch name {
	case "after":
		last := 0
		if s := m.sessionOf(c.who); s != nil {
			last = s.seq
		}
		return m.either(name, []any{whole(0), whole(last / 2), whole(max(0, last-3)), whole(last)}, []any{whole(last + 1), whole(-1), "1"}), true
	case "kinds":
		return m.either(name, []any{
			[]any{"request.created", "vote.*"},
			[]any{"request.*"},
			[]any{"entry.*"},
			[]any{"app.created", "comment.*", "token.*", "webhook.*", "link.*"},
			[]any{"request.updated:status", "comment.updated:visibility"},
		}, []any{[]any{}, []any{"vote.cast"}, []any{"*"}, []any{"request.*:status"}, "request.*"}), true
	case "wait":
		return m.either(name, []any{whole(0), nil}, []any{whole(-1), whole(11), "1"}), true
	}
	return nil, false
}
