package torture_test

import (
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

// appState is what the model knows of an app: its key, how many requests it has, and
// whether it is deleted.
type appState struct {
	key     string
	n       int
	deleted bool
}

// The calls of the histories. They are answered with the new key, a number or a code;
// unknown is the answer to a call of which nobody can say what became of it.
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
	next  int // the next client's number
}

// do makes a call of a client and notes it. It reports whether there was an answer: a
// client without one must go on under another number, as its call may still happen.
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

// client is the number of one that has made no call yet.
func (h *history) client() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next++
	return h.next
}

// key is one of the last that were handed out.
func (h *history) key(r *rand.Rand) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.keys[max(0, len(h.keys)-1-r.IntN(3))]
}

// code is a call's answer in a history, which then has a value of its own.
func code(got program.Reply, err error, value func() any) any {
	switch {
	case err != nil || got.Status >= 500:
		return unknown
	case got.Code != "ok":
		return got.Code
	}
	return value()
}

// run lets clients call an app on all replicas until over is closed: some submit, one
// regenerates the key, one counts and, in every second history, one deletes the app.
func (h *history) run(t *testing.T, p *pair, app program.App, doomed bool, over <-chan struct{}) (wait func()) {
	var all sync.WaitGroup
	h.keys = []string{app.APIKey}
	start := func(seed uint64, pause time.Duration, call func(r *rand.Rand, c program.Client, client int) bool) {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1))
			client := h.client()
			tick := time.NewTicker(pause)
			defer tick.Stop()
			for {
				c := p.replicas[r.IntN(len(p.replicas))]
				if !call(r, c, client) {
					client = h.client()
					// Each call without an answer doubles what has to be looked at.
					program.Eventually(t, "the service is ready", func() bool { return program.Answers(t, c.URL+"/readyz") })
				}
				select {
				case <-over:
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

// awaitCalls waits until each of the histories has so many calls more.
func awaitCalls(t *testing.T, all []*history, more int) {
	t.Helper()
	for _, h := range all {
		want := h.len() + more
		program.Eventually(t, "the clients call", func() bool { return h.len() >= want })
	}
}

func (h *history) len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.calls)
}

// TestHistoriesOverFailover calls apps on three replicas while the primary is killed
// and its standby promoted. What was answered must be explained by the calls having
// happened one after the other, each between its beginning and its answer, and those
// without an answer at any later time or never.
func TestHistoriesOverFailover(t *testing.T) {
	beside(t)
	p := newPair(t, "*")
	histories, failed, unanswered := 0, 0, 0
	failovers := program.Times(1, 20)
	for i := range failovers {
		over := make(chan struct{})
		all := make([]*history, 10)
		apps := make([]program.App, len(all))
		waits := make([]func(), len(all))
		for j := range all {
			all[j], apps[j] = &history{}, p.replicas[0].AddApp(t, p.token)
		}
		for j, h := range all {
			waits[j] = h.run(t, p, apps[j], j%2 == 1, over)
		}
		awaitCalls(t, all, 15)
		p.fail(t)
		awaitCalls(t, all, 15)
		close(over)
		for j, h := range all {
			waits[j]()
			for _, c := range h.calls {
				if c.Output == unknown {
					unanswered++
				}
			}
			histories++
			switch porcupine.CheckOperationsTimeout(appModel(apps[j].APIKey), h.calls, storetest.Patience) {
			case porcupine.Illegal:
				failed++
				t.Errorf("history %d of failover %d cannot be explained: %+v", j, i, h.calls)
			case porcupine.Unknown:
				t.Errorf("history %d of failover %d was not explained within %v", j, i, storetest.Patience)
			}
		}
		if i < failovers-1 {
			p.mend(t)
		}
		p.token = p.replicas[0].Login(t)
	}
	if unanswered == 0 {
		t.Error("every call was answered: no history has gone over a failover")
	}
	measured(t, "%d histories over %d failovers, %d calls without an answer: %d cannot be explained", histories, failovers, unanswered, failed)
}
