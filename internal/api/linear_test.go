package api

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/anishathalye/porcupine"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// These tests make concurrent calls to three processes on one database and check whether the
// answers are linearizable: as if the calls had run one after the other, each at some moment
// between its start and its end.

var histories = flag.Uint64("histories", 10, "how many histories of each kind are made on each database")

// appHistory records a history of clients that submit with the keys that they know, while one
// regenerates the key and one counts requests. Optionally, others delete the app and read its
// first request.
func appHistory(t testing.TB, s *service, apis []http.Handler, seed uint64, deleted bool) (*history, porcupine.Model) {
	t.Helper()
	app := s.must("apps-create", "owner", `{"name": "A"}`)["app"].(map[string]any)
	id, first := app["id"].(string), app["api_key"].(string)
	s.names["key"] = first
	request := s.submit("T")
	h, keys := &history{}, &known{list: []string{first}}
	one := `{"id":"` + id + `"}`
	stored := make(chan struct{})
	storing := sync.OnceFunc(func() { close(stored) })
	submit := func(client int) {
		defer storing()
		r := rand.New(rand.NewPCG(seed, uint64(client)))
		for range 5 {
			key, api := keys.pick(r), apis[r.IntN(len(apis))]
			h.do(client, submitWith(key), func() any {
				code := s.at(api, "widget-submit-request", key, `{"title":"T","description":""}`).code(t)
				if code == "ok" {
					storing()
				}
				return code
			})
		}
	}
	rekey := func(client int) {
		for i := range 3 {
			h.do(client, regenerate{}, func() any {
				code, result := resultOf(t, s.at(apis[i%len(apis)], "apps-regenerate-key", s.names["owner"], one))
				if code != "ok" {
					return code
				}
				key := result["app"].(map[string]any)["api_key"].(string)
				keys.add(key)
				return key
			})
		}
	}
	count := func(client int) {
		for i := range 5 {
			h.do(client, countThem{}, func() any {
				code, result := resultOf(t, s.at(apis[i%len(apis)], "requests-list", s.names["owner"], `{"limit":1,"app_id":"`+id+`"}`))
				if code != "ok" {
					return code
				}
				return int(result["total_count"].(float64))
			})
		}
	}
	// remove reads a few times before it deletes the app, and once after. In every other
	// history, it waits for the first submission, because it might always come first on a busy
	// machine.
	remove := func(client int) {
		if seed%2 == 0 {
			<-stored
		}
		r := rand.New(rand.NewPCG(seed, uint64(client)))
		read := func() any {
			return s.at(apis[r.IntN(len(apis))], "requests-get", s.names["viewer"], `{"id":"`+request+`"}`).code(t)
		}
		for range r.IntN(6) {
			h.do(client, readFirst{}, read)
		}
		h.do(client, deleteApp{}, func() any { return s.at(apis[r.IntN(len(apis))], "apps-delete", s.names["admin"], one).code(t) })
		h.do(client, readFirst{}, read)
	}
	clients := []func(int){submit, submit, submit, rekey, count}
	if deleted {
		clients = []func(int){submit, submit, rekey, count, remove, remove}
	}
	together(clients...)
	return h, appModel(first, 1)
}

// TestKeyIsLinearizable: after a new key is returned, submissions with the old one fail. All
// accepted submissions are counted.
func TestKeyIsLinearizable(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		for seed := range *histories {
			if h, model := appHistory(t, s, apis, seed, false); !h.explained(model) {
				t.Fatalf("history %d cannot be explained:\n%s", seed, h)
			}
		}
	})
}

// TestAppDeletionIsLinearizable: after an app is deleted, no call finds the app, its key or its
// requests.
func TestAppDeletionIsLinearizable(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		answers := map[any]int{}
		for seed := range *histories {
			h, model := appHistory(t, s, apis, seed, true)
			if !h.explained(model) {
				t.Fatalf("history %d cannot be explained:\n%s", seed, h)
			}
			for _, c := range h.calls {
				if _, ok := c.Input.(submitWith); ok {
					answers[c.Output]++
				}
			}
			if _, err := s.store.Purge(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if len(answers) != 2 {
			t.Errorf("submissions were answered %v: the histories must show before and after", answers)
		}
	})
}

// keyCache simulates a bug: it caches the app of a key for a few submissions.
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

// current returns the current key of the app whose key is cached.
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

// TestKeyCacheIsCaught: the test above fails if a process caches keys.
func TestKeyCacheIsCaught(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		apis[0] = &keyCache{API: s.api, left: map[string]int{}, appOf: map[string]feedback.App{}}
		const enough = 40
		for seed := range uint64(enough) {
			if h, model := appHistory(t, s, apis, seed, false); !h.explained(model) {
				return
			}
		}
		t.Errorf("%d histories of a service that caches keys were all explained", enough)
	})
}

// TestRefreshIsLinearizable: a used refresh token returns the same new token until that has
// been used, and ends the session after that.
func TestRefreshIsLinearizable(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		ended, again := 0, 0
		for seed := range *histories {
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

// TestBinIsLinearizable: all callers agree on whether a request is in the bin, and on the
// count.
func TestBinIsLinearizable(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		for seed := range *histories {
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

// TestVotesAreLinearizable: each vote is answered with how many there are by then, and
// counts from its answer on for everybody.
func TestVotesAreLinearizable(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		for seed := range *histories {
			app := s.must("apps-create", "owner", `{"name": "A"}`)["app"].(map[string]any)
			s.names["key"] = app["api_key"].(string)
			id := s.submit("T")
			h := &history{}
			votes := func(name string, a answer) any {
				code, result := resultOf(t, a)
				if request, ok := result["request"].(map[string]any); ok {
					result = request
				}
				if code != "ok" {
					return name + ": " + code
				}
				return int(result["votes"].(float64))
			}
			client := func(client int) {
				r := rand.New(rand.NewPCG(seed, uint64(client)))
				for range 6 {
					api, cast := apis[r.IntN(len(apis))], castVote{r.IntN(3), r.IntN(3) == 0}
					body := fmt.Sprintf(`{"request_id":%q,"external_id":"%d"}`, id, cast.voter)
					operation := "votes-add"
					if cast.remove {
						operation = "votes-remove"
					}
					if r.IntN(4) == 0 {
						h.do(client, readVotes{}, func() any {
							return votes("requests-get", s.at(api, "requests-get", s.names["viewer"], `{"id":"`+id+`"}`))
						})
						continue
					}
					h.do(client, cast, func() any { return votes(operation, s.at(api, operation, s.names["member"], body)) })
				}
			}
			together(client, client, client, client, client, client)
			if !h.explained(votesModel) {
				t.Fatalf("history %d cannot be explained:\n%s", seed, h)
			}
		}
	})
}
