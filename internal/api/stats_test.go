package api

import (
	"fmt"
	"testing"

	"gatherkit/internal/store/storetest"
)

// TestStatsRange: days are whole days in UTC, and the default is thirty days that end with
// today.
func TestStatsRange(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	for parameters, want := range map[string]string{
		`{}`:                                 "2025-12-03T00:00:00.000Z 2026-01-02T00:00:00.000Z 30",
		`{"from":"2026-01-01"}`:              "2026-01-01T00:00:00.000Z 2026-01-02T00:00:00.000Z 1",
		`{"to":"2025-12-31"}`:                "2025-12-02T00:00:00.000Z 2026-01-01T00:00:00.000Z 30",
		`{"to":"2025-12-31T12:00:00+02:00"}`: "2025-12-01T10:00:00.000Z 2025-12-31T10:00:00.000Z 31",
		`{"from":"2024-01-01","to":"2024-12-31"}`:                                 "2024-01-01T00:00:00.000Z 2025-01-01T00:00:00.000Z 366",
		`{"from":"1969-12-31","to":"1970-01-01"}`:                                 "1969-12-31T00:00:00.000Z 1970-01-02T00:00:00.000Z 2",
		`{"from":"2025-12-31T23:59:59.999Z","to":"2026-01-01T00:00:00.001Z"}`:     "2025-12-31T23:59:59.999Z 2026-01-01T00:00:00.001Z 2",
		`{"from":"2024-01-01","to":"2025-01-01"}`:                                 "",
		`{"from":"2026-01-02"}`:                                                   "",
		`{"from":"2026-01-01","to":"2025-12-31"}`:                                 "",
		`{"from":"2026-01-01T00:00:00.0001Z","to":"2026-01-01T00:00:00.0009Z"}`:   "",
		`{"from":"2026-02-30"}`:                                                   "",
		`{"from":"0001-01-01T00:00:00+23:00","to":"9999-12-31T23:59:59.9-23:59"}`: "",
	} {
		if want == "" {
			if got := s.call("requests-stats", "viewer", parameters); got.code(t) != "requests.invalid_from" {
				t.Errorf("%s: %s", parameters, got.body)
			}
			continue
		}
		result := s.must("requests-stats", "viewer", parameters)
		days := result["by_day"].([]any)
		if got := fmt.Sprint(result["from"], " ", result["to"], " ", len(days)); got != want {
			t.Errorf("%s: %s, want %s", parameters, got, want)
		}
	}
}
