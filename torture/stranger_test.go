package torture_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// attacked is another version of the program to attack, which is only reported on.
// So one test gives the figures of before and after a change.
var attacked = flag.String("program", "", "attack this program instead of building one, and assert nothing")

// maxCallTime is how much processor time one call of a stranger may cost. It is some
// fifty times as much as a submission costs.
const maxCallTime = 100 * time.Millisecond

// scene is a service with a stranger, who has nothing but an app's public key, and
// somebody of another account whom the stranger should not be able to disturb. Both
// come through a proxy, each from an address of their own.
type scene struct {
	p             *program.Process
	stranger      program.Client
	next          program.Client
	app, nextApp  program.App
	token, nextTk string
	addresses     int // given by unheardOf
}

func newScene(t *testing.T) *scene {
	t.Helper()
	place := storetest.SQLite(t)
	program.AddOwner(t, place)
	const other = "grace@example.com"
	args := append([]string{"user", "add", "--account=Other", "--email=" + other, "--name=Grace", "--password-stdin"}, program.At(place)...)
	if got := program.Execute(t, nil, program.Password+"\n", args...); got.Code != 0 {
		t.Fatalf("user add: exit %d\n%s", got.Code, got.Stderr)
	}
	p := startAttacked(t, append(program.At(place), "--trusted-proxies=127.0.0.1")...)
	s := &scene{p: p, stranger: from(t, p, "198.51.100.66"), next: from(t, p, "203.0.113.7")}
	s.token = s.next.Login(t)
	s.nextTk = s.next.Want(t, "ok", "auth-login", "", program.Params{"email": other, "password": program.Password}).AccessToken
	s.app, s.nextApp = filesApp(t, s.next, s.token), filesApp(t, s.next, s.nextTk)
	s.next.Want(t, "ok", "apps-update-settings", s.token, program.Params{"id": s.app.ID, "settings": program.Params{"sharing": "all"}})
	return s
}

// startAttacked starts the program, or the one that the flag names.
func startAttacked(t *testing.T, args ...string) *program.Process {
	t.Helper()
	if *attacked == "" {
		return program.Start(t, args...)
	}
	return program.StartBinary(t, *attacked, program.FreeAddress(t), nil, args...)
}

// from returns a client that calls from an address.
func from(t *testing.T, p *program.Process, address string) program.Client {
	t.Helper()
	return at(program.NewClient(t, p), address)
}

// unheardOf is an address that has not used up any of its limits.
func (s *scene) unheardOf() string {
	s.addresses++
	return fmt.Sprint("203.0.113.", 100+s.addresses)
}

// strangeCall is a call that is dear, or was.
type strangeCall struct {
	name, operation, body string
}

// strangeCalls are bodies that are as dear as their size allows.
func strangeCalls() []strangeCall {
	list := func(n int, item func(i int) string) string {
		items := make([]string, n)
		for i := range items {
			items[i] = item(i)
		}
		return strings.Join(items, ",")
	}
	submission := func(more string) string { return `{"title":"a","description":"",` + more + `}` }
	return []strangeCall{
		{"10,000 lists as attachments", "widget-submit-request", submission(`"attachments":[` + list(10_000, func(i int) string { return fmt.Sprintf("[%d]", i) }) + `]`)},
		{"60,000 equal attachments", "widget-submit-request", submission(`"attachments":[` + list(60_000, func(int) string { return "1" }) + `]`)},
		{"15,000 unknown keys of form", "widget-submit-request", submission(`"form":{` + list(15_000, func(i int) string { return fmt.Sprintf(`"key%d":%d`, i, i) }) + `}`)},
		{"15,000 unknown parameters", "widget-submit-request", `{` + list(15_000, func(i int) string { return fmt.Sprintf(`"key%d":%d`, i, i) }) + `}`},
		{"metadata of 15,000 keys", "widget-submit-request", submission(`"metadata":{` + list(15_000, func(i int) string { return fmt.Sprintf(`"key%d":%d`, i, i) }) + `}`)},
		{"9,000 nested lists", "widget-submit-request", submission(`"metadata":{"a":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + `}`)},
		{"a number of 250,000 digits", "widget-submit-request", submission(`"form":{"seconds":` + strings.Repeat("9", 250_000) + `}`)},
	}
}

// TestStrangeCalls makes calls that are as dear as a stranger can make them: what one
// costs the processor, and what somebody else feels while eight are made at once.
func TestStrangeCalls(t *testing.T) {
	s := newScene(t)
	quiet := s.feel(t, nil)
	measured(t, "a submission: %.1f ms of the processor; somebody else's submissions, with nobody beside: %v",
		ms(s.cost(t, 200, func(i int) { s.next.Submit(t, s.nextApp.APIKey, fmt.Sprint("normal ", i)) })), quiet)
	for _, call := range strangeCalls() {
		t.Run(call.name, func(t *testing.T) { s.strange(t, call) })
	}
}

// TestPoisonedVocabulary has a stranger submit requests of words that are all alike, and
// then ask for similar ones.
func TestPoisonedVocabulary(t *testing.T) {
	s := newScene(t)
	ask := strangeCall{operation: "widget-similar-requests", body: `{"text":"` + alike(0, 6) + `"}`}
	n := program.Times(600, 3600)
	var all sync.WaitGroup
	var next atomic.Int64
	for worker := range 12 {
		all.Go(func() {
			c := from(t, s.p, fmt.Sprint("192.0.2.", worker+1))
			for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
				c.Want(t, "ok", "widget-submit-request", s.app.APIKey, program.Params{"title": alike(i*30, 6), "description": alike(i*30+6, 24)})
			}
		})
	}
	all.Wait()
	s.next.Submit(t, s.app.APIKey, "Invoices as PDF")
	program.Eventually(t, "the index has followed", func() bool {
		return s.next.Want(t, "ok", "requests-list", s.token, program.Params{"app_id": s.app.ID, "query": "invoices"}).TotalCount == 1
	})
	s.strange(t, ask)
}

// alike is n words of 32 letters that begin alike and have the same letters.
func alike(first, n int) string {
	words := make([]string, n)
	for i := range words {
		word := []byte(strings.Repeat("abcd", 6))
		for rest := first + i; len(word) < 32; rest /= 4 {
			word = append(word, "abcd"[rest%4])
		}
		words[i] = string(word)
	}
	return strings.Join(words, " ")
}

// strange reports what a call costs, and what somebody else feels meanwhile.
func (s *scene) strange(t *testing.T, call strangeCall) {
	t.Helper()
	s.stranger = from(t, s.p, s.unheardOf())
	n := 20
	if *attacked != "" {
		n = 3
	}
	cost := s.cost(t, n, func(int) { s.post(t, call) })
	if cost > maxCallTime && *attacked == "" {
		t.Errorf("a call costs %v of the processor, more than %v", cost, maxCallTime)
	}
	beside := s.feel(t, func() { s.post(t, call) })
	if beside.failures > 0 && *attacked == "" {
		t.Errorf("somebody else's submissions: %v", beside)
	}
	measured(t, "%.1f ms of the processor; somebody else's submissions beside eight at once: %v", ms(cost), beside)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// post makes the call. Whatever the answer is, it must come whole.
func (s *scene) post(t *testing.T, call strangeCall) {
	if !json.Valid([]byte(call.body)) {
		t.Errorf("%s: the body is no JSON", call.name)
	}
	r, err := http.NewRequest(http.MethodPost, s.p.URL+"/api/"+call.operation, strings.NewReader(call.body))
	if err != nil {
		t.Error(err)
		return
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-API-Key", s.app.APIKey)
	response, err := s.stranger.HTTP.Do(r)
	if err != nil {
		if *attacked == "" {
			t.Error(err)
		}
		return
	}
	defer response.Body.Close() //nolint:errcheck // read to its end
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Error(err)
	}
}

// cost is the processor time of a call, of which n are made one after the other.
func (s *scene) cost(t *testing.T, n int, call func(i int)) time.Duration {
	t.Helper()
	before := processorTime(t, s.p)
	for i := range n {
		call(i)
	}
	return (processorTime(t, s.p) - before) / time.Duration(n)
}

// feel is how long somebody else's submissions take while eight callers make strange
// calls without a pause, or nobody does.
func (s *scene) feel(t *testing.T, strange func()) latency {
	t.Helper()
	stopped := make(chan struct{})
	var crowd sync.WaitGroup
	for range 8 {
		if strange == nil {
			break
		}
		crowd.Go(func() {
			for {
				select {
				case <-stopped:
					return
				default:
					strange()
				}
			}
		})
	}
	somebody := from(t, s.p, s.unheardOf())
	began := time.Now()
	var attempts []attempt
	for i := range program.Times(100, 500) {
		a := attempt{began: time.Now()}
		got, err := somebody.Call("widget-submit-request", s.nextApp.APIKey, program.Params{"title": fmt.Sprint("beside ", i), "description": ""})
		if a.ended = time.Now(); err == nil {
			a.code = got.Code
		}
		attempts = append(attempts, a)
		if *attacked != "" && time.Since(began) > time.Minute {
			break
		}
	}
	close(stopped)
	crowd.Wait()
	return latencyOf(slices.Clip(attempts), began, time.Now())
}
