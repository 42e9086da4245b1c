package e2e_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gatherkit/internal/store/storetest"
)

const (
	submitters = 16
	each       = 90 // submissions of one submitter
)

// ledger is what submitters know: the title of every acknowledged request by its id.
type ledger struct {
	acknowledged sync.Map
	count        chan struct{} // gets a value for each
}

func newLedger() *ledger { return &ledger{count: make(chan struct{}, submitters*each)} }

// note enters an acknowledgement. The same one may come again.
func (l *ledger) note(t *testing.T, id, title string) {
	if before, again := l.acknowledged.Swap(id, title); again && before != title {
		t.Errorf("request %s was acknowledged for %q and for %q", id, before, title)
	}
	l.count <- struct{}{}
}

// check compares the ledger with what is stored: nothing is lost and nothing doubled.
func (l *ledger) check(t *testing.T, stored map[string]request) {
	t.Helper()
	titles := map[string]string{}
	for id, r := range stored {
		if other, doubled := titles[r.Title]; doubled {
			t.Errorf("%q is stored as %s and as %s", r.Title, id, other)
		}
		titles[r.Title] = id
	}
	l.acknowledged.Range(func(id, title any) bool {
		if got := stored[id.(string)].Title; got != title {
			t.Errorf("request %s, %q, was acknowledged; %q is stored", id, title, got)
		}
		return true
	})
}

// submitAll runs all submitters; submit makes one submission until it is
// acknowledged. The returned function waits for them.
func submitAll(t *testing.T, submit func(title string)) (wait func()) {
	t.Helper()
	var all sync.WaitGroup
	for i := range submitters {
		all.Go(func() {
			for j := range each {
				submit(fmt.Sprintf("wish %d of person %d", j, i))
			}
		})
	}
	return all.Wait
}

func TestEverySubmissionOfManyClientsIsStored(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		addOwner(t, place)
		c := newClient(t, start(t, at(place)...))
		token := c.login(t)
		key := c.addApp(t, token).APIKey
		l := newLedger()
		submitAll(t, func(title string) {
			got, err := c.call("widget-submit-request", key, params{"title": title, "description": ""})
			if err != nil || got.code != "ok" {
				t.Errorf("%q: %s %v", title, got.code, err)
				return
			}
			l.note(t, got.Request.ID, title)
		})()
		stored := c.list(t, token)
		l.check(t, stored)
		if len(stored) != submitters*each {
			t.Errorf("%d requests are stored, want %d", len(stored), submitters*each)
		}
	})
}

// TestKill ends the service three times as a power cut does, while clients submit.
// They repeat what was not acknowledged with the same idempotency key.
func TestKill(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		addOwner(t, place)
		p := start(t, at(place)...)
		c := newClient(t, p)
		token := c.login(t)
		key := c.addApp(t, token).APIKey
		l := newLedger()
		var life atomic.Int64 // odd while the service is down
		wait := submitAll(t, func(title string) {
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for ; ; <-tick.C {
				before := life.Load()
				got, err := c.call("widget-submit-request", key, params{"title": title, "description": "", "idempotency_key": title})
				if err == nil && got.code == "ok" {
					l.note(t, got.Request.ID, title)
					return
				}
				if before%2 == 0 && life.Load() == before {
					t.Errorf("%q failed with nothing broken: %s %v", title, got.code, err)
				}
			}
		})
		for range 3 {
			for range submitters * each / 5 {
				<-l.count
			}
			life.Add(1)
			p.kill(t)
			p = startOn(t, p.address, nil, at(place)...)
			c.http.CloseIdleConnections()
			life.Add(1)
		}
		wait()
		stored := c.list(t, token)
		l.check(t, stored)
		if len(stored) != submitters*each {
			t.Errorf("%d requests are stored, want %d", len(stored), submitters*each)
		}
		if got := succeed(t, append([]string{"recount"}, at(place)...)...); got != "All counters are right.\n" {
			t.Errorf("recount: %s", got)
		}
	})
}

// TestTerminate asks the service to end while clients submit. Each call ends with a
// whole answer, or with a connection that was refused: then nothing is stored.
func TestTerminate(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		addOwner(t, place)
		p := start(t, at(place)...)
		c := newClient(t, p)
		token := c.login(t)
		key := c.addApp(t, token).APIKey
		// A connection for each call: on an idle one that the service closes, a call can
		// be lost without a trace.
		once := client{c.url, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}}
		l := newLedger()
		var refused atomic.Int64
		wait := submitAll(t, func(title string) {
			got, err := once.call("widget-submit-request", key, params{"title": title, "description": ""})
			switch {
			case errors.Is(err, errBroken):
				t.Errorf("%q: %v", title, err)
			case err != nil:
				refused.Add(1)
			case got.code == "ok":
				l.note(t, got.Request.ID, title)
			case got.code == "api.unavailable":
				refused.Add(1)
			default:
				t.Errorf("%q: %s", title, got.code)
			}
		})
		for range submitters * each / 5 {
			<-l.count
		}
		p.stop(t)
		if code := p.exitCode(t); code != 0 {
			t.Errorf("exit %d:\n%s", code, p.stderr.String())
		}
		wait()
		c = newClient(t, startOn(t, p.address, nil, at(place)...))
		stored := c.list(t, token)
		l.check(t, stored)
		if refused.Load() == 0 || len(stored)+int(refused.Load()) != submitters*each {
			t.Errorf("%d requests are stored and %d were refused, want together %d", len(stored), refused.Load(), submitters*each)
		}
	})
}

// TestTerminateFinishesWhatHasBegun ends the service while a submission has sent
// half of its body: it is finished, while new connections are refused.
func TestTerminateFinishesWhatHasBegun(t *testing.T) {
	place := storetest.SQLite(t)
	addOwner(t, place)
	p := start(t, at(place)...)
	c := newClient(t, p)
	token := c.login(t)
	key := c.addApp(t, token).APIKey
	body := `{"title": "Half a wish", "description": ""}`
	submission := dial(t, p.address)
	send(t, submission, fmt.Sprintf("POST /api/widget-submit-request HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", key, len(body)))
	reader := bufio.NewReader(submission)
	if line, err := reader.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("%q %v, want that the body is being read", line, err)
	}
	if _, err := reader.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	send(t, submission, body[:10])

	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the service takes no new connections", func() bool {
		conn, err := net.Dial("tcp", p.address)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	send(t, submission, body[10:])
	response, err := http.ReadResponse(reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readReply(response)
	if err != nil || got.code != "ok" {
		t.Fatalf("the submission: %s %v, want ok", got.code, err)
	}
	if code := p.exitCode(t); code != 0 {
		t.Errorf("exit %d:\n%s", code, p.stderr.String())
	}
	stored := newClient(t, startOn(t, p.address, nil, at(place)...)).list(t, token)
	if stored[got.Request.ID].Title != "Half a wish" {
		t.Errorf("acknowledged %s, stored %v", got.Request.ID, stored)
	}
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return conn
}

func send(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
}
