package api

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/anishathalye/porcupine"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// These tests call two processes on one database from several sides at once and ask
// whether what was answered can be explained by the calls having happened one after
// the other, each at some moment between its beginning and its answer.

// The model of an app: its key, and how many requests it has.
type (
	appState struct {
		key string
		n   int
	}
	submitWith string   // a key; answered with a code
	regenerate struct{} // answered with the new key
	countThem  struct{} // answered with a number
)

func appModel(key string) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return appState{key: key} },
		Step: func(state, input, output any) (bool, any) {
			app := state.(appState)
			switch call := input.(type) {
			case submitWith:
				if string(call) != app.key {
					return output == feedback.ErrInvalidAPIKey.Code, app
				}
				return output == "ok", appState{app.key, app.n + 1}
			case regenerate:
				return true, appState{output.(string), app.n}
			case countThem:
				return output == app.n, app
			}
			return false, app
		},
	}
}

// keyHistory lets clients submit with the keys that they know while one regenerates
// them and one counts.
func keyHistory(t testing.TB, s *service, apis []http.Handler, seed uint64) (*history, porcupine.Model) {
	t.Helper()
	app := s.must("apps-create", "owner", `{"name": "A"}`)["app"].(map[string]any)
	id, first := app["id"].(string), app["api_key"].(string)
	h, keys := &history{}, &known{list: []string{first}}
	submit := func(client int) {
		r := rand.New(rand.NewPCG(seed, uint64(client)))
		for range 5 {
			key, api := keys.pick(r), apis[r.IntN(len(apis))]
			h.do(client, submitWith(key), func() any {
				return s.at(api, "widget-submit-request", key, `{"title":"T","description":""}`).code(t)
			})
		}
	}
	rekey := func(client int) {
		for i := range 3 {
			h.do(client, regenerate{}, func() any {
				_, result := resultOf(t, s.at(apis[i%len(apis)], "apps-regenerate-key", s.names["owner"], `{"id":"`+id+`"}`))
				key := result["app"].(map[string]any)["api_key"].(string)
				keys.add(key)
				return key
			})
		}
	}
	count := func(client int) {
		for i := range 5 {
			h.do(client, countThem{}, func() any {
				_, result := resultOf(t, s.at(apis[i%len(apis)], "requests-list", s.names["owner"], `{"limit":1,"app_id":"`+id+`"}`))
				return int(result["total_count"].(float64))
			})
		}
	}
	together(submit, submit, submit, rekey, count)
	return h, appModel(first)
}

// TestKeyIsLinearizable: from the moment that a new key is handed out no submission
// with the old one gets through, and every one that was accepted is counted.
func TestKeyIsLinearizable(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		for seed := range uint64(20) {
			if h, model := keyHistory(t, s, apis, seed); !h.explained(model) {
				t.Fatalf("history %d cannot be explained:\n%s", seed, h)
			}
		}
	})
}

// keyCache is a mistake that a process could make: it remembers which app a key
// belongs to for a few submissions instead of asking.
type keyCache struct {
	*API
	mu    sync.Mutex
	left  map[string]int
	appOf map[string]feedback.App
}

func (c *keyCache) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/widget-submit-request") {
		r.Header.Set("X-API-Key", c.current(r, r.Header.Get("X-API-Key")))
	}
	c.API.ServeHTTP(w, r)
}

// current is the present key of the app whose key was looked up not long ago.
func (c *keyCache) current(r *http.Request, key string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left[key] > 0 {
		c.left[key]--
		app := c.appOf[key]
		if app, err := c.Store.App(r.Context(), app.AccountID, app.ID); err == nil {
			return app.APIKey
		}
		return key
	}
	if app, err := c.Store.AppByKey(r.Context(), key); err == nil {
		c.left[key], c.appOf[key] = 5, app
	}
	return key
}

// TestKeyCacheIsCaught: the test above would notice a process that caches keys.
func TestKeyCacheIsCaught(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		apis[0] = &keyCache{API: s.api, left: map[string]int{}, appOf: map[string]feedback.App{}}
		const histories = 40
		for seed := range uint64(histories) {
			if h, model := keyHistory(t, s, apis, seed); !h.explained(model) {
				return
			}
		}
		t.Errorf("%d histories of a service that caches keys were all explained", histories)
	})
}

// The model of a session: the refresh tokens in the order in which they follow each
// other, of which the last is unspent. Its clock stands still.
type (
	sessionState struct {
		tokens string // separated by spaces
		dead   bool
	}
	refreshWith string // a refresh token; answered with refreshed
	refreshed   struct{ code, refresh string }
	callWith    string // an access token; answered with a code
)

func sessionModel(refresh string) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return sessionState{tokens: refresh} },
		Step: func(state, input, output any) (bool, any) {
			session := state.(sessionState)
			if _, ok := input.(callWith); ok {
				want := "ok"
				if session.dead {
					want = feedback.ErrInvalidToken.Code
				}
				return output == want, session
			}
			refused := refreshed{code: feedback.ErrInvalidRefreshToken.Code}
			got, tokens := output.(refreshed), strings.Fields(session.tokens)
			i := slices.Index(tokens, string(input.(refreshWith)))
			switch {
			case session.dead || i < 0:
				return got == refused, session
			case i == len(tokens)-1:
				fresh := got.code == "ok" && !slices.Contains(tokens, got.refresh)
				return fresh, sessionState{tokens: session.tokens + " " + got.refresh}
			case i == len(tokens)-2:
				return got == refreshed{"ok", tokens[i+1]}, session
			}
			return got == refused, sessionState{session.tokens, true}
		},
	}
}

// TestRefreshIsLinearizable: a spent refresh token yields its successor again as long
// as that is unspent, and ends the session after that.
func TestRefreshIsLinearizable(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		ended, again := 0, 0
		for seed := range uint64(20) {
			name := fmt.Sprintf("user%d", seed)
			s.addUser("Acme", name, feedback.RoleViewer)
			h := &history{}
			refreshes, accesses := &known{list: []string{s.names[name+"_refresh"]}}, &known{list: []string{s.names[name]}}
			refresh := func(client int) {
				r := rand.New(rand.NewPCG(seed, uint64(client)))
				for range 5 {
					token, api := refreshes.pick(r), apis[r.IntN(len(apis))]
					h.do(client, refreshWith(token), func() any {
						code, result := resultOf(t, s.at(api, "auth-refresh", "", `{"refresh_token":"`+token+`"}`))
						if code != "ok" {
							return refreshed{code: code}
						}
						accesses.add(result["access_token"].(string))
						refreshes.add(result["refresh_token"].(string))
						return refreshed{code, result["refresh_token"].(string)}
					})
				}
			}
			call := func(client int) {
				r := rand.New(rand.NewPCG(seed, uint64(client)))
				for range 6 {
					token, api := accesses.pick(r), apis[r.IntN(len(apis))]
					h.do(client, callWith(token), func() any { return s.at(api, "auth-me", token, "").code(t) })
				}
			}
			together(refresh, refresh, refresh, call)
			if !h.explained(sessionModel(s.names[name+"_refresh"])) {
				t.Fatalf("history %d cannot be explained:\n%s", seed, h)
			}
			answers := map[any]int{}
			for _, c := range h.calls {
				answers[c.Output]++
			}
			refused := refreshed{code: feedback.ErrInvalidRefreshToken.Code}
			if answers[refused] > 0 {
				ended++
			}
			for answer, n := range answers {
				if next, ok := answer.(refreshed); ok && next != refused && n > 1 {
					again++
				}
			}
		}
		if ended == 0 || again == 0 {
			t.Errorf("%d sessions were ended, %d successors handed out again: the histories must show both", ended, again)
		}
	})
}

// The model of a request: whether it is in the bin, and its version.
type (
	requestState struct {
		bin     bool
		version int
	}
	requestCall string // an operation, or "count"; answered with requestAnswer
	// requestAnswer holds the version, or for a count the number.
	requestAnswer struct {
		code string
		n    int
	}
)

var requestModel = porcupine.Model{
	Init: func() any { return requestState{version: 1} },
	Step: func(state, input, output any) (bool, any) {
		r := state.(requestState)
		missing := requestAnswer{code: feedback.ErrRequestNotFound.Code}
		next, want := r, requestAnswer{"ok", r.version}
		switch input.(requestCall) {
		case "count":
			if want.n = 1; r.bin {
				want.n = 0
			}
		case "requests-get":
			if r.bin {
				want = missing
			}
		case "requests-delete":
			if want = missing; !r.bin {
				next, want = requestState{true, r.version + 1}, requestAnswer{code: "ok"}
			}
		case "requests-restore":
			if r.bin {
				next = requestState{false, r.version + 1}
				want.n = next.version
			}
		}
		return output == want, next
	},
}

// TestBinIsLinearizable: a request is in the bin or it is not, for everybody at once,
// and the count agrees.
func TestBinIsLinearizable(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		for seed := range uint64(20) {
			app := s.must("apps-create", "owner", `{"name": "A"}`)["app"].(map[string]any)
			s.names["key"] = app["api_key"].(string)
			id := s.submit("T")
			h := &history{}
			client := func(client int) {
				r := rand.New(rand.NewPCG(seed, uint64(client)))
				for range 5 {
					operation := []string{"requests-delete", "requests-restore", "requests-get", "count"}[r.IntN(4)]
					api := apis[r.IntN(len(apis))]
					h.do(client, requestCall(operation), func() any {
						if operation == "count" {
							code, result := resultOf(t, s.at(api, "requests-list", s.names["viewer"], `{"app_id":"`+app["id"].(string)+`"}`))
							return requestAnswer{code, int(result["total_count"].(float64))}
						}
						code, result := resultOf(t, s.at(api, operation, s.names["member"], `{"id":"`+id+`"}`))
						if request, ok := result["request"].(map[string]any); ok {
							return requestAnswer{code, int(request["version"].(float64))}
						}
						return requestAnswer{code: code}
					})
				}
			}
			together(client, client, client, client)
			if !h.explained(requestModel) {
				t.Fatalf("history %d cannot be explained:\n%s", seed, h)
			}
		}
	})
}
