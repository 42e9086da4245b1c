package api

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"gatherkit/internal/store/storetest"
)

// TestBodiesReleaseMemory sends large bodies that end in different ways, more of each than
// fit into the memory of an address. All of them must release it.
func TestBodiesReleaseMemory(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	whole := `{"title":"T","description":"` + strings.Repeat(" ", maxBody-len(`{"title":"T","description":""}`)) + `"}`
	for name, c := range map[string]struct {
		body   func() io.Reader
		media  string
		status int
		code   string
	}{
		"as long as it may be": {func() io.Reader { return strings.NewReader(whole) }, "text/plain", 415, "api.unsupported_media_type"},
		"too long":             {func() io.Reader { return strings.NewReader(whole + " ") }, "application/json", 413, "api.body_too_large"},
		"broken off": {func() io.Reader {
			return io.MultiReader(strings.NewReader(whole[:maxBody-1]), iotest.ErrReader(io.ErrUnexpectedEOF))
		}, "application/json", 400, "api.invalid_json"},
	} {
		for range maxBodies/4/maxBody + 1 {
			r := s.request("widget-submit-request", "key", "")
			r.Header.Set("Content-Type", c.media)
			r.Body = io.NopCloser(c.body())
			if got := serve(s.api, r); got.status != c.status || got.code(t) != c.code {
				t.Fatalf("%s: %d %s", name, got.status, got.body)
			}
		}
	}
	from := s.api.clientOf(s.request("widget-submit-request", "key", "")).from
	if !s.api.bodies.TryAcquire(from, maxBodies/4) {
		t.Fatal("bodies that were answered hold memory")
	}
	s.api.bodies.Release(from, maxBodies/4)
	if got := s.call("widget-submit-request", "key", whole); got.status != http.StatusOK {
		t.Errorf("a body of %d bytes: %d %s", len(whole), got.status, got.body)
	}
}
