package machine

import (
	"slices"
	"strings"

	"gatherkit/internal/feedback"
)

// What the model answers to events-list.

// wantedKinds returns a function that reports whether changes have one of the kinds. It returns false if
// one of them is wrong. The machine draws no kinds with a field, because the model does not know which
// fields changed.
func wantedKinds(in object) (fits func(change) bool, ok bool) {
	kinds, _ := in["kinds"].([]any)
	has := func(kind string) bool {
		area, _, _ := strings.Cut(kind, ".")
		return len(kinds) == 0 || slices.Contains(kinds, any(kind)) || slices.Contains(kinds, any(area+".*"))
	}
	for _, kind := range kinds {
		area, rest, _ := strings.Cut(kind.(string), ".")
		if !slices.ContainsFunc(feedback.ChangeKinds(), func(k feedback.ChangeKind) bool {
			return string(k) == kind || rest == "*" && strings.HasPrefix(string(k), area+".")
		}) {
			return nil, false
		}
	}
	return func(c change) bool { return has(c.kind) }, true
}

// aboutRequests reports whether viewers and members see the change in the feed.
func (c change) aboutRequests() bool { return c.request != "" || c.kind == "request.purged" }

func (m *model) listEvents(w who, in, got object) (string, object) {
	fits, ok := wantedKinds(in)
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
		event := object{
			"number": c.number, "at": c.at.Format(timeForm), "kind": c.kind, "actor": m.shownActor(w, c), "version": 1,
			"app_id": orNull(c.app), "request_id": orNull(c.request), "request": m.requestNow(c),
		}
		if i := len(events); i < len(listed) { // finish compares the log itself
			for _, field := range []string{"before", "after", "summary", "id"} {
				event[field] = listed[i].(object)[field]
			}
		}
		events = append(events, event)
	}
	if len(events) < limit {
		skip(w.seq)
	}
	return "ok", object{"events": events, "position": position, "last": w.seq, "more": position < w.seq, "erased": erased}
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
		return m.either(name, []any{[]any{"request.created", "vote.*"}, []any{"request.*"}, []any{"app.created", "comment.*", "link.*"}},
			[]any{[]any{}, []any{"vote.cast"}, []any{"*"}, "request.*"}), true
	case "wait":
		return m.either(name, []any{whole(0), nil}, []any{whole(-1), whole(11), "1"}), true
	}
	return nil, false
}
