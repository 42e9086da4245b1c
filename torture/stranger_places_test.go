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
)

// TestAnnouncedFiles has a stranger announce files until the service takes no more.
// Others can still announce and send theirs.
func TestAnnouncedFiles(t *testing.T) {
	s := newScene(t)
	other := filesApp(t, s.next, s.token) // of the same account
	announce := func(c program.Client, key string) string {
		got, err := c.Call("widget-create-upload", key, program.Params{"filename": "a", "content_type": "text/plain", "size": 10 << 20})
		if err != nil {
			t.Fatal(err)
		}
		return got.Code
	}
	n := 0
	for n < 300 && announce(s.stranger, s.app.APIKey) == "ok" {
		n++
	}
	beside, elsewhere := announce(s.next, s.app.APIKey), announce(s.next, other.APIKey)
	if *attacked == "" && (n >= 100 || beside != "ok" || elsewhere != "ok") {
		t.Errorf("%d files announced; somebody else: %s in the same app, %s in another app", n, beside, elsewhere)
	}
	measured(t, "%d MiB announced by one address; a file of somebody else, in the same app: %s, in another app of the account: %s", n*10, beside, elsewhere)
}

// TestStrangersFiles has a stranger send files that stop half-way, from one address, in
// as many connections as there are places. A file of somebody else goes through.
func TestStrangersFiles(t *testing.T) {
	s := newScene(t)
	i := 0
	anybody := program.NewClient(t, s.p)
	hold := s.hold(t, 64, func() slowness {
		announcer := fmt.Sprint("192.0.2.", i%100+1) // one address may not announce so many
		i++
		kind := slowFile(t, anybody, s.app.APIKey, announcer)
		kind.begin = strings.Replace(kind.begin, announcer, "198.51.100.66", 1)
		return kind
	})
	status, code := sendFile(t, s.next, s.nextApp.APIKey)
	if *attacked == "" && status != http.StatusOK {
		t.Errorf("somebody else's file: %d %s", status, code)
	}
	measured(t, "%d slow files from one address; somebody else's file meanwhile: %d", hold, status)
}

// TestSlowReaders has a user of one account read lists and exports at no speed at all.
// Lists and exports of another account are answered.
func TestSlowReaders(t *testing.T) {
	beside(t)
	s := newScene(t)
	for i := range 200 {
		long := program.Params{"title": fmt.Sprint("long ", i), "description": strings.Repeat("界", 10_000)}
		s.next.Want(t, "ok", "widget-submit-request", s.app.APIKey, long)
		s.next.Want(t, "ok", "widget-submit-request", s.nextApp.APIKey, long)
	}
	t.Run("lists", func(t *testing.T) {
		list := fmt.Sprintf(`{"limit":200,"app_id":%q}`, s.app.ID)
		n := s.hold(t, 16, func() slowness {
			return slowness{unread: true, begin: fmt.Sprintf("POST /api/requests-list HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
				s.token, len(list), list)}
		})
		code, took := s.timed(t, func() string {
			got, err := s.next.Call("requests-list", s.nextTk, program.Params{"limit": 200})
			if err != nil {
				return err.Error()
			}
			return got.Code
		})
		if *attacked == "" && code != "ok" {
			t.Errorf("somebody else's list: %s", code)
		}
		measured(t, "%d lists that nobody reads; somebody else's list: %s after %v", n, code, took)
	})
	t.Run("exports", func(t *testing.T) {
		n := s.hold(t, 16, func() slowness {
			return slowness{unread: true, begin: "GET " + s.exportLink(t, s.token) + " HTTP/1.1\r\nHost: x\r\n\r\n"}
		})
		code, took := s.timed(t, func() string { return s.download(t, s.exportLink(t, s.nextTk)) })
		if *attacked == "" && code != "200 OK" {
			t.Errorf("somebody else's export: %s", code)
		}
		measured(t, "%d exports that nobody reads; somebody else's export: %s after %v", n, code, took)
	})
}

// hold opens connections that come to no end, waits until the service has taken from
// them what it takes, and closes them when the test ends.
func (s *scene) hold(t *testing.T, n int, kind func() slowness) int {
	t.Helper()
	var all crowd
	t.Cleanup(all.close)
	for range n {
		all.add(t, s.p, kind(), 1)
	}
	// The places are taken when the service has had nothing more to do for a second.
	last, quiet := time.Duration(-1), 0
	await(t, "the service rests", func() bool {
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

func (s *scene) timed(t *testing.T, call func() string) (string, time.Duration) {
	t.Helper()
	began := time.Now()
	code := call()
	return code, time.Since(began).Round(time.Millisecond)
}

// exportLink is a link to an export of all that an account has.
func (s *scene) exportLink(t *testing.T, token string) string {
	t.Helper()
	got := s.next.Want(t, "ok", "requests-export", token, program.Params{"format": "jsonl"})
	return got.URL
}

// download reads an export to its end and returns the status.
func (s *scene) download(t *testing.T, link string) string {
	t.Helper()
	response, err := s.next.HTTP.Get(s.p.URL + link)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close() //nolint:errcheck // read to its end
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err.Error()
	}
	return response.Status
}

// TestCrowdedLogins has one user log in sixty times at once, with the right password.
// Somebody else's login does not wait behind all of them.
func TestCrowdedLogins(t *testing.T) {
	s := newScene(t)
	const crowdSize = 60
	login := func(c program.Client, email string) time.Duration {
		began := time.Now()
		got, err := c.Call("auth-login", "", program.Params{"email": email, "password": program.Password})
		if err != nil || got.Code != "ok" && *attacked == "" {
			t.Errorf("%s: %s %v", email, got.Code, err)
		}
		return time.Since(began)
	}
	alone := login(s.next, "grace@example.com")
	var crowd sync.WaitGroup
	var ended, begun atomic.Int64
	for range crowdSize {
		crowd.Go(func() {
			begun.Add(1)
			login(s.stranger, program.Email)
			ended.Add(1)
		})
	}
	await(t, "the crowd is there", func() bool { return begun.Load() == crowdSize && ended.Load() > 0 })
	before := ended.Load()
	beside := login(s.next, "grace@example.com")
	overtaken := ended.Load() - before
	crowd.Wait()
	if *attacked == "" && overtaken > crowdSize/3 {
		t.Errorf("%d logins of somebody else came first", overtaken)
	}
	measured(t, "%d logins of one user at once: somebody else's takes %v, %v alone, and %d of the crowd came first",
		crowdSize, beside.Round(time.Millisecond), alone.Round(time.Millisecond), overtaken)
}

// TestIdleConnections opens as many connections as the service takes, from one address
// that is neither loopback nor a proxy. Somebody else gets through.
func TestIdleConnections(t *testing.T) {
	beside(t)
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
		if err == nil { // one call, and then nothing more
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
	defer conn.Close() //nolint:errcheck // it was read
	began := time.Now()
	status := askReady(conn)
	if *attacked == "" && status != "HTTP/1.1 200 OK" {
		t.Errorf("somebody else: %s", status)
	}
	measured(t, "%d idle connections from one address, of which %d were closed at once: somebody else is answered %q after %v",
		n, closed, status, time.Since(began).Round(time.Millisecond))
}

// isOpen reports whether the service has left a connection open so far.
func isOpen(conn net.Conn) bool {
	_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond)) // fails as reading does
	_, err := io.Copy(io.Discard, conn)
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// askReady sends a call and returns the first line of the answer, or the error.
func askReady(conn net.Conn) string {
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second)) // fails as writing does
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
