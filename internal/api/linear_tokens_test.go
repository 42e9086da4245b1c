package api

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"

	"github.com/anishathalye/porcupine"

	"gatherkit/internal/feedback"
	"gatherkit/internal/headers"
	"gatherkit/internal/store/storetest"
)

// The model of a token for programs: whether it was revoked.
type (
	useToken    struct{} // the answer is a code
	revokeToken struct{} // the answer is a code
)

var tokenModel = porcupine.Model{
	Init: func() any { return false },
	Step: func(state, input, output any) (bool, any) {
		want := "ok"
		_, revokes := input.(revokeToken)
		revoked := state.(bool)
		switch {
		case revoked && revokes:
			want = feedback.ErrTokenNotFound.Code
		case revoked:
			want = feedback.ErrInvalidToken.Code
		}
		return output == want, revoked || revokes
	},
}

// tokenHistory records a history of clients that call with a token of a program, while one revokes it.
func tokenHistory(t testing.TB, s *service, apis []http.Handler, seed uint64) (*history, porcupine.Model) {
	t.Helper()
	id, secret := s.token("owner", `{"name":"CI","scope":"viewer"}`)
	h := &history{}
	worked := make(chan struct{})
	working := sync.OnceFunc(func() { close(worked) })
	call := func(client int) {
		defer working()
		r := rand.New(rand.NewPCG(seed, uint64(client)))
		for range 8 {
			api := apis[r.IntN(len(apis))]
			h.do(client, useToken{}, func() any { return s.at(api, "tags-list", secret, "").code(t) })
			working()
		}
	}
	revoke := func(client int) {
		<-worked
		for i := range 2 {
			api := apis[(int(seed)+i)%len(apis)]
			h.do(client, revokeToken{}, func() any { return s.at(api, "tokens-revoke", s.names["owner"], `{"id":"`+id+`"}`).code(t) })
		}
	}
	together(call, call, call, revoke)
	return h, tokenModel
}

// TestTokenIsLinearizable: after the revocation of a token is answered, all processes refuse it.
func TestTokenIsLinearizable(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		answers := map[any]int{}
		for seed := range *histories {
			h, model := tokenHistory(t, s, apis, seed)
			if !h.explained(model) {
				t.Fatalf("history %d cannot be explained:\n%s", seed, h)
			}
			for _, c := range h.calls {
				if _, ok := c.Input.(useToken); ok {
					answers[c.Output]++
				}
			}
		}
		if len(answers) != 2 {
			t.Errorf("calls were answered %v: the histories must show before and after", answers)
		}
	})
}

// grantCache simulates a bug: after a token worked, it accepts a few calls without looking it up. It makes
// them with another token.
type grantCache struct {
	*API
	other string
	mu    sync.Mutex
	left  map[string]int
}

func (c *grantCache) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	token := headers.Bearer(r)
	if c.left[token] > 0 {
		c.left[token]--
		r.Header.Set("Authorization", "Bearer "+c.other)
	} else if _, err := c.Store.Tokens.Find(r.Context(), token); err == nil {
		c.left[token] = 5
	}
	c.mu.Unlock()
	c.API.ServeHTTP(w, r)
}

// TestGrantCacheIsCaught: the test above fails if a process caches what a token allows.
func TestGrantCacheIsCaught(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		_, other := s.token("owner", `{"name":"Other","scope":"viewer"}`)
		apis[0] = &grantCache{API: s.api, other: other, left: map[string]int{}}
		const enough = 40
		for seed := range uint64(enough) {
			if h, model := tokenHistory(t, s, apis, seed); !h.explained(model) {
				return
			}
		}
		t.Errorf("%d histories of a service that caches what tokens allow were all explained", enough)
	})
}
