package torture_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// soakCallers is the number of concurrent callers.
const soakCallers = 8

// used has the metrics that must not grow. In the last third of the time, each may exceed its
// value in the third before by ten percent plus more. The test compares the tenth percentiles,
// because garbage collections and password hashes make memory go up and down, while a leak
// raises the minimum. The number of open connections can differ by one per caller, each with
// goroutines.
var used = []struct {
	name, metric string
	unit, more   float64
}{
	{"MiB of heap", "go_memstats_heap_inuse_bytes", 1 << 20, 4},
	{"MiB of memory", "process_resident_memory_bytes", 1 << 20, 4},
	{"goroutines", "go_goroutines", 1, 2 * soakCallers},
	{"descriptors", "process_open_fds", 1, 2 * soakCallers},
}

// TestSoak runs callers that use all kinds of operations for a long time and delete what they
// create. What the service uses in the last third of the time must not exceed what it used in
// the third before.
func TestSoak(t *testing.T) {
	storetest.Proof(t)
	storetest.EachInTurn(t, func(t *testing.T, place storetest.Place) {
		t.Parallel()
		program.AddOwner(t, place)
		metricsAddress := program.FreeAddress(t)
		p := program.Start(t, append(program.At(place), "--metrics-listen="+metricsAddress)...)
		s := &soak{Client: program.NewClient(t, p), address: p.Address}
		token := s.Login(t)
		l := startLoad(t, 2, s.AddApp(t, token).APIKey, s.Client)
		l.AwaitMore(t, 1000) // these requests stay, while the callers create and delete others
		l.stop()

		long := time.Duration(program.Times(10, 600)) * time.Second
		began := time.Now()
		var over atomic.Bool
		var callers sync.WaitGroup
		for i := range soakCallers {
			callers.Go(func() {
				for round := 0; !over.Load() && !t.Failed(); round++ {
					s.round(t, fmt.Sprintf("round %d of caller %d", round, i))
				}
			})
		}
		samples := sample(t, metricsAddress, long)
		over.Store(true)
		callers.Wait()

		found := make([]string, 0, len(used))
		third := len(samples) / 3
		for _, u := range used {
			before, after := low(samples[third:2*third], u.metric)/u.unit, low(samples[2*third:], u.metric)/u.unit
			if *program.Full && after > before*1.1+u.more { // the short form is too short for this
				t.Errorf("%s grew from %.1f to %.1f", u.name, before, after)
			}
			found = append(found, fmt.Sprintf("%.0f, then %.0f %s", before, after, u.name))
		}
		settled := l.settle(t, s.Client, s.Login(t))
		first, last := latencyOf(s.attempts, began, began.Add(long/10)), latencyOf(s.attempts, began.Add(long*9/10), began.Add(long))
		measured(t, "%v: %s; calls in the first tenth: %v; in the last: %v; %d submitted meanwhile, %d lost, %d doubled; kept: %s",
			long, strings.Join(found, "; "), first, last, s.submitted, s.lost, s.doubled, settled)
		checkMemory(t, p)
	})
}

// sample reads the metrics at regular intervals.
func sample(t *testing.T, metricsAddress string, long time.Duration) (samples []map[string]float64) {
	t.Helper()
	tick := time.NewTicker(long / 600)
	defer tick.Stop()
	for end := time.Now().Add(long); time.Now().Before(end) || len(samples) < 30; {
		<-tick.C
		samples = append(samples, metrics(t, metricsAddress))
	}
	return samples
}

// low returns the tenth percentile of a metric.
func low(samples []map[string]float64, name string) float64 {
	values := make([]float64, len(samples))
	for i, s := range samples {
		values[i] = s[name]
	}
	slices.Sort(values)
	return values[len(values)/10]
}

// metrics returns the service's metrics by name with labels.
func metrics(t *testing.T, address string) map[string]float64 {
	t.Helper()
	response, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // the body is read below
	values := map[string]float64{}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), " ")
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			values[name] = value
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return values
}

// soak is a group of callers that use all kinds of operations.
type soak struct {
	program.Client
	address string

	mu                       sync.Mutex
	attempts                 []attempt
	submitted, lost, doubled int
}

// want makes a call and records how long it took. The test fails if its code is not code.
func (s *soak) want(t *testing.T, code, operation, credential string, in program.Params) program.Reply {
	a := attempt{began: time.Now(), code: "ok"}
	got, err := s.Call(operation, credential, in)
	a.ended = time.Now()
	if err != nil || got.Code != code {
		a.code = "wrong"
		t.Errorf("%s: %s %v, want %s", operation, got.Code, err, code)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts = append(s.attempts, a)
	return got
}

// round is a session in which an app is created, used and deleted.
func (s *soak) round(t *testing.T, name string) {
	login := s.want(t, "ok", "auth-login", "", program.Params{"email": program.Email, "password": program.Password})
	fresh := s.want(t, "ok", "auth-refresh", "", program.Params{"refresh_token": login.RefreshToken})
	token := fresh.AccessToken
	app := s.want(t, "ok", "apps-create", token, program.Params{"name": name}).App
	one := program.Params{"id": app.ID}
	var l program.Ledger
	for i := range 20 {
		title := fmt.Sprint(name, ", wish ", i)
		got := s.want(t, "ok", "widget-submit-request", app.APIKey, program.Params{"title": title, "description": strings.Repeat("so ", 70)})
		l.Note(t, got.Request.ID, title)
	}
	stored := s.pages(t, token, app.ID)
	for id, r := range stored {
		s.want(t, "ok", "requests-update", token, program.Params{"id": id, "status": "planned"})
		s.want(t, "ok", "requests-delete", token, program.Params{"id": id})
		s.want(t, "requests.not_found", "requests-get", token, program.Params{"id": id})
		s.want(t, "ok", "requests-restore", token, program.Params{"id": r.ID})
	}
	key := s.want(t, "ok", "apps-regenerate-key", token, one).App.APIKey
	s.want(t, "auth.invalid_api_key", "widget-submit-request", app.APIKey, program.Params{"title": "too late", "description": ""})
	s.want(t, "widget.invalid_title", "widget-submit-request", key, program.Params{"description": ""})
	s.want(t, "api.unknown_operation", "apps-destroy", token, one)
	s.want(t, "auth.missing_token", "apps-list", "", program.Params{})
	s.breakOff(t, key)
	lost, doubled := l.Compare(s.pages(t, token, app.ID))
	s.mu.Lock()
	s.submitted, s.lost, s.doubled = s.submitted+l.Len(), s.lost+lost, s.doubled+doubled
	s.mu.Unlock()
	if lost+doubled > 0 {
		t.Errorf("%s: %d lost, %d doubled", name, lost, doubled)
	}
	s.want(t, "ok", "apps-delete", token, one)
	s.want(t, "ok", "auth-logout", token, program.Params{})
	s.want(t, "auth.invalid_token", "auth-me", token, program.Params{})
}

// pages reads an app's requests in small pages.
func (s *soak) pages(t *testing.T, token, app string) map[string]program.Request {
	all := map[string]program.Request{}
	in := program.Params{"limit": 7, "app_id": app}
	for {
		page := s.want(t, "ok", "requests-list", token, in)
		for _, r := range page.Requests {
			if _, twice := all[r.ID]; twice {
				t.Errorf("request %s is listed twice", r.ID)
			}
			all[r.ID] = r
		}
		if page.NextCursor == "" {
			return all
		}
		in["cursor"] = page.NextCursor
	}
}

// breakOff closes a connection in the middle of a call.
func (s *soak) breakOff(t *testing.T, key string) {
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Error(err)
		return
	}
	_, err = fmt.Fprintf(conn, "POST /api/widget-submit-request HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{", key)
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Error(err)
	}
}

// TestNothingIsLeft opens, uses and closes the service in this process. No goroutine must be
// left.
func TestNothingIsLeft(t *testing.T) {
	storetest.Proof(t)
	storetest.EachInTurn(t, func(t *testing.T, place storetest.Place) {
		program.AddOwner(t, place)
		others := goleak.IgnoreCurrent()
		t.Run("used", func(t *testing.T) {
			r := newReplica(t, place, 0)
			token := r.Login(t)
			l := startLoad(t, 16, r.AddApp(t, token).APIKey, r.Client)
			l.AwaitMore(t, 500)
			l.settle(t, r.Client, token)
		})
		goleak.VerifyNone(t, others)
	})
}
