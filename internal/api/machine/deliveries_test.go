package machine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// What the model knows of deliveries: which events an endpoint receives, and what comes of them. All
// endpoints of the machine are paths of one receiver, or an address that is not allowed.

const (
	// unreachable is an address that no delivery reaches, and that no packet is sent to.
	unreachable = "https://192.0.2.1/"

	eventsOfTurn, retriesOfTurn, chatAtOnce = 256, 32, 5
	giveUp                                  = 5 * 24 * time.Hour
	retryAfter                              = 10 * time.Minute // what the receiver asks for while it is down
)

// backOff is how long to wait after the first failure, the second, and so on, ±20 %.
var backOff = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour,
	24 * time.Hour,
}

func waitAfter(failures int) time.Duration { return backOff[min(failures, len(backOff))-1] }

// delivery is a message about an event, or about several for a chat.
type delivery struct {
	events  []change
	attempt int
	again   *refusal // nil unless the event was refused before
}

func (d *delivery) number() int { return d.events[len(d.events)-1].number }

// attempt is an entry of a delivery log.
type attempt struct {
	id              string // "" until an answer shows it
	at              time.Time
	number, events  int
	first           change
	attempt         int
	outcome         string
	status, reply   any
	trouble         any
	payload, testID any // as answers or the receiver have shown them
}

// expected is a call that the receiver gets.
type expected struct {
	*endpoint
	*delivery
	of *attempt
}

func (m *model) shownAttempt(e *endpoint, a *attempt, got object) object {
	if a.id == "" {
		a.id = m.fresh(got, "id", "id")
	}
	eventID := a.testID
	switch id, _ := got["event_id"].(string); {
	case a.number > 0:
		eventID = m.eventID(e.account, a.first.number, got["event_id"])
	case a.testID == nil && strings.HasPrefix(id, "test_{id"):
		a.testID, eventID = id, id
	}
	if a.trouble != nil && a.payload == nil {
		a.payload = got["payload"]
	}
	return object{
		"id": a.id, "at": a.at.Format(timeForm), "number": a.number, "events": a.events, "event_id": eventID, "kind": a.first.kind,
		"attempt": a.attempt, "outcome": a.outcome, "status": a.status, "took_ms": 0, "error": a.trouble, "payload": a.payload,
		"response": a.reply,
	}
}

// reply is an answer of the receiver. Its parts are null if there is no answer.
type reply struct {
	outcome               string
	status, body, trouble any
}

// replyTo returns what the receiver answers to a delivery.
func (m *model) replyTo(e *endpoint, d *delivery) reply {
	path, received := strings.CutPrefix(e.url, receiverName)
	switch {
	case !received:
		return reply{outcome: "failed", trouble: "This address is not allowed."}
	case m.down:
		return reply{"failed", 503, "Later.", "The endpoint answered 503 Service Unavailable."}
	case path == "/gone":
		return reply{"gone", 410, "Gone.", "The endpoint answered 410 Gone."}
	case path == "/moved":
		return reply{"failed", 302, "Moved.", "The endpoint answered 302; redirects are not followed."}
	case path == "/picky" && (e.chat() || d.number()%2 == 0):
		return reply{"refused", 422, "No.", "The endpoint answered 422 Unprocessable Entity."}
	}
	return reply{"delivered", 200, "Thanks.", nil}
}

// send makes an attempt to deliver.
func (m *model) send(e *endpoint, d *delivery) *attempt {
	r := m.replyTo(e, d)
	a := &attempt{
		at: m.now(), number: d.number(), events: len(d.events), first: d.events[0], attempt: d.attempt,
		outcome: r.outcome, status: r.status, reply: r.body, trouble: r.trouble,
	}
	e.attempts = append(e.attempts, a)
	if r.status != nil {
		m.expects = append(m.expects, expected{e, d, a})
	}
	return a
}

// wants reports whether an endpoint receives a change, if its kind fits.
func (e *endpoint) wants(c change) bool {
	return (e.app == "" || c.app == e.app) && (e.internal || c.aboutRequests() && !c.internal && c.kind != "request.blocked")
}

// hides reports whether a change is about a request in quarantine, which an endpoint does not receive. The
// requests of a deleted app stay there until the worker has removed them.
func (m *model) hides(e *endpoint, c change) bool {
	r := find(m.requests, func(r *request) bool { return r.id == c.request && !r.purged && !r.gone })
	return !e.internal && r != nil && r.box() == "quarantine"
}

// again returns the delivery of one event, whatever its kind, or nil.
func (m *model) again(e *endpoint, number int) *delivery {
	for _, c := range e.log {
		if c.number == number && e.wants(c) && !m.hides(e, c) {
			return &delivery{events: []change{c}}
		}
	}
	return nil
}

// freshOf returns the deliveries of the events after the position, and the position after them.
func (m *model) freshOf(e *endpoint) (list []*delivery, position int) {
	fits, _ := wantedKinds(e.kinds)
	var wanted []change
	position = e.seq
	for _, c := range e.log {
		if c.number > e.position && fits(c) && e.wants(c) {
			if wanted = append(wanted, c); len(wanted) == eventsOfTurn {
				position = c.number
				break
			}
		}
	}
	wanted = slices.DeleteFunc(wanted, func(c change) bool { return m.hides(e, c) })
	switch n := len(wanted); {
	case n == 0:
		return nil, position
	case e.chat() && n > chatAtOnce:
		return []*delivery{{events: wanted, attempt: e.failures + 1}}, position
	case e.chat() && n > 1:
		wanted, position = wanted[:1], wanted[0].number
	}
	for _, c := range wanted {
		list = append(list, &delivery{events: []change{c}, attempt: 1})
	}
	list[0].attempt += e.failures
	return list, position
}

// refusedOf returns the deliveries of the refused events that are due. It forgets those that the endpoint no
// longer receives.
func (m *model) refusedOf(e *endpoint) (list []*delivery) {
	due := slices.DeleteFunc(slices.Clone(e.aside), func(r *refusal) bool { return r.due.After(m.now()) })
	slices.SortFunc(due, func(a, b *refusal) int { return a.due.Compare(b.due) })
	for _, r := range due[:min(retriesOfTurn, len(due))] {
		d := m.again(e, r.number)
		if d == nil {
			e.drop(r.number)
			continue
		}
		d.attempt, d.again = r.attempts+1, r
		list = append(list, d)
	}
	return list
}

// drop forgets that an event was refused.
func (e *endpoint) drop(number int) {
	e.aside = slices.DeleteFunc(e.aside, func(r *refusal) bool { return r.number == number })
}

// isDue reports whether a look finds the endpoint.
func (m *model) isDue(e *endpoint) bool {
	return e.state == "on" && !m.now().Before(e.due) && (e.position < e.seq ||
		slices.ContainsFunc(e.aside, func(r *refusal) bool { return !r.due.After(m.now()) }))
}

// turn delivers to an endpoint once. If it fails, it returns all that could be sent: the service may have
// begun others before the first one fails.
func (m *model) turn(e *endpoint) (begun []*delivery) {
	fresh, position := m.freshOf(e)
	list := slices.Concat(fresh, m.refusedOf(e))
	e.due = m.now()
	if len(list) == 0 {
		e.position = position
		return nil
	}
	if e.failures > 0 && len(list) > 1 { // one call shows whether the endpoint works again
		list, position = list[:1], e.position
		if len(fresh) > 0 {
			position = list[0].number()
		}
	}
	if o := m.replyTo(e, list[0]).outcome; o == "failed" || o == "gone" {
		if len(fresh) > 0 {
			position = e.position
		}
		e.position = position
		m.fail(e, list[0])
		return list
	}
	e.position, e.failures, e.failing, e.trouble = position, 0, time.Time{}, nil
	if e.chat() {
		e.due = m.now().Add(time.Second)
	}
	for _, d := range list {
		switch a := m.send(e, d); {
		case a.outcome == "delivered":
			e.succeeded = m.now()
			if d.again != nil {
				e.drop(a.number)
			}
		case !e.chat():
			e.setAside(d, m.now())
		}
	}
	return nil
}

// fail makes an attempt that fails because of the endpoint.
func (m *model) fail(e *endpoint, d *delivery) {
	a := m.send(e, d)
	e.failures++
	if e.failing.IsZero() {
		e.failing = m.now()
	}
	wait := waitAfter(e.failures)
	if a.status == 503 {
		wait = max(wait, retryAfter)
	}
	e.due, e.trouble = m.now().Add(wait), a.trouble
	if a.outcome == "gone" || m.now().Sub(e.failing) >= giveUp {
		e.state = "disabled"
		reason := a.trouble.(string)
		m.record(e.account, "webhook.disabled", "service", "", "", "")
		e.latest().facts = &facts{
			fmt.Sprintf("disabled the webhook %q: %s", e.name, strings.TrimSuffix(reason, ".")), nil,
			object{"id": e.id, "name": e.name, "reason": reason},
		}
	}
}

// setAside keeps a refused event for later, unless it was sent too often.
func (e *endpoint) setAside(d *delivery, now time.Time) {
	e.drop(d.number())
	if d.attempt <= len(backOff) || d.again == nil {
		due := now.Add(waitAfter(d.attempt))
		for slices.ContainsFunc(e.aside, func(r *refusal) bool { return r.due.Equal(due) }) {
			due = due.Add(time.Millisecond) // so that the order is clear
		}
		e.aside = append(e.aside, &refusal{d.number(), d.attempt, due})
		slices.SortFunc(e.aside, func(a, b *refusal) int { return cmp.Compare(a.number, b.number) })
	}
}

// forget removes the changes of requests that were permanently removed, and their deliveries.
func (m *model) forget(a *account, gone map[string]bool) {
	of := map[int]bool{}
	for _, c := range a.log {
		of[c.number] = gone[c.request]
	}
	a.log = slices.DeleteFunc(a.log, func(c change) bool { return gone[c.request] })
	for _, e := range m.endpointsOf(a) {
		e.aside = slices.DeleteFunc(e.aside, func(r *refusal) bool { return of[r.number] })
		e.attempts = slices.DeleteFunc(e.attempts, func(a *attempt) bool { return gone[a.first.request] })
	}
}

// pruned removes the attempts that the worker removes because of their age.
func (m *model) pruned() {
	const day = 24 * time.Hour
	for _, e := range m.webhooks {
		e.attempts = slices.DeleteFunc(e.attempts, func(a *attempt) bool {
			age := m.now().Sub(a.at)
			return age > 30*day || a.outcome == "delivered" && age > 7*day
		})
	}
}
