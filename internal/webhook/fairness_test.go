package webhook_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/quota"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/webhook"
)

// TestFairness measures how long deliveries of an account take beside another account with 20 hostile
// endpoints, and compares them with those of an installation without it. The two take turns, so that a busy
// machine delays both.
func TestFairness(t *testing.T) {
	storetest.EachInTurn(t, func(t *testing.T, at storetest.Place) {
		beside := newQuiet(t, at)
		alone := newQuiet(t, at.Another(t))
		calls := beside.addHostile(t)
		beside.run(t)
		alone.run(t)
		await(calls, 16) // as many as an account can have
		var with, without []time.Duration
		for range 60 {
			with = append(with, beside.deliver(t))
			without = append(without, alone.deliver(t))
		}
		await(calls, 16)
		for share, most := range map[float64]time.Duration{.5: time.Second, .95: 2 * time.Second, .99: 4 * time.Second} {
			a, b := quantile(with, share), quantile(without, share)
			t.Logf("%v of the deliveries take %v beside hostile endpoints, and %v without", share, a, b)
			if a > max(most, 2*b) {
				t.Errorf("%v of the deliveries take %v beside hostile endpoints, and %v without", share, a, b)
			}
		}
	})
}

// await waits until a number is large enough.
func await(n *atomic.Int64, enough int64) {
	for n.Load() < enough {
		time.Sleep(time.Millisecond)
	}
}

// quiet is an account with an endpoint that works.
type quiet struct {
	*storetest.Rig
	sender  *webhook.Sender
	app     feedback.App
	arrived chan time.Time
}

func newQuiet(t *testing.T, at storetest.Place) quiet {
	t.Helper()
	rig, sender := newSender(t, at, "127.0.0.0/8")
	account := rig.NewAccount("Quiet")
	q := quiet{rig, sender, rig.NewApp(account), make(chan time.Time, 100)}
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { q.arrived <- time.Now() }))
	t.Cleanup(receiver.Close)
	addWebhook(t, rig, account, receiver.URL)
	return q
}

// addHostile adds an account with 20 endpoints and events for them, and returns how many calls of them are
// in progress. Half of the endpoints never answer. The others answer late, so that they do not fail.
func (q quiet) addHostile(t *testing.T) *atomic.Int64 {
	t.Helper()
	calls := new(atomic.Int64)
	count := func(serve func(net.Conn)) string {
		return endpoint(t, func(c net.Conn) {
			calls.Add(1)
			defer calls.Add(-1)
			serve(c)
		})
	}
	silent := count(hang)
	slow := count(func(c net.Conn) {
		_ = c.SetReadDeadline(time.Now().Add(webhook.CallTime - 3*time.Second))
		hang(c)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
	})
	account := q.NewAccount("Hostile")
	app := q.NewApp(account)
	for range quota.MaxWebhooks / 2 {
		addWebhook(t, q.Rig, account, silent)
		addWebhook(t, q.Rig, account, slow)
	}
	q.Fill(app, 100)
	return calls
}

// run delivers until the test ends.
func (q quiet) run(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { q.sender.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
}

// deliver submits a request and returns how long the delivery takes.
func (q quiet) deliver(t *testing.T) time.Duration {
	t.Helper()
	_, err := q.Submit(context.Background(), store.Submission{App: q.app, Request: feedback.NewRequest("Wish", "")})
	if err != nil {
		t.Fatal(err)
	}
	committed := time.Now()
	select {
	case arrived := <-q.arrived:
		return max(0, arrived.Sub(committed))
	case <-time.After(storetest.Patience):
		t.Fatal("a delivery does not arrive")
		return 0
	}
}

// quantile returns the value below which a share of the list is.
func quantile(list []time.Duration, share float64) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[int(share*float64(len(list)))]
}
