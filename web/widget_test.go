package web

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func serve(t *testing.T, demo *Demo) http.Handler {
	t.Helper()
	h, err := New(http.NotFoundHandler(), func(context.Context) error { return nil }, demo)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func get(h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func readAll(t *testing.T, from io.Reader) string {
	t.Helper()
	b, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestWidgetFiles checks the headers with which pages of other origins get the widget.
func TestWidgetFiles(t *testing.T) {
	h := serve(t, nil)
	for path, mediaType := range map[string]string{
		"/widget.js": "text/javascript; charset=utf-8", "/widget.mjs": "text/javascript; charset=utf-8",
		"/widget.d.ts":      "text/plain; charset=utf-8",
		"/widget/extras.js": "text/javascript; charset=utf-8", "/widget/mine.js": "text/javascript; charset=utf-8",
		"/widget/news.js":         "text/javascript; charset=utf-8",
		"/widget/locales/de.json": "application/json; charset=utf-8",
	} {
		plain := get(h, path)
		whole := readAll(t, plain.Body)
		for name, want := range map[string]string{
			"Content-Type": mediaType, "Cache-Control": "public, max-age=300", "Access-Control-Allow-Origin": "*", "Vary": "Accept-Encoding",
			"Cross-Origin-Resource-Policy": "cross-origin", "X-Content-Type-Options": "nosniff", "Content-Encoding": "",
		} {
			if got := plain.Header().Get(name); got != want || plain.Code != http.StatusOK || whole == "" {
				t.Errorf("%s: %d, %s: %q", path, plain.Code, name, got)
			}
		}
		compressed := get(h, path, "Accept-Encoding", "br, gzip")
		uncompressed, err := gzip.NewReader(compressed.Body)
		if err != nil || compressed.Header().Get("Content-Encoding") != "gzip" {
			t.Fatalf("%s: %v", path, err)
		}
		if readAll(t, uncompressed) != whole {
			t.Errorf("%s: the compressed content differs", path)
		}
		tag := compressed.Header().Get("ETag")
		again := get(h, path, "Accept-Encoding", "gzip", "If-None-Match", tag)
		if tag == plain.Header().Get("ETag") || again.Code != http.StatusNotModified {
			t.Errorf("%s: wrong ETag %s", path, tag)
		}
	}
	if get(h, "/widget/").Code != http.StatusNotFound || get(h, "/widget/locales/").Code != http.StatusNotFound {
		t.Error("the service lists a folder")
	}
}

// TestDemoPage checks that only the example serves the demo page, and that names are escaped
// in it.
func TestDemoPage(t *testing.T) {
	if get(serve(t, nil), "/demo").Code != http.StatusNotFound {
		t.Error("the service shows the example's page")
	}
	page := get(serve(t, &Demo{AppName: `<script>alert(1)</script>`, Key: `"><script>`, Password: `" onload="alert(1)`}), "/demo")
	body := readAll(t, page.Body)
	if opener := page.Header().Get("Cross-Origin-Opener-Policy"); opener != "same-origin" {
		t.Errorf("Cross-Origin-Opener-Policy: %q", opener)
	}
	policy := page.Header().Get("Content-Security-Policy")
	if page.Code != http.StatusOK || strings.Contains(body, "<script>") || strings.Contains(body, `" onload="`) ||
		!strings.Contains(policy, "require-trusted-types-for 'script'") {
		t.Errorf("%d %s", page.Code, body)
	}
}
