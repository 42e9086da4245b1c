package torture_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// network is a proxy in front of PostgreSQL that can disturb connections.
type network struct {
	t       *testing.T
	address string
	api     string // URL of Toxiproxy's API
}

func newNetwork(t *testing.T, to string) *network {
	t.Helper()
	api := program.FreeAddress(t)
	host, port, err := net.SplitHostPort(api)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program.Tool(t, "toxiproxy-server", "toxiproxy"), "-host", host, "-port", port)
	cmd.Stderr = os.Stderr
	program.Launch(t, cmd, make(chan struct{}))
	n := &network{t, program.FreeAddress(t), "http://" + api}
	program.Eventually(t, "Toxiproxy answers", func() bool { return program.Answers(t, n.api+"/version") })
	n.call(http.MethodPost, "/proxies", fmt.Sprintf(`{"name":"database","listen":%q,"upstream":%q}`, n.address, to))
	return n
}

// connect accepts connections. cut closes all connections and refuses new ones.
func (n *network) connect() { n.call(http.MethodPatch, "/proxies/database", `{"enabled":true}`) }
func (n *network) cut()     { n.call(http.MethodPatch, "/proxies/database", `{"enabled":false}`) }

// disturb adds one of Toxiproxy's toxics in both directions. The returned function removes
// all toxics.
func (n *network) disturb(kind, attributes string) (mend func()) {
	n.t.Helper()
	for _, stream := range []string{"upstream", "downstream"} {
		toxic := fmt.Sprintf(`{"name":%q,"type":%q,"stream":%q,"attributes":%s}`, stream+" "+kind, kind, stream, attributes)
		n.call(http.MethodPost, "/proxies/database/toxics", toxic)
	}
	return func() { n.call(http.MethodPost, "/reset", "") }
}

func (n *network) call(method, path, body string) {
	n.t.Helper()
	r, err := http.NewRequestWithContext(n.t.Context(), method, n.api+path, strings.NewReader(body))
	if err != nil {
		n.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		n.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // the body is read below
	if answer, err := io.ReadAll(response.Body); err != nil || response.StatusCode >= http.StatusMultipleChoices {
		n.t.Fatalf("%s %s: %d %s %v", method, path, response.StatusCode, answer, err)
	}
}

// TestDatabaseAway makes PostgreSQL unreachable for a service under load, in each way in which
// networks fail, and then reachable again.
func TestDatabaseAway(t *testing.T) {
	storetest.Proof(t)
	for name, disconnect := range map[string]func(*network) (reconnect func()){
		"cut": func(n *network) func() {
			n.cut()
			return n.connect
		},
		"black hole": func(n *network) func() { return n.disturb("timeout", `{"timeout":0}`) },
		"reset":      func(n *network) func() { return n.disturb("reset_peer", `{"timeout":0}`) },
	} {
		t.Run(name, func(t *testing.T) {
			parallel(t)
			n := newNetwork(t, newServer(t).address())
			place := storetest.Place{Database: databaseAt(n.address)}
			metricsAddress := program.FreeAddress(t)
			p, c, token, app := program.Serve(t, place, "--metrics-listen="+metricsAddress)
			l := startLoad(t, 16, app.APIKey, c)
			l.AwaitMore(t, 500)
			others := startOthers(t, c, token, app)
			goroutines := func() int { return int(metrics(t, metricsAddress)["go_goroutines"]) }
			before, most := goroutines(), 0
			var first, back time.Duration // the longest of all rounds
			rounds := program.Times(1, 10)
			for range rounds {
				f, b := outage(t, n, p, l, disconnect, func() (noticed bool) {
					most = max(most, goroutines())
					return others.allRefused() && l.count("api.unavailable") > 0
				})
				first, back = max(first, f), max(back, b)
			}
			others.stop()
			settled := l.settle(t, c, token)
			slowest := max(l.slowest("api.unavailable", ""), others.slowest)
			if late(slowest, patience) {
				t.Errorf("the slowest call was answered 503 after %v, want at most %v", slowest, patience)
			}
			if silent := l.count(""); silent > 0 {
				t.Errorf("%d submissions got no answer", silent)
			}
			// Goroutines that wait for the database must not accumulate, and must end.
			if most > before+100 {
				t.Errorf("%d goroutines while the database was unreachable, %d before", most, before)
			}
			program.Eventually(t, "the goroutines of the outage end", func() bool { return goroutines() <= before })
			checkMemory(t, p)
			measured(t, "%d times for %v or more: %s, %d submissions and %d other calls answered 503, the slowest after %v, "+
				"acknowledged again within %v, full rate within %v, goroutines %d before, at most %d meanwhile",
				rounds, away, settled, l.count("api.unavailable"), others.refused, slowest.Round(time.Millisecond),
				first.Round(time.Millisecond), back.Round(time.Millisecond), before, most)
		})
	}
}

const (
	// patience is the longest time until a call gets 503, and until the full rate is back after
	// an outage.
	patience = 2 * time.Second
	// away is the minimum duration of an outage.
	away = patience + 2*time.Second
)

// outage makes the database unreachable once, until noticed returns true. It returns how long it
// then took until a submission was acknowledged, and until the full rate was back.
func outage(
	t *testing.T, n *network, p *program.Process, l *load, disconnect func(*network) (reconnect func()), noticed func() bool,
) (first, back time.Duration) {
	t.Helper()
	began := l.last()
	program.Eventually(t, "a second of load", func() bool { return time.Since(began) > time.Second })
	before := l.rate(began, time.Now())
	disconnected := time.Now()
	reconnect := disconnect(n)
	unready := false
	program.Eventually(t, "all callers and /readyz notice the outage", func() bool {
		status := map[string]int{}
		for _, path := range []string{"/livez", "/readyz"} {
			asked := time.Now()
			status[path] = statusOf(t, p.URL+path)
			if took := time.Since(asked); late(took, patience+100*time.Millisecond) { // the service's deadline is two seconds
				t.Errorf("%s answered after %v", path, took)
			}
		}
		if status["/livez"] != http.StatusOK {
			t.Errorf("/livez answers %d while the database is unreachable", status["/livez"])
		}
		if status["/readyz"] == http.StatusServiceUnavailable {
			unready = true
		} else if unready || late(time.Since(disconnected), patience) {
			t.Errorf("/readyz answers %d while the database is unreachable", status["/readyz"])
		}
		return noticed() && unready && time.Since(disconnected) > away
	})
	reconnect()
	reconnected := time.Now()
	const window = 300 * time.Millisecond
	program.Eventually(t, "the full rate is back", func() bool {
		now := time.Now()
		back = now.Sub(reconnected)
		return back > window && l.rate(now.Add(-window), now) > 0.8*before
	})
	first = l.firstAfter(reconnected).Sub(reconnected)
	if late(first, patience) || late(back, patience+window) {
		t.Errorf("something was acknowledged after %v, the full rate was back after %v", first, back)
	}
	return first, back
}

// others are callers of operations other than the submission.
type others struct {
	stop func() // waits until they have finished their current calls

	mu      sync.Mutex
	slowest time.Duration // of the calls that got 503
	refused int
	silent  map[string]bool // operations that have not got 503 yet
}

func startOthers(t *testing.T, c program.Client, token string, app program.App) *others {
	t.Helper()
	var (
		stopped atomic.Bool
		all     sync.WaitGroup
	)
	o := &others{silent: map[string]bool{}}
	o.stop = func() {
		stopped.Store(true)
		all.Wait()
	}
	for operation, in := range map[string]program.Params{
		"requests-list": {"limit": 50},
		"apps-get":      {"id": app.ID},
		"auth-me":       {},
		"auth-login":    {"email": program.Email, "password": program.Password},
		"apps-create":   {"name": "Another"},
	} {
		o.silent[operation] = true
		all.Go(func() {
			tick := time.NewTicker(50 * time.Millisecond)
			defer tick.Stop()
			for !stopped.Load() {
				o.call(t, c, operation, token, in)
				<-tick.C
			}
		})
	}
	return o
}

func (o *others) call(t *testing.T, c program.Client, operation, token string, in program.Params) {
	if operation == "auth-login" {
		token = ""
	}
	began := time.Now()
	got, err := c.Call(operation, token, in)
	took := time.Since(began)
	switch {
	case err != nil:
		t.Errorf("%s: %v", operation, err)
	case got.Code == "api.unavailable" && got.Header.Get("Retry-After") != "":
		o.mu.Lock()
		defer o.mu.Unlock()
		o.slowest = max(o.slowest, took)
		o.refused++
		delete(o.silent, operation)
	case got.Code != "ok":
		t.Errorf("%s: %d %s, Retry-After %q", operation, got.Status, got.Code, got.Header.Get("Retry-After"))
	case operation == "auth-login":
		// Without a logout, the store's limit of sessions per user would end the session of the
		// other operations.
		ended, err := c.Call("auth-logout", got.AccessToken, program.Params{})
		if err != nil || ended.Code != "ok" && ended.Code != "api.unavailable" {
			t.Errorf("auth-logout: %v %s", err, ended.Code)
		}
	}
}

// allRefused reports whether every operation has got 503 at least once.
func (o *others) allRefused() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.silent) == 0
}

// TestDatabaseSlow uses a PostgreSQL with a password, 100 ms latency in each direction and
// little bandwidth. Everything is slow, but nothing fails.
func TestDatabaseSlow(t *testing.T) {
	storetest.Proof(t)
	parallel(t)
	s := newServer(t)
	s.exec(t, "ALTER USER postgres PASSWORD 'secret'")
	writeFile(t, filepath.Join(s.folder, "pg_hba.conf"), "host all all 127.0.0.1/32 scram-sha-256\n")
	s.run(t, "pg_ctl", "reload", "-D", s.folder)
	n := newNetwork(t, s.address())
	n.disturb("bandwidth", `{"rate":100}`) // KiB per second
	mend := n.disturb("latency", `{"latency":100,"jitter":20}`)
	place := storetest.Place{Database: strings.Replace(databaseAt(n.address), "postgres@", "postgres:secret@", 1)}
	p, c, token, app := program.Serve(t, place)
	l := startLoad(t, 16, app.APIKey, c)
	l.AwaitMore(t, program.Times(30, 100))
	mend()
	settled := l.settle(t, c, token)
	if failed := l.count("api.unavailable") + l.count(""); failed > 0 {
		t.Errorf("%d calls failed, although the database answers", failed)
	}
	measured(t, "200 ms a round trip and 100 KiB a second: ready after %v, %s, the slowest after %v",
		p.Ready.Round(time.Millisecond), settled, l.slowest("ok").Round(time.Millisecond))
}

// TestDatabaseLocked locks a table for longer than the service waits for an unreachable
// database. Calls that wait for the lock are not canceled.
func TestDatabaseLocked(t *testing.T) {
	storetest.Proof(t)
	parallel(t)
	const locked = 4 * time.Second
	s := newServer(t)
	place := storetest.Place{Database: s.url()}
	_, c, token, app := program.Serve(t, place)
	l := startLoad(t, 16, app.APIKey, c)
	l.AwaitMore(t, 300)
	s.exec(t, fmt.Sprintf("BEGIN; LOCK TABLE requests; SELECT pg_sleep(%f); COMMIT", locked.Seconds()))
	l.AwaitMore(t, 300)
	settled := l.settle(t, c, token)
	if failed := l.count("api.unavailable") + l.count(""); failed > 0 {
		t.Errorf("%d calls failed, although the database answers", failed)
	}
	if gap := l.gap(); gap < locked/2 { // a call that committed before the lock may be answered during it
		t.Errorf("the longest gap is only %v: there was no lock", gap)
	}
	measured(t, "a lock for %v: %s, longest gap %v", locked, settled, l.gap().Round(time.Millisecond))
}

func statusOf(t *testing.T, url string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode
}
