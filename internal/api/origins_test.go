package api

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"gatherkit/internal/store/storetest"
)

// TestForeignOrigins calls all operations that accept an API key from pages of several origins.
// Only those in allowed_origins are accepted, and the others change nothing.
func TestForeignOrigins(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.names["request"] = s.asked("T")
	s.switchOnPortal()
	settings := `{"widget":{"allow_file_uploads":true},"allowed_origins":["https://shop.example"]}`
	s.must("apps-update-settings", "owner", s.filled(`{"id":"{app}","settings":`+settings+`}`))
	calls := map[string]func() *http.Request{
		"widget-config": func() *http.Request {
			return httptest.NewRequest(http.MethodGet, "/widget/config/"+s.names["key"]+".json", http.NoBody)
		},
	}
	for _, o := range s.api.order {
		if o.guard == guardWidget {
			calls[o.name] = func() *http.Request { return s.request(o.name, "key", s.filled(sample(t, o.name))) }
		}
	}
	from := func(call func() *http.Request, origin string) answer {
		r := call()
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		return serve(s.api, r)
	}
	before := s.snapshot()
	for name, call := range calls {
		for _, origin := range []string{
			"https://other.example", "https://www.shop.example", "https://shop.example.other.example", "http://shop.example",
			"https://shop.example:8443", "https://shop.example/page", "null", "*",
		} {
			if got := from(call, origin); got.status != http.StatusForbidden || got.code(t) != "widget.origin_not_allowed" {
				t.Errorf("%s from %s: %d %s", name, origin, got.status, got.body)
			}
		}
	}
	if after := s.snapshot(); before != after {
		t.Errorf("a refused call has changed something:\n%s\n%s", before, after)
	}
	for name, call := range calls {
		for _, origin := range []string{"https://shop.example", "HTTPS://Shop.example:443", ""} { // backends send none
			if got := from(call, origin); got.status != http.StatusOK {
				t.Errorf("%s from %q: %d %s", name, origin, got.status, got.body)
			}
		}
	}
}
