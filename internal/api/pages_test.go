package api

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/store/storetest"
)

// boxes returns the numbers of live requests and of those in quarantine.
func (s *service) boxes() [2]float64 {
	s.t.Helper()
	live, quarantine := s.must("requests-list", "owner", `{}`), s.must("requests-list", "owner", `{"box":"quarantine"}`)
	return [2]float64{live["total_count"].(float64), quarantine["total_count"].(float64)}
}

// TestBurstOfPage: bursts of pages are detected even without form, those of backends are not.
func TestBurstOfPage(t *testing.T) {
	for origin, want := range map[string][2]float64{"https://shop.example": {4, 3}, "": {7, 0}} {
		s := newService(t, storetest.SQLite(t))
		for i := range 7 {
			requestID(t, s.submitFrom(origin, fmt.Sprint("Cheap watches at example.com ", i), fmt.Sprint("k", i)))
		}
		if got := s.boxes(); got != want {
			t.Errorf("from %q: %v, want %v", origin, got, want)
		}
	}
}

// TestColleagues: three people with the same address and the same wish are not a burst.
func TestColleagues(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	for _, name := range []string{"ada", "grace", "linus"} {
		s.must("widget-submit-request", "key", fmt.Sprintf(
			`{"title":"Dark mode","description":"","email":"%s@example.com","form":{"seconds":20}}`, name))
	}
	if got := s.boxes(); got != [2]float64{3, 0} {
		t.Errorf("%v", got)
	}
}

// TestUntrustedProxy: calls that a proxy on this machine forwards are not exempt from limits,
// and a warning says what to set.
func TestUntrustedProxy(t *testing.T) {
	const proxied, trusted = "X-Forwarded-For", "127.0.0.1/32"
	for name, c := range map[string]struct {
		peer, header, trusted string
		limited               bool
		hint                  string
	}{
		"this machine":            {"127.0.0.1:4711", "", "", false, ""},
		"this machine, IPv6":      {"[::1]:4711", "", "", false, ""},
		"a proxy":                 {"127.0.0.1:4711", proxied, "", true, "--trusted-proxies=127.0.0.1"},
		"a proxy, IPv6":           {"[::1]:4711", proxied, "", true, "--trusted-proxies=::1"},
		"a proxy, mapped":         {"[::ffff:127.0.0.1]:4711", proxied, "", true, "--trusted-proxies=127.0.0.1"},
		"a proxy, X-Real-IP":      {"127.0.0.1:4711", "X-Real-IP", "", true, "--trusted-proxies=127.0.0.1"},
		"a proxy, Forwarded":      {"127.0.0.1:4711", "Forwarded", "", true, "--trusted-proxies=127.0.0.1"},
		"a trusted proxy":         {"127.0.0.1:4711", proxied, trusted, true, ""}, // the forwarded address is limited
		"a proxy beside":          {"10.0.0.7:4711", proxied, trusted, true, "--trusted-proxies=10.0.0.7"},
		"a stranger who forwards": {"198.51.100.9:4711", proxied, trusted, true, "--trusted-proxies=198.51.100.9"},
	} {
		var log bytes.Buffer
		s := newService(t, storetest.SQLite(t), func(o *Options) {
			o.SubmitRate, o.Log = 5, slog.New(slog.NewJSONHandler(&log, nil))
			if c.trusted != "" {
				o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix(c.trusted)}
			}
		})
		limited := false
		for i := range 6 {
			r := s.request("widget-submit-request", "key", fmt.Sprintf(`{"title":"Watches","description":"","form":{},"idempotency_key":"%d"}`, i))
			r.RemoteAddr = c.peer
			if c.header != "" {
				r.Header.Set(c.header, "198.51.100.1")
			}
			limited = serve(s.api, r).code(t) == "api.rate_limited"
		}
		if limited != c.limited || (s.boxes()[1] > 0) != c.limited {
			t.Errorf("%s: limited %v, %v", name, limited, s.boxes())
		}
		if got := strings.Count(log.String(), "--trusted-proxies"); got != min(1, len(c.hint)) || !strings.Contains(log.String(), c.hint) {
			t.Errorf("%s: %d warnings: %s", name, got, log.String())
		}
	}
}

// TestSilentProxy: calls that a trusted proxy forwards without the address of the client count as one client, which is
// not exempt from limits. A warning says so once a minute.
func TestSilentProxy(t *testing.T) {
	for _, peer := range []string{"127.0.0.1", "::1", "10.0.0.7"} {
		for _, forwarded := range []string{"", "unknown", "127.0.0.1", "198.51.100.7, _hidden"} {
			var log bytes.Buffer
			s := newService(t, storetest.SQLite(t), func(o *Options) {
				o.SubmitRate, o.Log = 5, slog.New(slog.NewJSONHandler(&log, nil))
				for _, network := range []string{"127.0.0.0/8", "::1/128", "10.0.0.0/8"} {
					o.TrustedProxies = append(o.TrustedProxies, netip.MustParsePrefix(network))
				}
			})
			submit := func() answer {
				r := s.request("widget-submit-request", "key", `{"title":"T","description":""}`)
				if r.RemoteAddr = netip.AddrPortFrom(netip.MustParseAddr(peer), 4711).String(); forwarded != "" {
					r.Header.Set("X-Forwarded-For", forwarded)
				}
				return serve(s.api, r)
			}
			for range 5 {
				submit()
			}
			if got := submit(); got.code(t) != "api.rate_limited" {
				t.Errorf("%s forwards %q: %d %s", peer, forwarded, got.status, got.body)
			}
			for minute := range 2 {
				if n := strings.Count(log.String(), "X-Forwarded-For"); n != minute+1 {
					t.Errorf("%s forwards %q: %d warnings in %d minutes: %s", peer, forwarded, n, minute+1, log.String())
				}
				s.clock.Move(time.Minute)
				submit()
				submit()
			}
		}
	}
}

// TestWarningsOfProxies: a client on the internet does not use up the warning about the
// operator's proxy.
func TestWarningsOfProxies(t *testing.T) {
	var log bytes.Buffer
	s := newService(t, storetest.SQLite(t), func(o *Options) { o.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
	for _, peer := range []string{"198.51.100.9", "203.0.113.5", "10.0.0.7", "10.0.0.8", "127.0.0.1", "127.0.0.2"} {
		r := s.request("setup-status", "", "")
		r.RemoteAddr = peer + ":4711"
		r.Header.Set("X-Forwarded-For", "198.51.100.1")
		serve(s.api, r)
	}
	for peer, want := range map[string]int{"198.51.100.9": 1, "203.0.113.5": 0, "10.0.0.7": 1, "10.0.0.8": 0, "127.0.0.1": 1, "127.0.0.2": 0} {
		if got := strings.Count(log.String(), "--trusted-proxies="+peer+`"`); got != want {
			t.Errorf("%s: %d warnings, want %d: %s", peer, got, want, log.String())
		}
	}
}
