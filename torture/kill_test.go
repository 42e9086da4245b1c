package torture_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

func TestEverySubmissionOfManyClientsIsStored(t *testing.T) {
	storetest.EachInTurn(t, func(t *testing.T, place storetest.Place) {
		_, c, token, app := program.Serve(t, place)
		key := app.APIKey
		l := &program.Ledger{}
		stop := program.SubmitWith(16, func(title string) {
			got, err := c.Call("widget-submit-request", key, program.Params{"title": title, "description": ""})
			if err != nil || got.Code != "ok" {
				t.Errorf("%q: %s %v", title, got.Code, err)
				return
			}
			l.Note(t, got.Request.ID, title)
		})
		l.AwaitMore(t, program.Times(1000, 100_000))
		stop()
		stored := c.List(t, token)
		l.Check(t, stored)
		if len(stored) != l.Len() {
			t.Errorf("%d requests are stored, want %d", len(stored), l.Len())
		}
	})
}

// TestKill repeatedly kills the service with SIGKILL while clients submit.
func TestKill(t *testing.T) {
	parallel(t)
	storetest.EachInTurn(t, func(t *testing.T, place storetest.Place) {
		p, c, token, app := program.Serve(t, place)
		l := startLoad(t, 16, app.APIKey, c)
		kills := program.Times(3, 50)
		for range kills {
			l.AwaitMore(t, 300)
			p.Kill(t)
			p = program.StartOn(t, p.Address, nil, program.At(place)...)
			c.HTTP.CloseIdleConnections()
		}
		l.AwaitMore(t, 300)
		settled := l.settle(t, c, token)
		if got := program.Succeed(t, append([]string{"recount"}, program.At(place)...)...); got != "All counters are right.\n" {
			t.Errorf("recount: %s", got)
		}
		measured(t, "%d times kill -9: %s, longest gap %v", kills, settled, l.gap().Round(time.Millisecond))
	})
}

// TestReadyAfterKill kills a service with many requests while clients submit, and measures how
// long it takes to be ready again. SQLite has to recover its log first.
func TestReadyAfterKill(t *testing.T) {
	storetest.Proof(t)
	storetest.EachInTurn(t, func(t *testing.T, place storetest.Place) {
		p, c, token, app := program.Serve(t, place)
		l := startLoad(t, 64, app.APIKey, c)
		l.AwaitMore(t, program.Times(5000, 100_000))
		var ready []time.Duration
		for range program.Times(3, 20) {
			l.AwaitMore(t, 300)
			p.Kill(t)
			p = program.StartOn(t, p.Address, nil, program.At(place)...)
			c.HTTP.CloseIdleConnections()
			ready = append(ready, p.Ready)
		}
		settled := l.settle(t, c, token)
		slices.Sort(ready)
		if longest := ready[len(ready)-1]; late(longest, time.Second) {
			t.Errorf("ready again after %v, want within a second", longest)
		}
		measured(t, "ready after kill -9 within %v (median %v of %d): %s", ready[len(ready)-1].Round(time.Millisecond),
			ready[len(ready)/2].Round(time.Millisecond), len(ready), settled)
	})
}

// TestTerminate sends SIGTERM while clients submit. Each call either gets a complete answer,
// or its connection is refused and nothing is stored.
func TestTerminate(t *testing.T) {
	parallel(t)
	storetest.EachInTurn(t, func(t *testing.T, place storetest.Place) {
		p, c, token, app := program.Serve(t, place)
		key := app.APIKey
		// One connection per call: if the service closes an idle connection just when a call
		// uses it, the client cannot know whether the call was received.
		once := program.Client{URL: c.URL, HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: storetest.Patience}}
		l := &program.Ledger{}
		var refused atomic.Int64
		stop := program.SubmitWith(16, func(title string) {
			got, err := once.Call("widget-submit-request", key, program.Params{"title": title, "description": ""})
			switch {
			case errors.Is(err, program.ErrBroken):
				t.Errorf("%q: %v", title, err)
			case err != nil:
				refused.Add(1)
			case got.Code == "ok":
				l.Note(t, got.Request.ID, title)
			case got.Code == "api.unavailable":
				refused.Add(1)
			default:
				t.Errorf("%q: %s", title, got.Code)
			}
		})
		l.AwaitMore(t, 300)
		p.Stop(t)
		if code := p.ExitCode(t); code != 0 {
			t.Errorf("exit %d:\n%s", code, p.Stderr.String())
		}
		stop()
		c = program.NewClient(t, program.StartOn(t, p.Address, nil, program.At(place)...))
		stored := c.List(t, token)
		l.Check(t, stored)
		if refused.Load() == 0 || len(stored) != l.Len() {
			t.Errorf("%d requests are stored and %d were acknowledged; %d were refused", len(stored), l.Len(), refused.Load())
		}
	})
}

// TestTerminateFinishesWhatHasBegun sends SIGTERM when half of a submission's body has been
// sent. The service finishes this call and refuses new connections.
func TestTerminateFinishesWhatHasBegun(t *testing.T) {
	parallel(t)
	place := storetest.SQLite(t)
	p, _, token, app := program.Serve(t, place)
	key := app.APIKey
	body := `{"title": "Half a wish", "description": ""}`
	submission := dial(t, p.Address)
	send(t, submission, fmt.Sprintf("POST /api/widget-submit-request HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", key, len(body)))
	reader := bufio.NewReader(submission)
	if line, err := reader.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("%q %v, want 100 Continue", line, err)
	}
	if _, err := reader.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	send(t, submission, body[:10])

	if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	program.Eventually(t, "the service accepts no new connections", func() bool {
		conn, err := net.Dial("tcp", p.Address)
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
	defer response.Body.Close() //nolint:errcheck // the body is read below
	got, err := program.ReadReply(response)
	if err != nil || got.Code != "ok" {
		t.Fatalf("the submission: %s %v, want ok", got.Code, err)
	}
	if code := p.ExitCode(t); code != 0 {
		t.Errorf("exit %d:\n%s", code, p.Stderr.String())
	}
	stored := program.NewClient(t, program.StartOn(t, p.Address, nil, program.At(place)...)).List(t, token)
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
	if err := conn.SetDeadline(time.Now().Add(storetest.Patience)); err != nil {
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

// TestReplicaGoesOnWithoutTheOther kills one of two replicas while clients submit to both. The
// clients continue with the other replica.
func TestReplicaGoesOnWithoutTheOther(t *testing.T) {
	storetest.Proof(t)
	parallel(t)
	database := storetest.Place{Name: "postgres", Database: storetest.Postgres(t)}
	first, second := program.Start(t, program.At(database)...), program.Start(t, program.At(database)...)
	program.AddOwner(t, database)
	one, two := program.NewClient(t, first), program.NewClient(t, second)
	token := two.Login(t)
	key := two.AddApp(t, token).APIKey
	l := startLoad(t, 16, key, one, two)
	l.AwaitMore(t, 300)
	first.Kill(t)
	l.AwaitMore(t, 300)
	measured(t, "one of two replicas killed: %s, longest gap %v", l.settle(t, two, token), l.gap().Round(time.Millisecond))
}
