package static_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gatherkit/internal/static"
)

func ask(h http.Handler, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestContent: a client gets the content in the form that it accepts, and nothing if it has that form.
func TestContent(t *testing.T) {
	text := strings.Repeat("Dark mode, please. ", 1000)
	h := static.Content([]byte(text), map[string]string{"Content-Type": "text/plain", "Cache-Control": "no-cache"})
	plain, packed := ask(h), ask(h, "Accept-Encoding", "br, gzip")
	if packed.Body.Len() > len(text)/10 {
		t.Errorf("compressed to %d of %d bytes", packed.Body.Len(), len(text))
	}
	unpacked, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]io.Reader{"plain": plain.Body, "compressed": unpacked} {
		if got, err := io.ReadAll(body); err != nil || string(got) != text {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	for encoding, got := range map[string]*httptest.ResponseRecorder{"": plain, "gzip": packed} {
		for name, want := range map[string]string{
			"Content-Type": "text/plain", "Cache-Control": "no-cache", "Content-Encoding": encoding, "Vary": "Accept-Encoding",
			"X-Content-Type-Options": "nosniff",
		} {
			if value := got.Header().Get(name); value != want || got.Code != http.StatusOK {
				t.Errorf("%q: %d, %s: %q", encoding, got.Code, name, value)
			}
		}
		again := ask(h, "Accept-Encoding", encoding, "If-None-Match", got.Header().Get("ETag"))
		if again.Code != http.StatusNotModified {
			t.Errorf("%q again: %d", encoding, again.Code)
		}
	}
	if plain.Header().Get("ETag") == packed.Header().Get("ETag") {
		t.Error("both forms have one ETag")
	}
	if other := static.Content([]byte("other"), nil); ask(other).Header().Get("ETag") == plain.Header().Get("ETag") {
		t.Error("two contents have one ETag")
	}
}

// TestNoRanges: Range headers are ignored.
func TestNoRanges(t *testing.T) {
	h := static.Content([]byte("Dark mode"), nil)
	if got := ask(h, "Range", "bytes=0-0,2-2,4-4"); got.Code != http.StatusOK {
		t.Errorf("%d", got.Code)
	}
}
