package api

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"

	"gatherkit/internal/store/storetest"
)

// history records calls and their answers.
type history struct {
	clock atomic.Int64
	mu    sync.Mutex
	calls []porcupine.Operation
}

// do records a call of a client.
func (h *history) do(client int, input any, call func() any) {
	began := h.clock.Add(1)
	output := call()
	ended := h.clock.Add(1)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, porcupine.Operation{ClientId: client, Input: input, Call: began, Output: output, Return: ended})
}

// explained reports whether the history is linearizable according to the model.
func (h *history) explained(model porcupine.Model) bool {
	return porcupine.CheckOperations(model, h.calls)
}

func (h *history) String() string {
	var b strings.Builder
	slices.SortFunc(h.calls, func(x, y porcupine.Operation) int { return int(x.Call - y.Call) })
	for _, c := range h.calls {
		fmt.Fprintf(&b, "%3d to %3d: client %d, %+v: %+v\n", c.Call, c.Return, c.ClientId, c.Input, c.Output)
	}
	return b.String()
}

// replicas returns a service and three processes of it on one database.
func replicas(t testing.TB, at storetest.Place) (*service, []http.Handler) {
	t.Helper()
	s := newService(t, at)
	apis := []http.Handler{s.api}
	for range 2 {
		apis = append(apis, newAPI(t, at.Open(t, s.clock.Now), s.clock))
	}
	return s, apis
}

// resultOf returns the code and the result of an answer.
func resultOf(t testing.TB, a answer) (string, map[string]any) {
	t.Helper()
	var envelope struct {
		Result map[string]any `json:"result"`
	}
	if err := json.Unmarshal(a.body, &envelope); err != nil {
		t.Error(err)
	}
	return a.code(t), envelope.Result
}

// at calls one of the replicas with a token or a key.
func (s *service) at(h http.Handler, operation, secret, body string) answer {
	r := s.request(operation, "", body)
	if strings.HasPrefix(secret, "gk_") {
		r.Header.Set("X-API-Key", secret)
	} else if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	return serve(h, r)
}

// together runs clients concurrently.
func together(clients ...func(client int)) {
	var wg sync.WaitGroup
	for i, client := range clients {
		wg.Go(func() { client(i) })
	}
	wg.Wait()
}

// known is the list of secrets or ids that clients have received so far.
type known struct {
	mu   sync.Mutex
	list []string
}

func (k *known) add(secret string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Contains(k.list, secret) {
		k.list = append(k.list, secret)
	}
}

// pick usually returns one of the last two.
func (k *known) pick(r *rand.Rand) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	back := r.IntN(2)
	if r.IntN(8) == 0 {
		back = r.IntN(len(k.list))
	}
	return k.list[max(0, len(k.list)-1-back)]
}

// pickAny returns any of them.
func (k *known) pickAny(r *rand.Rand) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.list[r.IntN(len(k.list))]
}
