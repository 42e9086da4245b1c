package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// delivered is how many events a measured endpoint receives in a round.
	delivered = 3_000
	// untilThere is how long that may take.
	untilThere = 2 * time.Minute
)

// endpoint is a server that receives what a webhook delivers.
type endpoint struct {
	rig
	server *http.Server
	id     string
	delay  atomic.Int64 // before an answer
	got    atomic.Int64 // deliveries
}

// measureWebhooks measures how fast events reach an endpoint that answers at once, and one that takes a
// while, and submissions beside an endpoint that receives them.
func measureWebhooks(ctx context.Context, o options, r rig) error {
	e, err := newEndpoint(ctx, r)
	if err != nil {
		return err
	}
	defer e.server.Close() //nolint:errcheck // it ends with the program
	if err := e.set(ctx, "paused"); err != nil {
		return err
	}
	var last int64
	for last < 2*delivered {
		if f := load(ctx, 16, o.during, r.submit); f.failures > 0 {
			return fmt.Errorf("%d submissions failed", f.failures)
		}
		if last, err = e.last(ctx); err != nil {
			return err
		}
	}
	fmt.Printf("\n| the endpoint answers | events/s delivered |\n| --- | --- |\n")
	for _, delay := range []time.Duration{0, 20 * time.Millisecond} {
		e.delay.Store(int64(delay))
		var rates []figures
		for range o.rounds {
			rate, err := e.deliver(ctx, last-delivered, delivered)
			if err != nil {
				return err
			}
			rates = append(rates, figures{rate: rate})
		}
		name := "at once"
		if delay > 0 {
			name = "after " + delay.String()
		}
		fmt.Printf("| %s | %.0f |\n", name, median(rates).rate)
	}
	e.delay.Store(0)
	return e.beside(ctx, o)
}

// beside measures submissions alone, with an endpoint that receives them, and with a caller that waits for
// events as well, in turn.
func (e *endpoint) beside(ctx context.Context, o options) error {
	const submitters = 16
	type mode struct {
		name              string
		receives, reading bool
		submits           []figures
		received, read    int64
		took              time.Duration
	}
	modes := []*mode{
		{name: "nothing"}, {name: "an endpoint", receives: true}, {name: "an endpoint and a caller that waits", receives: true, reading: true},
	}
	for range o.rounds {
		if err := e.logIn(ctx); err != nil { // the token may have expired
			return err
		}
		for _, m := range modes {
			last, err := e.last(ctx)
			if err != nil {
				return err
			}
			if err := e.rewind(ctx, last); err != nil {
				return err
			}
			stop := func() (int, error) { return 0, nil }
			if m.reading {
				stop = e.readFeed(ctx, 1, 0)
			}
			if m.receives {
				if err := e.set(ctx, "on"); err != nil {
					return err
				}
			}
			began, before := time.Now(), e.got.Load()
			m.submits = append(m.submits, load(ctx, submitters, o.during, e.submit))
			m.received, m.took = m.received+e.got.Load()-before, m.took+time.Since(began)
			if err := e.set(ctx, "paused"); err != nil {
				return err
			}
			n, err := stop()
			if err != nil {
				return err
			}
			m.read += int64(n)
		}
	}
	fmt.Printf("\n| what happens is followed by | submissions/s, %d callers | p50 | p99 | ratio | events/s delivered |"+
		" events/s read | failures |\n"+
		"| --- | --- | --- | --- | --- | --- | --- | --- |\n", submitters)
	alone := median(modes[0].submits)
	for _, m := range modes {
		f := median(m.submits)
		fmt.Printf("| %s | %.0f | %s | %s | %.2f | %.0f | %.0f | %d |\n", m.name, f.rate, ms(f.p50), ms(f.p99), f.rate/alone.rate,
			float64(m.received)/m.took.Seconds(), float64(m.read)/m.took.Seconds(), f.failures)
	}
	return nil
}

// newEndpoint starts a server, and adds a webhook for it.
func newEndpoint(ctx context.Context, r rig) (*endpoint, error) {
	e := &endpoint{rig: r}
	e.server = &http.Server{ReadHeaderTimeout: deadline, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		time.Sleep(time.Duration(e.delay.Load()))
		if r.Header.Get("webhook-id") != "" {
			e.got.Add(1)
		}
	})}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() { _ = e.server.Serve(listener) }()
	var created struct{ Webhook struct{ ID string } }
	err = r.call(ctx, "webhooks-create", fmt.Sprintf(`{"name":"Bench","url":"http://%s/"}`, listener.Addr()), &created)
	e.id = created.Webhook.ID
	return e, err
}

// last returns the last number of the log.
func (e *endpoint) last(ctx context.Context) (int64, error) {
	var page struct{ Position int64 }
	err := e.call(ctx, "events-list", `{}`, &page)
	return page.Position, err
}

func (e *endpoint) set(ctx context.Context, state string) error {
	return e.call(ctx, "webhooks-update", fmt.Sprintf(`{"id":%q,"state":%q}`, e.id, state), nil)
}

func (e *endpoint) rewind(ctx context.Context, after int64) error {
	return e.call(ctx, "webhooks-rewind", fmt.Sprintf(`{"id":%q,"after":%d}`, e.id, after), nil)
}

// deliver returns how many events a second arrive, when n of them after a number are delivered again.
func (e *endpoint) deliver(ctx context.Context, after, n int64) (float64, error) {
	if err := e.rewind(ctx, after); err != nil {
		return 0, err
	}
	before := e.got.Load()
	if err := e.set(ctx, "on"); err != nil {
		return 0, err
	}
	began := time.Now()
	for e.got.Load() < before+n {
		if time.Since(began) > untilThere {
			return 0, fmt.Errorf("only %d of %d events have arrived", e.got.Load()-before, n)
		}
		time.Sleep(time.Millisecond)
	}
	took := time.Since(began)
	return float64(n) / took.Seconds(), e.set(ctx, "paused")
}
