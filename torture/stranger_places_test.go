package torture_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestAnnouncedFiles lets an attacker announce files until the service accepts no more. Other
// users can still announce files.
func TestAnnouncedFiles(t *testing.T) {
	storetest.Proof(t)
	s := newFixture(t)
	second := filesApp(t, s.other, s.token)
	announce := func(c program.Client, key string) string {
		file := program.Params{"filename": "a", "content_type": "text/plain", "size": 10 << 20}
		got, err := c.Call("widget-create-upload", key, file)
		if err != nil {
			t.Fatal(err)
		}
		return got.Code
	}
	n := 0
	for n < 300 && announce(s.attacker, s.app.APIKey) == "ok" {
		n++
	}
	sameApp, otherApp := announce(s.other, s.app.APIKey), announce(s.other, second.APIKey)
	if *otherBinary == "" && (n >= 100 || sameApp != "ok" || otherApp != "ok") {
		t.Errorf("%d files announced; another user: %s in the same app, %s in another app", n, sameApp, otherApp)
	}
	measured(t, "%d MiB announced by one address; a file of somebody else, in the same app: %s, in another app of the account: %s",
		n*10, sameApp, otherApp)
}

// TestStrangersFiles lets an attacker send 64 files very slowly from one address. A file of
// another user is accepted.
func TestStrangersFiles(t *testing.T) {
	storetest.Proof(t)
	s := newFixture(t)
	i := 0
	c := program.NewClient(t, s.p)
	hold := s.hold(t, 64, func() slowConnection {
		announcer := fmt.Sprint("192.0.2.", i%100+1) // one address cannot announce so many
		i++
		kind := slowFile(t, c, s.app.APIKey, announcer)
		kind.begin = strings.Replace(kind.begin, announcer, "198.51.100.66", 1)
		return kind
	})
	status, code := sendFile(t, s.other, s.otherApp.APIKey)
	if *otherBinary == "" && status != http.StatusOK {
		t.Errorf("another user's file: %d %s", status, code)
	}
	measured(t, "%d slow files from one address; somebody else's file meanwhile: %d", hold, status)
}

// TestSlowReaders lets a user of one account request lists and exports and not read them. Lists
// and exports of another account are answered.
func TestSlowReaders(t *testing.T) {
	storetest.Proof(t)
	parallel(t)
	s := newFixture(t)
	for i := range 200 {
		long := program.Params{"title": fmt.Sprint("long ", i), "description": strings.Repeat("界", 10_000)}
		s.other.Want(t, "ok", "widget-submit-request", s.app.APIKey, long)
		s.other.Want(t, "ok", "widget-submit-request", s.otherApp.APIKey, long)
	}
	t.Run("lists", func(t *testing.T) {
		list := fmt.Sprintf(`{"limit":200,"app_id":%q}`, s.app.ID)
		n := s.hold(t, 16, func() slowConnection {
			return slowConnection{unread: true, begin: fmt.Sprintf("POST /api/requests-list HTTP/1.1\r\nHost: x\r\n"+
				"Content-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", s.token, len(list), list)}
		})
		code, took := s.timed(t, func() string {
			got, err := s.other.Call("requests-list", s.otherToken, program.Params{"limit": 200})
			if err != nil {
				return err.Error()
			}
			return got.Code
		})
		if *otherBinary == "" && code != "ok" {
			t.Errorf("another user's list: %s", code)
		}
		measured(t, "%d lists that nobody reads; somebody else's list: %s after %v", n, code, took)
	})
	t.Run("exports", func(t *testing.T) {
		n := s.hold(t, 16, func() slowConnection {
			return slowConnection{unread: true, begin: "GET " + s.exportLink(t, s.token) + " HTTP/1.1\r\nHost: x\r\n\r\n"}
		})
		code, took := s.timed(t, func() string { return s.download(t, s.exportLink(t, s.otherToken)) })
		if *otherBinary == "" && code != "200 OK" {
			t.Errorf("another user's export: %s", code)
		}
		measured(t, "%d exports that nobody reads; somebody else's export: %s after %v", n, code, took)
	})
}

// hold opens slow connections until the test ends, and waits until the service is idle again.
func (s *fixture) hold(t *testing.T, n int, kind func() slowConnection) int {
	t.Helper()
	var all connections
	t.Cleanup(all.close)
	for range n {
		all.add(t, s.p, kind(), 1)
	}
	// The service has handled all connections when it has been idle for a second.
	last, quiet := time.Duration(-1), 0
	await(t, "the service is idle", func() bool {
		now := processorTime(t, s.p)
		quiet++
		if now-last >= 10*time.Millisecond {
			quiet = 0
		}
		last = now
		return quiet == 20
	})
	return n
}

func (s *fixture) timed(t *testing.T, call func() string) (string, time.Duration) {
	t.Helper()
	began := time.Now()
	code := call()
	return code, time.Since(began).Round(time.Millisecond)
}

// exportLink returns a link to an export of all requests of an account.
func (s *fixture) exportLink(t *testing.T, token string) string {
	t.Helper()
	got := s.other.Want(t, "ok", "requests-export", token, program.Params{"format": "jsonl"})
	return got.URL
}

// download reads an export to its end and returns the status.
func (s *fixture) download(t *testing.T, link string) string {
	t.Helper()
	response, err := s.other.HTTP.Get(s.p.URL + link)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close() //nolint:errcheck // the body is read below
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err.Error()
	}
	return response.Status
}

// TestCrowdedLogins makes sixty logins of one user at once, with the right password. Another
// user's login does not wait for all of them.
func TestCrowdedLogins(t *testing.T) {
	storetest.Proof(t)
	s := newFixture(t)
	const crowdSize = 60
	login := func(c program.Client, email string) time.Duration {
		began := time.Now()
		got, err := c.Call("auth-login", "", program.Params{"email": email, "password": program.Password})
		if err != nil || got.Code != "ok" && *otherBinary == "" {
			t.Errorf("%s: %s %v", email, got.Code, err)
		}
		return time.Since(began)
	}
	alone := login(s.other, "grace@example.com")
	var crowd sync.WaitGroup
	var ended, begun atomic.Int64
	for range crowdSize {
		crowd.Go(func() {
			begun.Add(1)
			login(s.attacker, program.Email)
			ended.Add(1)
		})
	}
	await(t, "all logins are under way", func() bool { return begun.Load() == crowdSize && ended.Load() > 0 })
	before := ended.Load()
	crowded := login(s.other, "grace@example.com")
	overtaken := ended.Load() - before
	crowd.Wait()
	if *otherBinary == "" && overtaken > crowdSize/3 {
		t.Errorf("%d logins of the other user came first", overtaken)
	}
	measured(t, "%d logins of one user at once: somebody else's takes %v, %v alone, and %d of the crowd came first",
		crowdSize, crowded.Round(time.Millisecond), alone.Round(time.Millisecond), overtaken)
}

// TestIdleConnections opens more connections than the service accepts, from one address that is
// neither loopback nor a trusted proxy. Calls from another address are answered.
func TestIdleConnections(t *testing.T) {
	storetest.Proof(t)
	parallel(t)
	inside := newNamespace(t)
	p := inside.start(t)
	n := program.Times(2200, 4000)
	closed, all := 0, []net.Conn(nil)
	t.Cleanup(func() {
		for _, conn := range all {
			_ = conn.Close()
		}
	})
	for range n {
		conn, err := inside.dial("198.51.100.66", p.Address)
		if err == nil { // one call, and then the connection stays idle
			_, err = io.WriteString(conn, "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
			all = append(all, conn)
		}
		if err != nil {
			closed++
		}
	}
	for _, conn := range all {
		if !isOpen(conn) {
			closed++
		}
	}
	conn, err := inside.dial("198.51.100.7", p.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // it has been read to its end
	began := time.Now()
	status := askReady(conn)
	if *otherBinary == "" && status != "HTTP/1.1 200 OK" {
		t.Errorf("another address: %s", status)
	}
	measured(t, "%d idle connections from one address, of which %d were closed at once: somebody else is answered %q after %v",
		n, closed, status, time.Since(began).Round(time.Millisecond))
}

// isOpen reports whether the service has not closed a connection yet.
func isOpen(conn net.Conn) bool {
	_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond)) // if it fails, reading fails, too
	_, err := io.Copy(io.Discard, conn)
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// askReady sends a call and returns the first line of the answer, or the error.
func askReady(conn net.Conn) string {
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second)) // if it fails, writing fails, too
	if _, err := io.WriteString(conn, "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
		return err.Error()
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		return err.Error()
	}
	line, _, _ := strings.Cut(string(answer), "\r\n")
	return line
}
