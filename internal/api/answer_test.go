package api

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"gatherkit/internal/calls"
	"gatherkit/internal/store/storetest"
)

// TestNoRetryAfter: an error that does not go away by waiting has no Retry-After.
func TestNoRetryAfter(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	for operation, status := range map[string]int{"apps-list": 401, "nonsense": 404, "widget-submit-request": 400} {
		who := map[string]string{"widget-submit-request": "key"}[operation]
		if got := s.call(operation, who, "{}"); got.status != status || len(got.header.Values("Retry-After")) > 0 {
			t.Errorf("%s: %d %v", operation, got.status, got.header)
		}
	}
}

// TestUnavailableIsLogged: a warning is logged if the database is unavailable, but not if
// the client disconnects.
func TestUnavailableIsLogged(t *testing.T) {
	var log bytes.Buffer
	s := newService(t, storetest.SQLite(t), func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	const warning = "level=WARN msg=call"
	gone, leave := context.WithCancel(context.Background())
	leave()
	log.Reset()
	got := serve(s.api, s.request("apps-list", "owner", "{}").WithContext(gone))
	if got.status != 503 || strings.Contains(log.String(), warning) {
		t.Errorf("the caller has left: %d, %s", got.status, &log)
	}
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	log.Reset()
	got = s.call("apps-list", "owner", "{}")
	if got.status != 503 || !strings.Contains(log.String(), warning) || !strings.Contains(log.String(), " error=") {
		t.Errorf("the database is closed: %d, %s", got.status, &log)
	}
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("%d lines about one call: %s", n, &log)
	}
}

// TestQuietLog: calls can be left out of the log, and those that fail because of the service are still in it.
func TestQuietLog(t *testing.T) {
	var log bytes.Buffer
	s := newService(t, storetest.SQLite(t), func(o *Options) { o.Log, o.QuietLog = slog.New(slog.NewTextHandler(&log, nil)), true })
	log.Reset()
	if got := s.call("apps-list", "owner", "{}"); got.status != 200 || log.Len() > 0 {
		t.Errorf("%d, %s", got.status, &log)
	}
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	if got := s.call("apps-list", "owner", "{}"); got.status != 503 || strings.Count(log.String(), "level=WARN msg=call") != 1 {
		t.Errorf("%d, %s", got.status, &log)
	}
}

// TestUntrustedProxiesAreLogged: a warning is logged once if an untrusted proxy sends a
// forwarding header.
func TestUntrustedProxiesAreLogged(t *testing.T) {
	for _, c := range []struct {
		header, trusted string
		want            int
	}{
		{"", "10.0.0.0/8", 0},
		{"X-Forwarded-For", "10.0.0.0/8", 1},
		{"Forwarded", "10.0.0.0/8", 1},
		{"X-Real-IP", "10.0.0.0/8", 1},
		{"X-Forwarded-For", "192.0.2.0/24", 0},
		{"Forwarded", "192.0.2.0/24", 0},
	} {
		var log bytes.Buffer
		s := newService(t, storetest.SQLite(t), func(o *Options) {
			o.Log, o.TrustedProxies = slog.New(slog.NewTextHandler(&log, nil)), []netip.Prefix{netip.MustParsePrefix(c.trusted)}
		})
		for range 2 {
			r := s.request("auth-me", "owner", "")
			r.RemoteAddr = "192.0.2.1:1234"
			if c.header != "" {
				r.Header.Set(c.header, "198.51.100.7")
			}
			serve(s.api, r)
		}
		if got := strings.Count(log.String(), "--trusted-proxies="); got != c.want {
			t.Errorf("%q from a peer, with %s trusted: %d warnings, want %d", c.header, c.trusted, got, c.want)
		}
	}
}

// TestRefreshCookieFollowsThePublicURL: browsers send the cookie only to auth-refresh, and
// over plain http only if the public URL is plain http.
func TestRefreshCookieFollowsThePublicURL(t *testing.T) {
	for public, want := range map[string]string{
		"":                               "/api/auth-refresh true",
		"https://feedback.example.com":   "/api/auth-refresh true",
		"https://example.com/feedback/":  "/feedback/api/auth-refresh true",
		"http://localhost:8080/feedback": "/feedback/api/auth-refresh false",
	} {
		var server calls.Server
		if public != "" {
			u, err := url.Parse(public)
			if err != nil {
				t.Fatal(err)
			}
			server.PublicURL = u
		}
		c := server.Cookie(cookieName, cookiePath, "token", cookieLife)
		if fmt.Sprint(c.Path, " ", c.Secure) != want || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode {
			t.Errorf("%q: %v", public, c)
		}
	}
}
