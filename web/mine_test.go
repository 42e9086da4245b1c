package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestMineFiles checks the files of /mine and of portals, and that the API answers the page itself.
func TestMineFiles(t *testing.T) {
	h := serve(t, nil)
	for name, mediaType := range map[string]string{
		"/mine/style.css": "text/css; charset=utf-8", "/mine/mine.js": "text/javascript; charset=utf-8",
		"/portal/style.css": "text/css; charset=utf-8", "/portal/portal.js": "text/javascript; charset=utf-8",
		"/mine/brand/4F46E5.css": "text/css; charset=utf-8", "/mine/brand/4f46e5.svg": "image/svg+xml",
	} {
		got := get(h, name)
		header := got.Header()
		if got.Code != http.StatusOK || header.Get("Content-Type") != mediaType || header.Get("X-Content-Type-Options") != "nosniff" ||
			got.Body.Len() == 0 {
			t.Errorf("%s: %d %v", name, got.Code, header)
		}
	}
	if style := get(h, "/mine/style.css", "Accept-Encoding", "gzip"); style.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("%v", style.Header())
	}
	for _, name := range []string{"/mine/brand/red.css", "/mine/brand/4F46E5.html", "/mine/", "/mine/other"} {
		if got := get(h, name); got.Code != http.StatusNotFound {
			t.Errorf("%s: %d", name, got.Code)
		}
	}
	api := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	h, err := New(api, func(context.Context) error { return nil }, nil)
	if err != nil {
		t.Fatal(err)
	}
	for method, want := range map[string]int{"GET": 418, "HEAD": 418, "POST": 418, "PUT": 405, "DELETE": 405} {
		for _, page := range []string{"/mine?x", "/mail/confirm?t=x", "/mail/stop?t=x"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(method, page, strings.NewReader("")))
			if w.Code != want {
				t.Errorf("%s %s: %d, want %d", method, page, w.Code, want)
			}
		}
	}
}
