package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// serve returns a service that answers the n-th call with answer.
func serve(t *testing.T, answer func(n int, r *http.Request, body string) (status int, text string)) (Service, *[]time.Duration) {
	t.Helper()
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		status, text := answer(n, r, string(body))
		if status == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "7")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	var slept []time.Duration
	return Service{URL: server.URL, Token: "secret", Sleep: func(_ context.Context, d time.Duration) error {
		slept = append(slept, d)
		return nil
	}}, &slept
}

const limited = `{"ok":false,"error":{"code":"api.rate_limited","message":"Wait."}}`

func TestCall(t *testing.T) {
	s, slept := serve(t, func(n int, r *http.Request, body string) (int, string) {
		if r.Method+r.URL.Path != "POST/api/requests-get" || r.Header.Get("Authorization") != "Bearer secret" || body != `{"id":"x"}` {
			t.Errorf("%s %s %v %s", r.Method, r.URL, r.Header, body)
		}
		if n <= 2 {
			return http.StatusTooManyRequests, limited
		}
		return http.StatusOK, `{"ok":true,"result":{"a":1}}`
	})
	got, err := s.Call(t.Context(), "requests-get", map[string]any{"id": "x"})
	if err != nil || string(got) != `{"a":1}` || !slices.Equal(*slept, []time.Duration{7 * time.Second, 7 * time.Second}) {
		t.Errorf("%s, %v, after %v", got, err, *slept)
	}
}

func TestCallRefused(t *testing.T) {
	calls := 0
	for text, want := range map[string]string{
		`{"ok":false,"error":{"code":"requests.not_found","message":"There is none."}}`: "requests.not_found: There is none.",
		`<html>`: "and not as Gatherkit does",
		`{}`:     "and not as Gatherkit does",
	} {
		s, slept := serve(t, func(int, *http.Request, string) (int, string) { return http.StatusNotFound, text })
		if _, err := s.Call(t.Context(), "requests-get", nil); err == nil || !strings.Contains(err.Error(), want) || len(*slept) > 0 {
			t.Errorf("%s: %v, after %v", text, err, *slept)
		}
	}
	s, _ := serve(t, func(int, *http.Request, string) (int, string) {
		calls++
		return http.StatusTooManyRequests, limited
	})
	var refusal *Refusal
	if _, err := s.Call(t.Context(), "apps-list", nil); !errors.As(err, &refusal) || refusal.Code != "api.rate_limited" || calls != maxTries {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// TestCallRedirected: the token is not sent to where a service redirects.
func TestCallRedirected(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the other address gets %v", r.Header)
	}))
	defer elsewhere.Close()
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusPermanentRedirect))
	defer server.Close()
	_, err := Service{URL: server.URL, Token: "secret"}.Call(t.Context(), "apps-list", nil)
	if err == nil || !strings.Contains(err.Error(), "redirects to "+elsewhere.URL) {
		t.Errorf("%v", err)
	}
}

func TestEach(t *testing.T) {
	s, _ := serve(t, func(n int, _ *http.Request, body string) (int, string) {
		if want := []string{"", `{"limit":2}`, `{"cursor":"c1","limit":2}`, `{"cursor":"c2","limit":2}`}[n]; body != want {
			t.Errorf("call %d sends %s, want %s", n, body, want)
		}
		return http.StatusOK, fmt.Sprintf(`{"ok":true,"result":{"tags":[%d],"total":3,"has_more":%t,"next_cursor":"c%d"}}`, n, n < 3, n)
	})
	var got []string
	err := s.Each(t.Context(), "tags-list", map[string]any{"limit": 2}, func(item json.RawMessage) error {
		got = append(got, string(item))
		return nil
	})
	if err != nil || !slices.Equal(got, []string{"1", "2", "3"}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, result := range []string{`{}`, `{"a":[]}`, `{"a":[],"b":[],"has_more":false}`} {
		s, _ := serve(t, func(int, *http.Request, string) (int, string) {
			return http.StatusOK, `{"ok":true,"result":` + result + `}`
		})
		if err := s.Each(t.Context(), "tags-list", map[string]any{}, nil); !errors.Is(err, errNoList) {
			t.Errorf("%s: %v", result, err)
		}
	}
}

func TestSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "login.json")
	if got, err := Load(path); err != nil || got.URL != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, s := range []Service{{URL: "https://a.example", Token: "one"}, {URL: "https://b.example", Token: "two"}} {
		if err := s.Save(path); err != nil {
			t.Fatal(err)
		}
		if got, err := Load(path); err != nil || got.URL != s.URL || got.Token != s.Token {
			t.Errorf("%+v, %v", got, err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if list, err := os.ReadDir(filepath.Dir(path)); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil {
		t.Error("a broken file is read")
	}
}

func TestParse(t *testing.T) {
	for address, want := range map[string]string{
		"https://a.example": "https://a.example", "http://127.0.0.1:8080/": "http://127.0.0.1:8080",
		"https://a.example/b/": "https://a.example/b",
		"a.example":            "", "ftp://a.example": "", "": "", "https://": "",
		"https://a.example/?b": "", "https://a.example?b=c": "", "https://a.example#b": "",
	} {
		if got, err := Parse(address); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", address, got, err)
		}
	}
}

// TestTooLong: a service that asks to wait for hours gets no further call, and the caller gets its answer.
func TestTooLong(t *testing.T) {
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls++
		w.Header().Set("Retry-After", "121")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, limited)
	}))
	defer server.Close()
	s := Service{URL: server.URL, Sleep: func(_ context.Context, d time.Duration) error {
		t.Errorf("it waits for %v", d)
		return nil
	}}
	if _, err := s.Call(t.Context(), "requests-get", nil); err == nil || err.Error() != "api.rate_limited: Wait." || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}
