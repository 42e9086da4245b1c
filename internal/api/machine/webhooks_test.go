package machine

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"
)

// What the model answers to the operations on webhooks. deliveries_test.go has what they receive.

// endpoint is a webhook.
type endpoint struct {
	*account
	id, name, url, format, app, state string
	kinds                             []any
	internal                          bool
	created, updated                  time.Time
	secret, before                    string // before is the previous secret; both are "" until an answer shows them
	beforeUntil                       time.Time

	position, failures      int
	failing, due, succeeded time.Time // zero if it does not fail, is due, or never succeeded
	trouble                 any       // what went wrong last, or nil
	aside                   []*refusal
	attempts                []*attempt // oldest first
}

// refusal is an event that an endpoint has refused.
type refusal struct {
	number, attempts int
	due              time.Time
}

const maxEndpoints, mostSends = 20, 10

func (e *endpoint) chat() bool { return e.format != "events" }

func (m *model) endpoint(w who, in object) *endpoint {
	return find(m.webhooks, func(e *endpoint) bool { return e.id == in["id"] && e.account == w.account })
}

func (e *endpoint) shown() object {
	at := func(t time.Time) any {
		if t.IsZero() {
			return nil
		}
		return t.Format(timeForm)
	}
	health := object{
		"position": e.position, "behind": e.seq - e.position, "set_aside": len(e.aside), "failures": e.failures,
		"failing_since": at(e.failing), "retry_at": nil, "last_success_at": at(e.succeeded), "last_error": e.trouble,
	}
	if !e.failing.IsZero() && e.state == "on" {
		health["retry_at"] = at(e.due)
	}
	return object{
		"id": e.id, "name": e.name, "url": e.url, "format": e.format, "app_id": orNull(e.app), "kinds": e.kinds, "internal": e.internal,
		"state": e.state, "health": health, "created_at": at(e.created), "updated_at": at(e.updated),
	}
}

// facts are what the log says of an endpoint.
func (e *endpoint) facts() object {
	facts := e.shown()
	maps.DeleteFunc(facts, func(name string, _ any) bool {
		return slices.Contains([]string{"url", "health", "created_at", "updated_at"}, name)
	})
	facts["host"] = "127.0.0.1"
	if !strings.HasPrefix(e.url, receiverName) {
		u, _ := url.Parse(e.url)
		facts["host"] = u.Hostname()
	}
	return facts
}

// note records a change of an endpoint with all that the log says of it.
func (m *model) note(w who, e *endpoint, verb, did string, before, after object) {
	m.record(w.account, "webhook."+verb, w.actor(), w.by(), "", "")
	w.latest().facts = &facts{strings.ReplaceAll(did, "%", fmt.Sprintf("the webhook %q", e.name)), before, after}
}

// possibleURL reports whether an endpoint can have an address that the machine draws.
func possibleURL(address string) bool {
	return strings.HasPrefix(address, receiverName) || address == unreachable
}

// checkEndpoint returns why an endpoint cannot be stored, or "".
func (m *model) checkEndpoint(e *endpoint) string {
	_, ok := wantedKinds(e.kinds)
	switch {
	case !possibleURL(e.url):
		return "webhooks.invalid_url"
	case !ok:
		return "webhooks.invalid_kinds"
	case e.app != "" && m.app(e.account, e.app) == nil:
		return "apps.not_found"
	}
	return ""
}

// set changes what a call sends.
func (e *endpoint) set(in object) {
	for name, field := range map[string]*string{"name": &e.name, "url": &e.url, "format": &e.format, "app_id": &e.app, "state": &e.state} {
		if v, sent := in[name]; sent {
			*field, _ = v.(string)
		}
	}
	if kinds, sent := in["kinds"].([]any); sent {
		e.kinds = kinds
	}
	if internal, sent := in["internal"].(bool); sent {
		e.internal = internal
	}
}

func (m *model) createWebhook(w who, in, got object) (string, object) {
	e := &endpoint{account: w.account, format: "events", state: "on", kinds: []any{}, created: m.now(), updated: m.now()}
	e.set(in)
	if refusal := m.checkEndpoint(e); refusal != "" {
		return refusal, nil
	}
	if len(m.endpointsOf(w.account)) >= maxEndpoints {
		return "webhooks.too_many", nil
	}
	e.id = m.fresh(got, "id", "webhook", "id")
	m.webhooks = append(m.webhooks, e)
	m.note(w, e, "created", fmt.Sprintf("created %% for %v", e.facts()["host"]), nil, e.facts())
	e.position = e.seq
	return "ok", object{"webhook": e.shown()}
}

func (m *model) endpointsOf(a *account) (of []*endpoint) {
	for _, e := range m.webhooks {
		if e.account == a {
			of = append(of, e)
		}
	}
	return of
}

func (m *model) listWebhooks(w who, _, _ object) (string, object) {
	shown := []object{}
	for _, e := range m.endpointsOf(w.account) {
		shown = append(shown, e.shown())
	}
	return "ok", object{"webhooks": shown}
}

func (m *model) getWebhook(w who, in, _ object) (string, object) {
	e := m.endpoint(w, in)
	if e == nil {
		return "webhooks.not_found", nil
	}
	return "ok", object{"webhook": e.shown()}
}

func (m *model) updateWebhook(w who, in, _ object) (string, object) {
	e := m.endpoint(w, in)
	if e == nil {
		return "webhooks.not_found", nil
	}
	old, changed := *e, *e
	changed.set(in)
	if refusal := m.checkEndpoint(&changed); refusal != "" {
		return refusal, nil
	}
	*e = changed
	switch {
	case e.state != "on":
	case old.state != "on" || e.url != old.url:
		e.failures, e.failing, e.due = 0, time.Time{}, m.now()
	case in["state"] != nil && !e.failing.IsZero():
		e.due = m.now()
	}
	before, after := object{"id": e.id}, object{"id": e.id, "name": e.name}
	for name, v := range e.facts() {
		if was := old.facts()[name]; !reflect.DeepEqual(v, was) {
			before[name], after[name] = was, v
		}
	}
	if len(before) > 1 || e.url != old.url {
		e.updated = m.now()
		did := map[any]string{"on": "turned on %", "paused": "paused %", nil: "changed %"}[after["state"]]
		m.note(w, e, "updated", did, before, after)
	}
	return "ok", object{"webhook": e.shown()}
}

func (m *model) deleteWebhook(w who, in, _ object) (string, object) {
	e := m.endpoint(w, in)
	if e == nil {
		return "webhooks.not_found", nil
	}
	m.note(w, e, "deleted", "deleted %", e.facts(), nil)
	m.removeEndpoints(func(other *endpoint) bool { return other == e })
	return "ok", object{"deleted": true, "id": e.id}
}

func (m *model) removeEndpoints(gone func(*endpoint) bool) {
	m.webhooks = slices.DeleteFunc(m.webhooks, gone)
}

func (m *model) webhookSecret(w who, in, got object) (string, object) {
	e := m.endpoint(w, in)
	if e == nil {
		return "webhooks.not_found", nil
	}
	if in["rotate"] == true {
		e.before, e.beforeUntil, e.secret = e.secret, m.now().Add(24*time.Hour), ""
		m.note(w, e, "secret_rotated", "rotated the secret of %", nil, object{"id": e.id, "name": e.name})
	}
	if e.secret == "" {
		e.secret = m.fresh(got, "signing", "secret")
	}
	result := object{"secret": e.secret, "previous_valid_until": nil}
	if m.now().Before(e.beforeUntil) {
		result["previous_valid_until"] = e.beforeUntil.Format(timeForm)
	}
	return "ok", result
}

func (m *model) rewindWebhook(w who, in, _ object) (string, object) {
	e := m.endpoint(w, in)
	after := in["after"].(int)
	switch {
	case e == nil:
		return "webhooks.not_found", nil
	case after > e.seq:
		return "events.position_ahead", nil
	}
	m.note(w, e, "rewound", fmt.Sprintf("set the position of %% from %d to %d", e.position, after),
		object{"id": e.id, "position": e.position}, object{"id": e.id, "position": after, "name": e.name})
	e.position = after
	e.aside = slices.DeleteFunc(e.aside, func(r *refusal) bool { return r.number > after })
	return "ok", object{"webhook": e.shown()}
}

func (m *model) listAttempts(w who, in, got object) (string, object) {
	e := m.endpoint(w, in)
	if e == nil {
		return "webhooks.not_found", nil
	}
	limit := 20
	if most, sent := in["limit"].(int); sent {
		limit = min(most, 100)
	}
	list := slices.Clone(e.attempts)
	switch before := in["before"]; before {
	case nil:
	case nobodysID: // which is older than all others
		list = nil
	default:
		list = list[:slices.IndexFunc(list, func(a *attempt) bool { return a.id == before })]
	}
	slices.Reverse(list)
	listed, _ := got["attempts"].([]any)
	shown := []object{}
	for i, a := range list[:min(limit, len(list))] {
		var answered object
		if i < len(listed) {
			answered, _ = listed[i].(object)
		}
		shown = append(shown, m.shownAttempt(e, a, answered))
	}
	return "ok", object{"attempts": shown, "more": len(list) > limit}
}

// sends counts the calls of endpoints that an account causes: in the current minute, and in the one before.
type sends struct {
	minute            int64
	current, previous int
}

// allowSend reports whether an account may cause a call of an endpoint.
func (m *model) allowSend(a *account) bool {
	minute := m.now().Unix() / 60
	switch s := &a.sends; {
	case minute == s.minute+1:
		*s = sends{minute, 0, s.current}
	case minute != s.minute:
		*s = sends{minute: minute}
	}
	left := time.Minute - m.now().Sub(m.now().Truncate(time.Minute))
	if int(math.Ceil(float64(a.sends.previous)*float64(left)/float64(time.Minute)))+a.sends.current >= mostSends {
		return false
	}
	a.sends.current++
	return true
}

func (m *model) testWebhook(w who, in, got object) (string, object) {
	if !m.allowSend(w.account) {
		return "api.rate_limited", nil
	}
	e := m.endpoint(w, in)
	if e == nil {
		return "webhooks.not_found", nil
	}
	test := change{at: m.now(), kind: "webhook.test", actor: "service", by: ""}
	answered, _ := got["attempt"].(object)
	return "ok", object{"attempt": m.shownAttempt(e, m.send(e, &delivery{events: []change{test}, attempt: 1}), answered)}
}

func (m *model) resendWebhook(w who, in, got object) (string, object) {
	if !m.allowSend(w.account) {
		return "api.rate_limited", nil
	}
	e := m.endpoint(w, in)
	if e == nil {
		return "webhooks.not_found", nil
	}
	d := m.again(e, in["number"].(int))
	if d == nil {
		return "webhooks.event_not_found", nil
	}
	d.attempt = 1
	for _, a := range e.attempts {
		if a.number == in["number"] {
			d.attempt = max(d.attempt, a.attempt+1)
		}
	}
	a := m.send(e, d)
	if a.outcome == "delivered" {
		e.drop(a.number)
	}
	answered, _ := got["attempt"].(object)
	return "ok", object{"attempt": m.shownAttempt(e, a, answered)}
}
