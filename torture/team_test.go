package torture_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gatherkit/e2e/program"
)

// team are people who change requests in every way, over the API. What they do can be refused, because
// they choose at random, and can stay without an answer, because the service is killed.
type team struct {
	clients []program.Client
	token   string

	mu    sync.Mutex
	app   program.App
	lists map[string][]string // ids of requests: "all", and "binned", "merged" and "suspected", once at least
	done  map[string]int      // by operation
}

// works are what a team does. Each is done with a request from a list, if it needs one, and the request
// is added to another list.
var works = []struct {
	operation, of, to string
	params            func(m *team, id string) program.Params
}{
	{"requests-create", "", "all", func(m *team, _ string) program.Params {
		return program.Params{"app_id": m.app.ID, "title": word(), "submitter": person()}
	}},
	{"widget-submit-request", "", "all", func(*team, string) program.Params { return program.Params{"title": word(), "description": word()} }},
	{"widget-submit-request", "", "suspected", func(*team, string) program.Params {
		return program.Params{"title": word(), "description": "", "form": program.Params{"website": "https://example.com", "seconds": 0.1}}
	}},
	{"requests-release", "suspected", "all", byID},
	{"requests-block", "suspected", "binned", byID},
	{"requests-update", "all", "", func(_ *team, id string) program.Params { return program.Params{"id": id, "title": word()} }},
	{"requests-update", "all", "", func(_ *team, id string) program.Params {
		return program.Params{"id": id, "status": one("planned", "completed", "opened"), "tags": []string{word()}}
	}},
	{"requests-bulk-update", "all", "", func(m *team, id string) program.Params {
		ids := slices.Sorted(slices.Values([]string{id, m.pick("all")}))
		return program.Params{"ids": slices.Compact(ids), "set": program.Params{"add_tags": []string{word()}}}
	}},
	{"requests-delete", "all", "binned", byID},
	{"requests-restore", "binned", "", byID},
	{"requests-merge", "all", "merged", func(m *team, id string) program.Params { return program.Params{"id": id, "into_id": m.pick("all")} }},
	{"requests-unmerge", "merged", "", byID},
	{"votes-add", "all", "", ballot},
	{"votes-remove", "all", "", ballot},
	{"comments-create", "all", "", func(_ *team, id string) program.Params { return program.Params{"request_id": id, "body": word()} }},
}

func byID(_ *team, id string) program.Params { return program.Params{"id": id} }

func ballot(_ *team, id string) program.Params {
	return program.Params{"request_id": id, "email": person()["email"]}
}

// few people and words are enough for changes that meet.
func person() program.Params {
	return program.Params{"email": fmt.Sprintf("%d@example.com", rand.IntN(9))}
}

func word() string { return fmt.Sprintf("word %d", rand.IntN(1_000_000)) }

func one(of ...string) string { return of[rand.IntN(len(of))] }

// newTeam returns a team with an app of its own. The token is that of an owner.
func newTeam(t *testing.T, clients []program.Client, token string) *team {
	t.Helper()
	return &team{clients: clients, token: token, app: clients[0].AddApp(t, token), lists: map[string][]string{}, done: map[string]int{}}
}

// change makes n changes, or tries to. Several people work at the same time.
func (m *team) change(t *testing.T, n int) {
	var people sync.WaitGroup
	for i := range 4 {
		people.Go(func() {
			for range n / 4 {
				m.work(t, m.clients[i%len(m.clients)])
			}
		})
	}
	people.Wait()
}

// work does a random one of the works, or adds and deletes an app.
func (m *team) work(t *testing.T, c program.Client) {
	i := rand.IntN(len(works) + 1)
	if i == len(works) {
		m.passingApp(t, c)
		return
	}
	w, id := works[i], ""
	if w.of != "" {
		if id = m.pick(w.of); id == "" {
			return
		}
	}
	credential := m.token
	if w.operation == "widget-submit-request" {
		credential = m.app.APIKey
	}
	got := m.call(t, c, w.operation, credential, w.params(m, id))
	if got.Code != "ok" || w.to == "" {
		return
	}
	if id == "" {
		id = got.Request.ID
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lists[w.to] = append(m.lists[w.to], id)
}

// passingApp adds an app with requests, and deletes it.
func (m *team) passingApp(t *testing.T, c program.Client) {
	app := m.call(t, c, "apps-create", m.token, program.Params{"name": word()}).App
	for range 3 {
		m.call(t, c, "widget-submit-request", app.APIKey, program.Params{"title": word(), "description": ""})
	}
	m.call(t, c, "apps-delete", m.token, program.Params{"id": app.ID})
}

// pick returns a random request from a list, or "" if there is none.
func (m *team) pick(list string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ids := m.lists[list]; len(ids) > 0 {
		return one(ids...)
	}
	return ""
}

// call makes a call that may be refused or stay without an answer.
func (m *team) call(t *testing.T, c program.Client, operation, credential string, in program.Params) program.Reply {
	got, err := c.Call(operation, credential, in)
	if err != nil {
		return program.Reply{}
	}
	if got.Status >= 500 && got.Code != "api.unavailable" {
		t.Errorf("%s: %d %s", operation, got.Status, got.Code)
	}
	if got.Code == "ok" {
		m.mu.Lock()
		m.done[operation]++
		m.mu.Unlock()
	}
	return got
}

// changes returns how many changes were acknowledged. The test fails if one of the works never was.
func (m *team) changes(t *testing.T) (n int) {
	t.Helper()
	for _, w := range works {
		if m.done[w.operation] == 0 {
			t.Errorf("%s has never succeeded", w.operation)
		}
	}
	for _, times := range m.done {
		n += times
	}
	return n
}
