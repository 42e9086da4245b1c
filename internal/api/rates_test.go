package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gatherkit/internal/limits"
	"gatherkit/internal/store/storetest"
)

// TestReadLimits: searches for similar requests and pages of the changelog have their own limits.
func TestReadLimits(t *testing.T) {
	s := newService(t, storetest.SQLite(t), func(o *Options) { o.SubmitRate = 2 })
	s.submit("T")
	for name, body := range map[string]string{"widget-similar-requests": `{"text":"T"}`, "widget-entries": `{}`} {
		for i, want := range []string{"ok", "ok", "api.rate_limited"} {
			if got := s.call(name, "key", body); got.code(t) != want {
				t.Errorf("%s, call %d: %s, want %s", name, i, got.body, want)
			}
		}
	}
	// Both read a portal like its pages, and share the limit of the changelog.
	for name, body := range map[string]string{"widget-board": `{}`, "widget-request": s.filled(`{"id":"{app}"}`)} {
		if got := s.call(name, "key", body); got.code(t) != "api.rate_limited" {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	s.submit("U")
}

// TestKeyedLimit: every call with an API key counts, successful or not. Beyond the limit, calls
// are refused before the key is looked up and the body is read.
func TestKeyedLimit(t *testing.T) {
	for _, spend := range []string{"widget-submit-request", "widget-create-upload", "widget-similar-requests", "widget-vote", configPath} {
		s := newService(t, storetest.SQLite(t), func(o *Options) { o.SubmitRate = 1 })
		s.names["junk"] = "gk_junk"
		call := func(path, from string) answer {
			r := s.request(path, "junk", "{")
			if path == configPath {
				r = httptest.NewRequest(http.MethodGet, configPath+"junk.json", http.NoBody)
			}
			r.RemoteAddr = from + ":4711"
			return serve(s.api, r)
		}
		for range limits.KeyedPerSubmit {
			if got := call(spend, "198.51.100.1"); got.status != http.StatusUnauthorized && got.status != http.StatusNotFound {
				t.Errorf("%s: %d %s", spend, got.status, got.body)
			}
		}
		for _, o := range s.api.order {
			if o.guard != guardWidget {
				continue
			}
			body := &countedReader{}
			r := httptest.NewRequest(http.MethodPost, "/api/"+o.name, body)
			r.RemoteAddr = "198.51.100.1:4711"
			if got := serve(s.api, r); got.code(t) != "api.rate_limited" || got.header.Get("Retry-After") == "" || body.reads > 0 {
				t.Errorf("%s after %s: %d %s, body read %d times", o.name, spend, got.status, got.body, body.reads)
			}
		}
		if got := call(configPath, "198.51.100.1"); got.code(t) != "api.rate_limited" || got.header.Get("Retry-After") == "" {
			t.Errorf("the configuration after %s: %d %s", spend, got.status, got.body)
		}
		for _, from := range []string{"198.51.100.2", "127.0.0.1"} {
			if got := call(spend, from); got.status == http.StatusTooManyRequests {
				t.Errorf("%s from %s: %s", spend, from, got.body)
			}
		}
		s.must("apps-list", "owner", "")
	}
}

// countedReader is an endless body that counts reads.
type countedReader struct{ reads int }

func (c *countedReader) Read(b []byte) (int, error) {
	c.reads++
	return len(b), nil
}

// TestRewinds: an account rewinds its webhooks 20 times an hour, which does not count as sending, and the refusal says
// that it is the account's limit.
func TestRewinds(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.names["webhook"] = s.webhook("owner")
	rewind := func(who string) answer {
		return s.call("webhooks-rewind", who, s.filled(`{"id":"{webhook}","after":0}`))
	}
	for range 20 {
		if got := rewind("owner"); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	const says = "An account can rewind webhooks 20 times an hour"
	if got := rewind("admin"); got.code(t) != "api.rate_limited" || !strings.Contains(string(got.body), says) {
		t.Errorf("%d %s", got.status, got.body)
	}
	for n := range 11 {
		if got := s.call("webhooks-test", "owner", s.filled(`{"id":"{webhook}"}`)); (n < 10) != (got.status == http.StatusOK) {
			t.Errorf("test %d: %d %s", n, got.status, got.body)
		}
	}
}
