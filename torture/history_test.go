package torture_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// appState is the state of an app in the model.
type appState struct {
	key     string
	n       int // number of requests
	deleted bool
}

// The calls of the histories. Their answers are the new key, a number or a code, or unknown
// if there was no answer.
type (
	submitWith string // a key
	regenerate struct{}
	countThem  struct{}
	deleteApp  struct{}
)

const unknown = ""

func appModel(key string) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return appState{key: key} },
		Step: func(state, input, output any) (bool, any) {
			app := state.(appState)
			code := func(refusal string) bool { return output == unknown || output == refusal }
			if call, ok := input.(submitWith); ok {
				if string(call) != app.key || app.deleted {
					return code("auth.invalid_api_key"), app
				}
				app.n++
				return code("ok"), app
			}
			if app.deleted {
				return code("apps.not_found"), app
			}
			switch input.(type) {
			case regenerate:
				key := output.(string)
				if key == unknown {
					key = "a key that nobody has seen"
				}
				app.key = key
				return key != "apps.not_found", app
			case countThem:
				return output == unknown || output == app.n, app
			case deleteApp:
				app.deleted = true
				return code("ok"), app
			}
			return false, app
		},
	}
}

// history is the calls to one app.
type history struct {
	mu    sync.Mutex
	calls []porcupine.Operation
	keys  []string
	next  int // the number of the last client
}

// The work of the checker doubles with each call without an answer, so a history ends after
// maxUnanswered of them, and the checker gives up after checkTime.
const (
	maxUnanswered = 8
	checkTime     = 30 * time.Second
)

// over reports whether the history has so many calls without an answer that it ends.
func (h *history) over() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.unanswered() >= maxUnanswered
}

func (h *history) unanswered() (n int) {
	for _, c := range h.calls {
		if c.Output == unknown {
			n++
		}
	}
	return n
}

// verdicts counts what the checker found in histories.
type verdicts struct{ histories, illegal, inconclusive, unanswered int }

// check checks a history. The test fails if the model does not explain it.
func (v *verdicts) check(t *testing.T, name string, model porcupine.Model, calls []porcupine.Operation, unanswered int) {
	t.Helper()
	v.histories++
	v.unanswered += unanswered
	switch porcupine.CheckOperationsTimeout(model, calls, checkTime) {
	case porcupine.Illegal:
		v.illegal++
		t.Errorf("%s cannot be explained: %+v", name, calls)
	case porcupine.Unknown:
		v.inconclusive++
		t.Logf("%s is inconclusive after %v: %d calls, %d without an answer", name, checkTime, len(calls), unanswered)
	}
}

// conclude fails the test if too few histories show anything.
func (v *verdicts) conclude(t *testing.T) {
	t.Helper()
	if v.unanswered == 0 {
		t.Error("every call was answered: no history spans a failover")
	}
	if 2*v.inconclusive > v.histories {
		t.Errorf("%d of %d histories are inconclusive", v.inconclusive, v.histories)
	}
}

func (v *verdicts) String() string {
	return fmt.Sprintf("%d histories, %d calls without an answer: %d cannot be explained, %d inconclusive",
		v.histories, v.unanswered, v.illegal, v.inconclusive)
}

// do makes a call as a client and records it. It reports whether there was an answer. A client
// without one must continue with another number, because its call may still be executed.
func (h *history) do(client int, input any, call func() any) bool {
	began := time.Now().UnixNano()
	output := call()
	ended := time.Now().UnixNano()
	if output == unknown {
		ended = math.MaxInt64
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, porcupine.Operation{ClientId: client, Input: input, Call: began, Output: output, Return: ended})
	if key, ok := output.(string); ok && strings.HasPrefix(key, "gk_") {
		h.keys = append(h.keys, key)
	}
	return output != unknown
}

// client returns a number for a new client.
func (h *history) client() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next++
	return h.next
}

// key returns one of the last three keys.
func (h *history) key(r *rand.Rand) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.keys[max(0, len(h.keys)-1-r.IntN(3))]
}

// code returns the answer to a call: value() if it succeeded, otherwise its code or unknown.
func code(got program.Reply, err error, value func() any) any {
	switch {
	case err != nil || got.Status >= 500:
		return unknown
	case got.Code != "ok":
		return got.Code
	}
	return value()
}

// run starts clients that call an app on all replicas until done is closed: two submit, one
// regenerates the key, one counts and, if the app is doomed, one deletes it.
func (h *history) run(t *testing.T, p *pair, app program.App, doomed bool, done <-chan struct{}) (wait func()) {
	var all sync.WaitGroup
	h.keys = []string{app.APIKey}
	start := func(seed uint64, pause time.Duration, call func(r *rand.Rand, c program.Client, client int) bool) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			client := h.client()
			tick := time.NewTicker(pause)
			defer tick.Stop()
			for !h.over() {
				c := p.replicas[r.IntN(len(p.replicas))]
				if !call(r, c, client) {
					client = h.client()
					program.Eventually(t, "the service is ready", func() bool { return program.Answers(t, c.URL+"/readyz") })
				}
				select {
				case <-done:
					return
				case <-tick.C:
				}
			}
		})
	}
	ok := func() any { return "ok" }
	for i := range uint64(2) {
		start(i, 200*time.Millisecond, func(r *rand.Rand, c program.Client, client int) bool {
			key := h.key(r)
			return h.do(client, submitWith(key), func() any {
				got, err := c.Call("widget-submit-request", key, program.Params{"title": "T", "description": ""})
				return code(got, err, ok)
			})
		})
	}
	start(2, 700*time.Millisecond, func(_ *rand.Rand, c program.Client, client int) bool {
		return h.do(client, regenerate{}, func() any {
			got, err := c.Call("apps-regenerate-key", p.token, program.Params{"id": app.ID})
			return code(got, err, func() any { return got.App.APIKey })
		})
	})
	start(3, 300*time.Millisecond, func(_ *rand.Rand, c program.Client, client int) bool {
		return h.do(client, countThem{}, func() any {
			got, err := c.Call("requests-list", p.token, program.Params{"app_id": app.ID, "limit": 1})
			return code(got, err, func() any { return got.TotalCount })
		})
	})
	if doomed {
		calls := 0
		start(4, 500*time.Millisecond, func(_ *rand.Rand, c program.Client, client int) bool {
			calls++
			if calls != 4 { // in the middle of the failover
				return true
			}
			return h.do(client, deleteApp{}, func() any {
				got, err := c.Call("apps-delete", p.token, program.Params{"id": app.ID})
				return code(got, err, ok)
			})
		})
	}
	return all.Wait
}

// awaitCalls waits until each of the histories has the given number of additional calls.
func awaitCalls(t *testing.T, all []*history, more int) {
	t.Helper()
	for _, h := range all {
		want := h.len() + more
		program.Eventually(t, "the clients make calls", func() bool { return h.len() >= want || h.over() })
	}
}

func (h *history) len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.calls)
}

// TestHistoriesOverFailover calls apps on three replicas while the primary is killed and its
// standby promoted. The answers must be possible if the calls had run one after the other:
// each between its start and its answer, and those without an answer at any later time or
// never.
func TestHistoriesOverFailover(t *testing.T) {
	storetest.Proof(t)
	parallel(t)
	p := newPair(t, "*")
	var found verdicts
	failovers := program.Times(1, 20)
	for i := range failovers {
		done := make(chan struct{})
		all := make([]*history, 10)
		apps := make([]program.App, len(all))
		waits := make([]func(), len(all))
		for j := range all {
			all[j], apps[j] = &history{}, p.replicas[0].AddApp(t, p.token)
		}
		for j, h := range all {
			waits[j] = h.run(t, p, apps[j], j%2 == 1, done)
		}
		awaitCalls(t, all, 15)
		p.fail(t)
		awaitCalls(t, all, 15)
		close(done)
		for j, h := range all {
			waits[j]()
			found.check(t, fmt.Sprintf("history %d of failover %d", j, i), appModel(apps[j].APIKey), h.calls, h.unanswered())
		}
		if i < failovers-1 {
			p.mend(t)
		}
		p.token = p.replicas[0].Login(t)
	}
	found.conclude(t)
	measured(t, "%d failovers, %v", failovers, &found)
}
