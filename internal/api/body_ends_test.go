package api

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"gatherkit/internal/calls"
	"gatherkit/internal/store/storetest"
)

// TestBodiesReleaseMemory sends large bodies that end in different ways, more of each than
// fit into the memory of an address. All of them must release it.
func TestBodiesReleaseMemory(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	whole := `{"title":"T","description":"` + strings.Repeat(" ", calls.MaxBody-len(`{"title":"T","description":""}`)) + `"}`
	for name, c := range map[string]struct {
		body   func() io.Reader
		media  string
		status int
		code   string
	}{
		"as long as it may be": {func() io.Reader { return strings.NewReader(whole) }, "text/plain", 415, "api.unsupported_media_type"},
		"too long":             {func() io.Reader { return strings.NewReader(whole + " ") }, "application/json", 413, "api.body_too_large"},
		"broken off": {func() io.Reader {
			return io.MultiReader(strings.NewReader(whole[:calls.MaxBody-1]), iotest.ErrReader(io.ErrUnexpectedEOF))
		}, "application/json", 400, "api.invalid_json"},
	} {
		for range calls.MaxBodies/4/calls.MaxBody + 1 {
			r := s.request("widget-submit-request", "key", "")
			r.Header.Set("Content-Type", c.media)
			r.Body = io.NopCloser(c.body())
			if got := serve(s.api, r); got.status != c.status || got.code(t) != c.code {
				t.Fatalf("%s: %d %s", name, got.status, got.body)
			}
		}
	}
	from := s.api.server.Proxies.From(s.request("widget-submit-request", "key", ""))
	if !s.api.server.Bodies.TryAcquire(from, calls.MaxBodies/4) {
		t.Fatal("bodies that were answered hold memory")
	}
	s.api.server.Bodies.Release(from, calls.MaxBodies/4)
	if got := s.call("widget-submit-request", "key", whole); got.status != http.StatusOK {
		t.Errorf("a body of %d bytes: %d %s", len(whole), got.status, got.body)
	}
}
