package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"gatherkit/internal/events"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/webhook"
)

var ctx = context.Background()

// rig is a store with an account that has an app and a request, a sender, and an endpoint.
type rig struct {
	*storetest.Rig
	sender  *webhook.Sender
	account feedback.Account
	app     feedback.App
	request feedback.Request
	url     string

	mu     sync.Mutex
	got    []received
	answer func(w http.ResponseWriter, r received) // what the endpoint answers; 200 if nil
}

// received is a delivery that the endpoint got.
type received struct {
	header http.Header
	body   []byte
	data   events.FeedEvent
}

// loopback is where the endpoints of tests are.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

func newRig(t *testing.T, at storetest.Place) *rig {
	t.Helper()
	r := &rig{Rig: storetest.NewRig(t, at)}
	r.sender = r.newSender()
	r.account = r.NewAccount("Acme")
	r.app = r.NewApp(r.account)
	r.request = r.Fill(r.app, 1)
	server := httptest.NewServer(http.HandlerFunc(r.receive))
	t.Cleanup(server.Close)
	r.url = server.URL + "/endpoint"
	return r
}

func (r *rig) newSender() *webhook.Sender {
	return webhook.NewSender(r.Webhooks, webhook.Options{Home: "https://feedback.example.com/", Allow: loopback})
}

func (r *rig) receive(w http.ResponseWriter, call *http.Request) {
	one := received{header: call.Header}
	one.body, _ = io.ReadAll(call.Body)
	var message struct{ Data events.FeedEvent }
	_ = json.Unmarshal(one.body, &message)
	one.data = message.Data
	r.mu.Lock()
	r.got = append(r.got, one)
	answer := r.answer
	r.mu.Unlock()
	if answer != nil {
		answer(w, one)
	}
}

// answers sets what the endpoint answers.
func (r *rig) answers(fn func(w http.ResponseWriter, got received)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = fn
}

// status makes the endpoint answer with a status.
func (r *rig) status(code int) {
	r.answers(func(w http.ResponseWriter, _ received) { w.WriteHeader(code) })
}

// add adds a webhook for the endpoint.
func (r *rig) add(change func(*webhook.Webhook)) webhook.Webhook {
	r.T.Helper()
	w := webhook.Webhook{Name: "Desk", URL: r.url, Format: webhook.Events, Kinds: []string{}, State: webhook.On}
	if change != nil {
		change(&w)
	}
	w, err := r.Webhooks.Add(ctx, r.account.ID, feedback.Command(), w)
	if err != nil {
		r.T.Fatal(err)
	}
	return w
}

func (r *rig) get(w webhook.Webhook) webhook.Webhook {
	r.T.Helper()
	w, err := r.Webhooks.Get(ctx, r.account.ID, w.ID)
	if err != nil {
		r.T.Fatal(err)
	}
	return w
}

// change changes the title of the request n times, each of which is an event.
func (r *rig) change(n int) {
	r.T.Helper()
	for i := range n {
		_, err := r.ChangeRequest(ctx, r.account.ID, r.request.ID, feedback.Command(), func(q *feedback.Request) error {
			q.Title = fmt.Sprint(q.Title, i)
			return nil
		})
		if err != nil {
			r.T.Fatal(err)
		}
	}
}

// last is the last number of the log.
func (r *rig) last() int64 {
	r.T.Helper()
	last, err := r.Events.Last(ctx, r.account.ID)
	if err != nil {
		r.T.Fatal(err)
	}
	return last
}

// round makes the sender deliver what is due, and returns the numbers that the endpoint got, in their order.
func (r *rig) round() []int64 {
	r.T.Helper()
	if err := r.sender.Round(ctx); err != nil {
		r.T.Fatal(err)
	}
	numbers := []int64{}
	for _, one := range r.taken() {
		numbers = append(numbers, one.data.Number)
	}
	slices.Sort(numbers)
	return numbers
}

// taken returns what the endpoint got since the last call.
func (r *rig) taken() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.got
	r.got = nil
	return got
}

func (r *rig) attempts(w webhook.Webhook) []webhook.Attempt {
	r.T.Helper()
	list, err := r.Webhooks.Attempts(ctx, r.account.ID, w.ID, nil, 1_000)
	if err != nil {
		r.T.Fatal(err)
	}
	return list
}

// from returns n numbers from a first one on.
func from(first int64, n int) []int64 {
	list := []int64{}
	for i := range n {
		list = append(list, first+int64(i))
	}
	return list
}

func expect(t testing.TB, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
