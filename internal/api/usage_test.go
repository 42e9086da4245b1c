package api

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/usage"
)

// used returns what an account has used since the service began.
func (s *service) used(accountID feedback.ID) usage.Use {
	for _, top := range s.store.Usage.Top(1000) {
		if top.AccountID == accountID {
			return top.Use
		}
	}
	return usage.Use{}
}

// TestUsage: a call counts for the account that it is about, however it says who calls, and for no other one.
func TestUsage(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.allowFiles(true)
		s.publicPortal()
		acme := s.accountID()
		list := `{}`
		_, token := s.token("admin", `{"name":"T","kind":"personal","scope":"viewer"}`)
		s.names["token"] = token
		download, second := s.exportOf("owner"), s.exportOf("owner")
		fileID, sendTo := s.announce("key", "a.txt", 5)
		private := s.asker()
		guest := s.guest()
		var fileURL string
		ok := func(got answer) {
			t.Helper()
			if got.status >= http.StatusBadRequest {
				t.Errorf("%d %s", got.status, got.body)
			}
		}
		for _, c := range []struct {
			name  string
			calls int64
			do    func()
		}{
			{"with a session", 1, func() { s.must("requests-list", "viewer", list) }},
			{"with a session, refused", 1, func() { s.call("apps-create", "viewer", `{"name":"A"}`) }},
			{"with a token", 1, func() { s.must("requests-list", "token", list) }},
			{"with an API key", 1, func() { s.must("widget-submit-request", "key", `{"title":"T","description":""}`) }},
			{"that sends a file", 1, func() { ok(s.put(sendTo, strings.NewReader("words"))) }},
			{"with the file's id", 1, func() { ok(s.submitWith(`"` + fileID + `"`)) }},
			{"with its idempotency key again", 1, func() { ok(s.submitWith(`"` + fileID + `"`)) }},
			{"to look for its link", 2, func() {
				all := s.must("requests-list", "owner", `{"sort":"newest","limit":1}`)["requests"].([]any)
				fileURL = s.file(all[0].(map[string]any)["id"].(string))
			}},
			{"that reads it", 1, func() { ok(s.get(fileURL)) }},
			{"of an export", 1, func() { ok(s.open(http.MethodGet, download)) }},
			{"of an export that is broken off", 1, func() {
				defer func() {
					if cause := recover(); cause != http.ErrAbortHandler { //nolint:errorlint // net/http compares it like this
						t.Errorf("%v", cause)
					}
				}()
				s.api.ServeHTTP(gone{httptest.NewRecorder()}, httptest.NewRequest(http.MethodGet, second, http.NoBody))
			}},
			{"of the widget's settings", 1, func() { ok(s.open(http.MethodGet, configPath+s.names["key"]+".json")) }},
			{"of a private page", 1, func() { ok(s.visit(http.MethodGet, "", private, "")) }},
			{"of a portal", 1, func() { ok(guest.get("")) }},
			{"of a portal, a vote", 1, func() { ok(guest.vote(s.names["request"])) }},
			{"of another account", 0, func() { s.must("requests-list", "stranger", list) }},
			{"without credentials", 0, func() { s.call("requests-list", "", list) }},
			{"with a wrong key", 0, func() {
				r := s.request("widget-submit-request", "key", `{"title":"T","description":""}`)
				r.Header.Set("X-API-Key", r.Header.Get("X-API-Key")+"x")
				serve(s.api, r)
			}},
			{"with a broken link", 0, func() { s.get(fileURL + "x") }},
			{"of a page that there is not", 0, func() { s.open(http.MethodGet, "/p/none") }},
		} {
			before := s.used(acme)
			c.do()
			if got := s.used(acme).Calls - before.Calls; got != c.calls {
				t.Errorf("a call %s: %d calls, want %d", c.name, got, c.calls)
			}
		}
		used := s.used(acme)
		if used.Submissions != 3 || used.Files != 1 || used.FileBytes != 5 || used.Mails != 0 || used.Busy <= 0 {
			t.Errorf("%+v", used)
		}

		if err := s.store.Usage.Add(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			after time.Duration
			body  string
			days  int
		}{
			{0, `{}`, 1},
			{0, `{"days":1}`, 1},
			{24 * time.Hour, `{"days":1}`, 0},
			{0, `{"days":2}`, 1},
			{28 * 24 * time.Hour, `{}`, 1},
			{24 * time.Hour, `{}`, 0},
		} {
			s.clock.Move(c.after)
			s.logIn("owner")
			s.logIn("stranger")
			days := s.must("account-usage", "owner", c.body)["days"].([]any)
			if len(days) != c.days {
				t.Errorf("%v later, %s: %v", c.after, c.body, days)
				continue
			}
			if c.days == 0 {
				continue
			}
			day := days[0].(map[string]any)
			if day["submissions"] != 3.0 || day["files"] != 1.0 || day["file_bytes"] != 5.0 || day["calls"] != float64(used.Calls) ||
				day["call_seconds"] != used.Busy.Truncate(time.Microsecond).Seconds() || day["day"] != "2026-01-01" {
				t.Errorf("%v, want %+v", day, used)
			}
			if other := s.must("account-usage", "stranger", c.body)["days"].([]any); other[0].(map[string]any)["submissions"] != 0.0 {
				t.Errorf("another account: %v", other)
			}
		}
	})
}

// gone is a client that has closed its connection.
type gone struct{ *httptest.ResponseRecorder }

func (gone) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// slow waits for a tick before it reads or writes.
type slow struct {
	io.Reader
	*httptest.ResponseRecorder

	tick   <-chan time.Time
	waited *time.Duration
}

func (s slow) Read(b []byte) (int, error) {
	s.wait()
	return s.Reader.Read(b)
}

func (s slow) Write(b []byte) (int, error) {
	s.wait()
	return s.ResponseRecorder.Write(b)
}

func (s slow) wait() {
	began := time.Now()
	<-s.tick
	*s.waited += time.Since(began)
}

// TestUsageWithoutWaiting: the time in which a call waits for its client or for events is not the service's.
func TestUsageWithoutWaiting(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.allowFiles(true)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	_, sendTo := s.announce("key", "a.txt", 5)
	fileID := s.send("key", "b.txt", "words")
	id := s.submitWith(`"` + fileID + `"`)
	if id.status != http.StatusOK {
		t.Fatalf("%s", id.body)
	}
	all := s.must("requests-list", "owner", `{}`)["requests"].([]any)
	fileURL := s.file(all[0].(map[string]any)["id"].(string))
	path := func(link string) string {
		u, err := url.Parse(link)
		if err != nil {
			t.Fatal(err)
		}
		return u.RequestURI()
	}
	for name, r := range map[string]*http.Request{
		"a body":    s.request("widget-submit-request", "key", `{"title":"T","description":""}`),
		"a file":    httptest.NewRequest(http.MethodPut, path(sendTo), strings.NewReader("words")),
		"a link":    httptest.NewRequest(http.MethodGet, path(fileURL), http.NoBody),
		"an export": httptest.NewRequest(http.MethodGet, s.exportOf("owner"), http.NoBody),
	} {
		var waited time.Duration
		w := slow{r.Body, httptest.NewRecorder(), tick.C, &waited}
		if r.Method != http.MethodGet {
			r.Body = io.NopCloser(w)
		}
		before, began := s.used(s.accountID()).Busy, time.Now()
		if r.Method == http.MethodGet {
			s.api.ServeHTTP(w, r)
		} else {
			s.api.ServeHTTP(w.ResponseRecorder, r)
		}
		took := time.Since(began)
		if busy := s.used(s.accountID()).Busy - before; waited == 0 || took-busy < waited || w.Code != http.StatusOK {
			t.Errorf("%s: %d, took %v, waited for %v, but %v counted: %s", name, w.Code, took, waited, busy, w.Body)
		}
	}

	before, began := s.used(s.accountID()).Busy, time.Now()
	s.must("events-list", "owner", `{"wait":1,"kinds":["app.deleted"]}`)
	took := time.Since(began)
	if busy := s.used(s.accountID()).Busy - before; took-busy < time.Second {
		t.Errorf("events: took %v, but %v counted", took, busy)
	}
}
