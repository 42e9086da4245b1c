package api

import (
	"testing"

	"gatherkit/internal/store/storetest"
)

// TestSimilarToOneThing: requests-similar accepts either id, or app_id and text.
func TestSimilarToOneThing(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.names["request"] = s.submit("Dark mode")
	for body, want := range map[string]string{
		`{"id":"{request}"}`:                    "ok",
		`{"app_id":"{app}","text":"Dark mode"}`: "ok",
		`{}`:                                    "requests.invalid_text",
		`{"text":"Dark mode"}`:                  "requests.invalid_text",
		`{"app_id":"{app}"}`:                    "requests.invalid_text",
		`{"id":"{request}","app_id":"{app}"}`:   "requests.invalid_text",
		`{"id":"{request}","text":"Dark mode"}`: "requests.invalid_text",
		`{"id":"{request}","app_id":"{app}","text":"Dark mode"}`: "requests.invalid_text",
	} {
		if got := s.call("requests-similar", "owner", s.filled(body)); got.code(t) != want {
			t.Errorf("%s: %d %s, want %s", body, got.status, got.body, want)
		}
	}
}
