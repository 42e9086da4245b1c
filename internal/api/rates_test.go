package api

import (
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"gatherkit/internal/store/storetest"
)

// TestSearchLimit: searches for similar requests have their own limit.
func TestSearchLimit(t *testing.T) {
	s := newService(t, storetest.SQLite(t), func(o *Options) { o.SubmitRate = 2 })
	s.submit("T")
	for i, want := range []string{"ok", "ok", "api.rate_limited"} {
		if got := s.call("widget-similar-requests", "key", `{"text":"T"}`); got.code(t) != want {
			t.Errorf("call %d: %s, want %s", i, got.body, want)
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
		for range keyedPerSubmit {
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

// TestRateMemory: if there are too many addresses, new ones share the counter of their network,
// and others are not affected.
func TestRateMemory(t *testing.T) {
	r, now := addressRate(2, time.Minute), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	address := func(network string, i int) netip.Prefix {
		a := netip.MustParseAddr(network).As16()
		binary.BigEndian.PutUint32(a[4:], uint32(i))
		return netip.PrefixFrom(netip.AddrFrom16(a), 64)
	}
	v4 := func(a string) netip.Prefix { return netip.PrefixFrom(netip.MustParseAddr(a), 32) }
	refused := 0
	for i := range 3 * maxCounted {
		if err := r.allow(address("2001:db8::", i), 1, now); err != nil {
			refused++
		}
	}
	const alone, networks = maxCounted / 2, 2 // numbers of separate counters
	if want := 3*maxCounted - alone - 2*networks; len(r.current) != alone+networks || refused != want {
		t.Errorf("%d addresses are counted and %d calls refused, want %d and %d", len(r.current), refused, alone+networks, want)
	}
	for i, c := range []struct {
		from netip.Prefix
		want bool
	}{
		{address("2001:db8::", 0), true}, // its second call, with a counter of its own
		{address("2001:db8::", 0), false},
		{address("2001:db9::", 0), true},
		{v4("198.51.100.1"), true},
		{v4("198.51.100.2"), true}, // shares the counter of the previous one
		{v4("198.51.100.3"), false},
		{v4("198.52.100.1"), true},
		{netip.Prefix{}, true},
	} {
		if err := r.allow(c.from, 1, now); (err == nil) != c.want {
			t.Errorf("call %d from %s: %v", i, c.from, err)
		}
	}
	if err := r.allow(address("2001:db8::", maxCounted), 1, now.Add(2*time.Minute)); err != nil || len(r.current) != 1 {
		t.Errorf("two minutes later: %v, %d addresses", err, len(r.current))
	}
	for i := range maxCounted {
		_ = r.allow(address("2001:dba::", i<<16), 1, now) // each in another network
	}
	if n := len(r.current); n != maxCounted {
		t.Errorf("%d addresses and networks are counted, want %d", n, maxCounted)
	}
}
