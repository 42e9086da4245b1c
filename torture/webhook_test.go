package torture_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// sooner are changes of constants, so that a test does not wait for minutes: how long a process holds an
// endpoint that it delivers to, and how long an endpoint that fails is left alone. All waits of the back-off are
// short, because an endpoint may fail many times before a busy machine has started the process again.
var sooner = []string{
	"deadline.Of(time.Minute)", "deadline.Of(4 * time.Second)", "deadline.Of(20 * time.Second)", "deadline.Of(time.Second)",
	"5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour,\n" +
		"\t24 * time.Hour,\n", "time.Second / 2, time.Second,\n",
}

// TestWebhooks delivers to a receiver while processes are killed and the receiver fails. It gets each event
// that it wants, and the signatures verify, also after the secret was replaced. On PostgreSQL, there are two
// processes.
func TestWebhooks(t *testing.T) {
	parallel(t)
	binary := buildReplacing(t, "../internal/webhook/turn.go", sooner...)
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		times := program.Times(4, 100)
		d := startDeliveries(t, binary, place)
		d.calm(t)
		for i := range times {
			if i == times/2 {
				d.rotate(t)
			}
			d.hurt(t, good+1+mode(rand.IntN(int(modes)-1)))
		}
		lost := d.settle(t)
		for path, numbers := range lost {
			if len(numbers) > 0 {
				t.Errorf("%s did not get %d events, such as %v", path, len(numbers), numbers[:min(len(numbers), 10)])
			}
		}
		measured(t, "%d times kill -9 and %d times a failing receiver: %s", times, times, d.outcome(lost))
	})
}

// TestWebhooksStoredTooEarly is the control. A service that stores the position of an endpoint before the
// deliveries are made must lose events. Otherwise, TestWebhooks proves nothing.
func TestWebhooksStoredTooEarly(t *testing.T) {
	storetest.Proof(t)
	parallel(t)
	const send = "\ts.sendAll(ctx, t, list)\n"
	const tooEarly = "\tif err := s.store(ctx, t, result{position: position}); err != nil {\n\t\treturn err\n\t}\n" + send
	binary := buildReplacing(t, "../internal/webhook/turn.go", append([]string{send, tooEarly}, sooner...)...)
	d := startDeliveries(t, binary, storetest.SQLite(t))
	for range program.Times(3, 20) {
		d.hurt(t, hanging)
	}
	lost := d.settle(t)
	if len(lost["/all"])+len(lost["/created"]) == 0 {
		t.Error("nothing is lost, although the position is stored before the deliveries are made")
	}
	measured(t, "control with the position stored before the deliveries: %s", d.outcome(lost))
}

// deliveries are two endpoints, processes that deliver to them, and clients that make changes.
type deliveries struct {
	binary    string
	flags     []string
	processes []*program.Process
	clients   []program.Client
	token     string
	load      *load
	receiver  *receiver
	rotated   string // the id of the endpoint whose secret is replaced
}

func startDeliveries(t *testing.T, binary string, place storetest.Place) *deliveries {
	t.Helper()
	program.AddOwner(t, place)
	d := &deliveries{binary: binary, flags: append(program.At(place), "--webhook-allow=127.0.0.0/8")}
	addresses := []string{program.FreeAddress(t)}
	if place.Database != "" {
		addresses = append(addresses, program.FreeAddress(t))
	}
	for _, address := range addresses {
		p := program.StartBinary(t, binary, address, nil, d.flags...)
		d.processes, d.clients = append(d.processes, p), append(d.clients, program.NewClient(t, p))
	}
	d.token = d.clients[0].Login(t)
	d.receiver = newReceiver(t)
	d.add(t, "/all", program.Params{"internal": true})
	d.add(t, "/created", program.Params{"kinds": []string{"request.created"}})
	d.load = startLoad(t, 4, d.clients[0].AddApp(t, d.token).APIKey, d.clients...)
	return d
}

func (d *deliveries) add(t *testing.T, path string, in program.Params) {
	t.Helper()
	in["name"], in["url"] = path, "http://"+d.receiver.address+path
	hook := d.clients[0].Want(t, "ok", "webhooks-create", d.token, in).Webhook
	secret := d.clients[0].Want(t, "ok", "webhooks-secret", d.token, program.Params{"id": hook.ID}).Secret
	d.receiver.add(t, path, secret, hook.Health.Position)
	if path == "/all" {
		d.rotated = hook.ID
	}
}

// rotate replaces the secret of an endpoint. What is sent soon must verify with both secrets.
func (d *deliveries) rotate(t *testing.T) {
	t.Helper()
	d.token = d.clients[0].Login(t)
	in := program.Params{"id": d.rotated, "rotate": true}
	d.receiver.rotate(t, "/all", d.clients[0].Want(t, "ok", "webhooks-secret", d.token, in).Secret)
}

// calm waits for deliveries while nothing fails. At most 8 are in progress at the same time, so when an event
// comes, at most 7 before it have not.
func (d *deliveries) calm(t *testing.T) {
	t.Helper()
	d.awaitMore(t, 300)
	if missing := d.receiver.missing("/all"); missing > 7 {
		t.Errorf("an event came while %d before it had not", missing)
	}
}

// awaitMore waits until both endpoints have got more events.
func (d *deliveries) awaitMore(t *testing.T, n int) {
	t.Helper()
	for path := range d.receiver.endpoints {
		want := d.receiver.got(path) + n
		program.Eventually(t, fmt.Sprintf("%s gets %d events", path, want), func() bool { return d.receiver.got(path) >= want })
	}
}

// hurt lets the receiver fail and kills a process, one shortly after the other.
func (d *deliveries) hurt(t *testing.T, m mode) {
	t.Helper()
	d.receiver.become(t, m)
	if m == hanging {
		program.Eventually(t, "a delivery hangs", func() bool { return d.receiver.held.Load() > 0 })
	}
	pause := func() { <-time.After(rand.N(500 * time.Millisecond)) }
	pause()
	i := rand.IntN(len(d.processes))
	d.processes[i].Kill(t)
	pause()
	d.receiver.become(t, good)
	d.processes[i] = program.StartBinary(t, d.binary, d.processes[i].Address, nil, d.flags...)
	for _, c := range d.clients {
		c.HTTP.CloseIdleConnections()
	}
	d.awaitMore(t, 50)
}

// settle stops the load, waits until nothing waits for delivery, and returns the events that each endpoint
// did not get. The test fails if an endpoint got something else.
func (d *deliveries) settle(t *testing.T) map[string][]int64 {
	t.Helper()
	c := d.clients[0]
	d.token = c.Login(t)
	d.load.settle(t, c, d.token)
	program.Eventually(t, "all events are delivered", func() bool {
		return !slices.ContainsFunc(c.Want(t, "ok", "webhooks-list", d.token, program.Params{}).Webhooks, func(w program.Webhook) bool {
			return w.Health.Behind > 0 || w.Health.SetAside > 0
		})
	})
	d.receiver.become(t, stopped)
	for _, fault := range d.receiver.faults[:min(len(d.receiver.faults), 10)] {
		t.Error(fault)
	}
	if e := d.receiver.endpoints["/all"]; e.rotated != nil && e.rotatedCalls == 0 {
		t.Error("no delivery verifies with the second secret")
	}
	lost := map[string][]int64{}
	for path, e := range d.receiver.endpoints {
		wanted := d.wanted(t, path, e.after)
		for number := range e.numbers {
			if !wanted[number] {
				t.Errorf("%s got event %d", path, number)
			}
		}
		for number := range wanted {
			if e.numbers[number] == 0 {
				lost[path] = append(lost[path], number)
			}
		}
		slices.Sort(lost[path])
	}
	return lost
}

// wanted returns the numbers of the events that an endpoint wants, after a position.
func (d *deliveries) wanted(t *testing.T, path string, after int64) map[int64]bool {
	t.Helper()
	wanted := map[int64]bool{}
	for {
		page := d.clients[0].Want(t, "ok", "events-list", d.token, program.Params{"after": after, "limit": 1000})
		for _, e := range page.Events {
			if path == "/all" || e.Kind == "request.created" {
				wanted[e.Number] = true
			}
		}
		if after = page.Position; !page.More {
			return wanted
		}
	}
}

// outcome describes what the receiver got.
func (d *deliveries) outcome(lost map[string][]int64) string {
	events, again, gone := 0, 0, 0
	for path, e := range d.receiver.endpoints {
		events, again, gone = events+len(e.numbers), again+e.calls-len(e.numbers), gone+len(lost[path])
	}
	return fmt.Sprintf("%d events delivered, %d lost, %d delivered again", events, gone, again)
}
