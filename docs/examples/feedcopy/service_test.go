package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestCall checks that a call is repeated until there is an answer that says something about it.
func TestCall(t *testing.T) {
	answers := []struct {
		status int
		body   string
		away   bool // whether the service may have been restarted
	}{
		{http.StatusTooManyRequests, `{"ok":false,"error":{"code":"api.rate_limited"}}`, false},
		{http.StatusServiceUnavailable, `{"ok":false,"error":{"code":"api.unavailable"}}`, true},
		{http.StatusBadGateway, "<html>", true},
		{http.StatusOK, `{"ok":true,"result":{"position":`, true},
		{http.StatusOK, `{"ok":true,"result":{"position":7}}`, false},
	}
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/events-list" || r.Header.Get("Authorization") != "Bearer gtk_1" {
			t.Errorf("%s with %q", r.URL.Path, r.Header)
		}
		w.WriteHeader(answers[n].status)
		_, _ = w.Write([]byte(answers[n].body))
		n++
	}))
	defer server.Close()
	for i, a := range answers {
		s := service{url: server.URL, token: "gtk_1", http: server.Client()}
		n = i
		_, err := s.try(t.Context(), "events-list", params{}, nil)
		if failed := i < len(answers)-1; s.away != a.away || (err != nil) != failed {
			t.Errorf("answer %d: away is %v, %v", i, s.away, err)
		}
	}
	s := service{url: server.URL, token: "gtk_1", http: server.Client()}
	var p page
	n = 0
	if err := s.call(t.Context(), "events-list", params{}, &p); err != nil || p.Position != 7 || n != len(answers) {
		t.Errorf("position %d after %d answers, %v", p.Position, n, err)
	}
}

// TestRefusals checks which answers end a call, and what Retry-After says about others.
func TestRefusals(t *testing.T) {
	status, body, wait := 0, "", ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", wait)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	s := service{url: server.URL, token: "gtk_1", http: server.Client()}
	for _, status = range []int{http.StatusUnauthorized, http.StatusForbidden} {
		for _, body = range []string{`{"ok":false,"error":{"code":"auth.forbidden"}}`, "<html>"} {
			if err := s.call(t.Context(), "audit-list", params{}, nil); err == nil || !strings.Contains(err.Error(), "scope admin") {
				t.Errorf("%d: %v", status, err)
			}
		}
	}
	status, body = http.StatusConflict, `{"ok":false,"error":{"code":"events.position_ahead"}}`
	if err := s.call(t.Context(), "events-list", params{}, nil); !isCode(err, "events.position_ahead") {
		t.Error(err)
	}
	wait = "42"
	for _, status = range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
		if after, err := s.try(t.Context(), "events-list", params{}, nil); after.Seconds() != 42 || err == nil {
			t.Errorf("%d: after %v, %v", status, after, err)
		}
	}
}
