package api

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// TestLogOfCalls: a line of the log says which account, user and app a call is about and from which
// network it comes, and contains no secret and no complete address.
func TestLogOfCalls(t *testing.T) {
	var log bytes.Buffer
	s := newService(t, storetest.SQLite(t), func(o *Options) { o.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	for name, c := range map[string]struct {
		operation, who, body, parent string
		fields                       string // besides those of every call
	}{
		"a user":               {"apps-list", "owner", "{}", "", "account network session user"},
		"a page":               {"widget-submit-request", "key", `{"title":"Watches","description":""}`, "", "account app network"},
		"nobody":               {"setup-status", "", "", "", "network"},
		"no address":           {"setup-status", "", "", "", ""},
		"an invalid token":     {"apps-list", "junk", "{}", "", "network"},
		"a trace":              {"setup-status", "", "", "00-" + trace + "-00f067aa0ba902b7-01", "network trace_id"},
		"a trace of later":     {"setup-status", "", "", "01-" + trace + "-00f067aa0ba902b7-01-more", "network trace_id"},
		"a trace of zeros":     {"setup-status", "", "", "00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01", "network"},
		"a trace with a quote": {"setup-status", "", "", `00-` + trace[1:] + `"-00f067aa0ba902b7-01`, "network"},
		"a long trace":         {"setup-status", "", "", "00-" + trace + "-00f067aa0ba902b7-01-" + strings.Repeat("a", 100), "network"},
	} {
		t.Run(name, func(t *testing.T) {
			s.names["junk"] = "gat_junk"
			log.Reset()
			r := s.request(c.operation, c.who, c.body)
			if r.RemoteAddr = "198.51.100.77:4711"; !strings.Contains(c.fields, "network") {
				r.RemoteAddr = "@" // of a socket without an address
			}
			r.Header.Set("Traceparent", c.parent)
			serve(s.api, r)
			var line map[string]any
			if err := json.Unmarshal(log.Bytes(), &line); err != nil {
				t.Fatalf("%v: %s", err, &log)
			}
			want := strings.Fields("code level msg ms operation request_id status time " + c.fields)
			slices.Sort(want)
			if got := slices.Sorted(maps.Keys(line)); !slices.Equal(got, want) {
				t.Errorf("the fields are %q, want %q", got, want)
			}
			if line["network"] != nil && line["network"] != "198.51.100.0/24" || line["trace_id"] != nil && line["trace_id"] != trace {
				t.Errorf("%s", &log)
			}
			for _, field := range []string{"account", "user", "session", "app"} {
				if id, there := line[field]; there {
					if _, err := feedback.ParseID(id.(string)); err != nil {
						t.Errorf("%s is %v", field, id)
					}
				}
			}
			for _, secret := range []string{s.names[c.who], "198.51.100.77", "Watches"} {
				if secret != "" && strings.Contains(log.String(), secret) {
					t.Errorf("the log has %q: %s", secret, &log)
				}
			}
		})
	}
}
