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

	"gatherkit/internal/store/storetest"
)

// TestNoRetryAfter: a refusal that does not pass by itself says no time to wait.
func TestNoRetryAfter(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	for operation, status := range map[string]int{"apps-list": 401, "nonsense": 404, "widget-submit-request": 400} {
		who := map[string]string{"widget-submit-request": "key"}[operation]
		if got := s.call(operation, who, "{}"); got.status != status || len(got.header.Values("Retry-After")) > 0 {
			t.Errorf("%s: %d %v", operation, got.status, got.header)
		}
	}
}

// TestTroubleIsLogged: the log warns when the database does not answer, and not when a
// caller does not wait for the answer.
func TestTroubleIsLogged(t *testing.T) {
	var log bytes.Buffer
	s := newService(t, storetest.SQLite(t), func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	const warning = "level=WARN msg=unavailable"
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
	if got = s.call("apps-list", "owner", "{}"); got.status != 503 || !strings.Contains(log.String(), warning) {
		t.Errorf("the database is closed: %d, %s", got.status, &log)
	}
}

// TestUnnamedProxiesAreLogged: the log warns once of each header by which a proxy says for
// whom it calls, and not without one or when the proxy is trusted.
func TestUnnamedProxiesAreLogged(t *testing.T) {
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

// TestRefreshCookieFollowsThePublicURL: the cookie goes to the one operation that takes it,
// and over plain http only where the operator says that the service is reached so.
func TestRefreshCookieFollowsThePublicURL(t *testing.T) {
	for public, want := range map[string]string{
		"":                               "/api/auth-refresh true",
		"https://feedback.example.com":   "/api/auth-refresh true",
		"https://example.com/feedback/":  "/feedback/api/auth-refresh true",
		"http://localhost:8080/feedback": "/feedback/api/auth-refresh false",
	} {
		a := &API{}
		if public != "" {
			u, err := url.Parse(public)
			if err != nil {
				t.Fatal(err)
			}
			a.PublicURL = u
		}
		if c := a.refreshCookie("token"); fmt.Sprint(c.Path, " ", c.Secure) != want || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode {
			t.Errorf("%q: %v", public, c)
		}
	}
}
