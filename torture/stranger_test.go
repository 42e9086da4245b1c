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

// otherBinary is another version of the program to measure, to compare figures before and after
// a change. The tests then assert nothing.
var otherBinary = flag.String("program", "", "attack this program instead of building one, and assert nothing")

// maxCallTime is the most processor time that one call of an attacker may cost. It is about
// fifty times the cost of a submission.
const maxCallTime = 100 * time.Millisecond

// fixture is a service with an attacker, who has an app's public key, and a user of another
// account, whom the attacker must not affect. Both come through a trusted proxy from different
// addresses.
type fixture struct {
	p                 *program.Process
	attacker, other   program.Client
	app, otherApp     program.App
	token, otherToken string
	addresses         int // number returned by freshAddress
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	place := storetest.SQLite(t)
	program.AddOwner(t, place)
	const email = "grace@example.com"
	args := append([]string{"user", "add", "--new-account", "--account=Other", "--email=" + email, "--name=Grace", "--password-stdin"},
		program.At(place)...)
	if got := program.Execute(t, nil, program.Password+"\n", args...); got.Code != 0 {
		t.Fatalf("user add: exit %d\n%s", got.Code, got.Stderr)
	}
	p := startProgram(t, append(program.At(place), "--trusted-proxies=127.0.0.1")...)
	s := &fixture{p: p, attacker: from(t, p, "198.51.100.66"), other: from(t, p, "203.0.113.7")}
	s.token = s.other.Login(t)
	s.otherToken = s.other.Want(t, "ok", "auth-login", "", program.Params{"email": email, "password": program.Password}).AccessToken
	s.app, s.otherApp = filesApp(t, s.other, s.token), filesApp(t, s.other, s.otherToken)
	s.other.Want(t, "ok", "apps-update-settings", s.token, program.Params{"id": s.app.ID, "settings": program.Params{"sharing": "all"}})
	return s
}

// startProgram starts the program, or the one that the flag -program names.
func startProgram(t *testing.T, args ...string) *program.Process {
	t.Helper()
	if *otherBinary == "" {
		return program.Start(t, args...)
	}
	return program.StartBinary(t, *otherBinary, program.FreeAddress(t), nil, args...)
}

// from returns a client that calls from an address.
func from(t *testing.T, p *program.Process, address string) program.Client {
	t.Helper()
	return at(program.NewClient(t, p), address)
}

// freshAddress returns an address that has not been used yet.
func (s *fixture) freshAddress() string {
	s.addresses++
	return fmt.Sprint("203.0.113.", 100+s.addresses)
}

// expensiveCall is a call that is expensive, or was in an earlier version.
type expensiveCall struct {
	name, operation, body string
}

// expensiveCalls returns calls with bodies of nearly the maximum size.
func expensiveCalls() []expensiveCall {
	list := func(n int, item func(i int) string) string {
		items := make([]string, n)
		for i := range items {
			items[i] = item(i)
		}
		return strings.Join(items, ",")
	}
	keys := `{` + list(15_000, func(i int) string { return fmt.Sprintf(`"key%d":%d`, i, i) }) + `}`
	lists := `[` + list(10_000, func(i int) string { return fmt.Sprintf("[%d]", i) }) + `]`
	equal := `[` + list(60_000, func(int) string { return "1" }) + `]`
	nested := strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000)
	submission := func(more string) string { return `{"title":"a","description":"",` + more + `}` }
	return []expensiveCall{
		{"10,000 lists as attachments", "widget-submit-request", submission(`"attachments":` + lists)},
		{"60,000 equal attachments", "widget-submit-request", submission(`"attachments":` + equal)},
		{"15,000 unknown keys of form", "widget-submit-request", submission(`"form":` + keys)},
		{"15,000 unknown parameters", "widget-submit-request", keys},
		{"metadata of 15,000 keys", "widget-submit-request", submission(`"metadata":` + keys)},
		{"9,000 nested lists", "widget-submit-request", submission(`"metadata":{"a":` + nested + `}`)},
		{"a number of 250,000 digits", "widget-submit-request", submission(`"form":{"seconds":` + strings.Repeat("9", 250_000) + `}`)},
	}
}

// TestStrangeCalls makes the most expensive calls that an attacker can make. It measures their
// processor time, and the latency of another user's submissions during eight such calls at once.
func TestStrangeCalls(t *testing.T) {
	storetest.Proof(t)
	s := newFixture(t)
	quiet := s.othersLatency(t, nil)
	measured(t, "a submission: %.1f ms of the processor; somebody else's submissions, with nobody beside: %v",
		ms(s.cost(t, 200, func(i int) { s.other.Submit(t, s.otherApp.APIKey, fmt.Sprint("normal ", i)) })), quiet)
	for _, call := range expensiveCalls() {
		t.Run(call.name, func(t *testing.T) { s.measure(t, call) })
	}
}

// TestPoisonedVocabulary lets an attacker submit requests with many nearly identical words, and
// then search for similar requests.
func TestPoisonedVocabulary(t *testing.T) {
	storetest.Proof(t)
	s := newFixture(t)
	ask := expensiveCall{operation: "widget-similar-requests", body: `{"text":"` + alike(0, 6) + `"}`}
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
	s.other.Submit(t, s.app.APIKey, "Invoices as PDF")
	program.Eventually(t, "the index has processed all requests", func() bool {
		return s.other.Want(t, "ok", "requests-list", s.token, program.Params{"app_id": s.app.ID, "query": "invoices"}).TotalCount == 1
	})
	s.measure(t, ask)
}

// alike returns n words of 32 letters that begin with the same 24 letters and use the same four.
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

// measure reports the processor time of a call, and the latency of another user's submissions
// during eight such calls at once.
func (s *fixture) measure(t *testing.T, call expensiveCall) {
	t.Helper()
	s.attacker = from(t, s.p, s.freshAddress())
	n := 20
	if *otherBinary != "" {
		n = 3
	}
	cost := s.cost(t, n, func(int) { s.post(t, call) })
	if cost > maxCallTime && *otherBinary == "" {
		t.Errorf("a call costs %v of processor time, more than %v", cost, maxCallTime)
	}
	others := s.othersLatency(t, func() { s.post(t, call) })
	if others.failures > 0 && *otherBinary == "" {
		t.Errorf("another user's submissions: %v", others)
	}
	measured(t, "%.1f ms of the processor; somebody else's submissions beside eight at once: %v", ms(cost), others)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// post makes the call. Any answer is accepted if it is complete.
func (s *fixture) post(t *testing.T, call expensiveCall) {
	if !json.Valid([]byte(call.body)) {
		t.Errorf("%s: the body is not valid JSON", call.name)
	}
	r, err := http.NewRequest(http.MethodPost, s.p.URL+"/api/"+call.operation, strings.NewReader(call.body))
	if err != nil {
		t.Error(err)
		return
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-API-Key", s.app.APIKey)
	response, err := s.attacker.HTTP.Do(r)
	if err != nil {
		if *otherBinary == "" {
			t.Error(err)
		}
		return
	}
	defer response.Body.Close() //nolint:errcheck // the body is read below
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Error(err)
	}
}

// cost returns the average processor time of n calls, made one after the other.
func (s *fixture) cost(t *testing.T, n int, call func(i int)) time.Duration {
	t.Helper()
	before := processorTime(t, s.p)
	for i := range n {
		call(i)
	}
	return (processorTime(t, s.p) - before) / time.Duration(n)
}

// othersLatency returns the latency of another user's submissions while eight callers repeat an
// attack. attack may be nil.
func (s *fixture) othersLatency(t *testing.T, attack func()) latency {
	t.Helper()
	stopped := make(chan struct{})
	var crowd sync.WaitGroup
	for range 8 {
		if attack == nil {
			break
		}
		crowd.Go(func() {
			for {
				select {
				case <-stopped:
					return
				default:
					attack()
				}
			}
		})
	}
	other := from(t, s.p, s.freshAddress())
	began := time.Now()
	var attempts []attempt
	for i := range program.Times(100, 500) {
		a := attempt{began: time.Now()}
		in := program.Params{"title": fmt.Sprint("beside ", i), "description": ""}
		got, err := other.Call("widget-submit-request", s.otherApp.APIKey, in)
		if a.ended = time.Now(); err == nil {
			a.code = got.Code
		}
		attempts = append(attempts, a)
		if *otherBinary != "" && time.Since(began) > time.Minute {
			break
		}
	}
	close(stopped)
	crowd.Wait()
	return latencyOf(slices.Clip(attempts), began, time.Now())
}
