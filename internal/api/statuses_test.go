package api

import (
	"net/http"
	"strings"
	"testing"

	"gatherkit/internal/store/storetest"
)

// TestStatusLabels: the names that an app gives its statuses are in what people see, in summaries and in exports.
func TestStatusLabels(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		id := s.asked("Dark mode")
		label := func(labels string) {
			s.must("apps-update-settings", "admin", s.filled(`{"id":"{app}","settings":{"statuses":`+labels+`}}`))
		}
		label(`{"planned":{"label":"  On the list "},"declined":{"label":"Not now"}}`)
		label(`{"declined":{},"completed":{"label":""}}`)
		s.must("requests-update", "member", `{"id":"`+id+`","status":"planned"}`)
		if got := s.mine()["label"]; got != "On the list" {
			t.Errorf("the submitter sees %q", got)
		}
		summary := func() string {
			events := s.must("requests-history", "viewer", `{"request_id":"`+id+`"}`)["events"].([]any)
			return events[0].(map[string]any)["summary"].(string)
		}
		if got := summary(); !strings.HasSuffix(got, `changed the status from Open to On the list.`) {
			t.Error(got)
		}
		feed := s.must("events-list", "viewer", `{"after":0,"kinds":["request.updated"]}`)["events"].([]any)
		if got := feed[0].(map[string]any)["summary"]; got != summary() {
			t.Errorf("in the feed: %v", got)
		}
		s.must("requests-update", "member", `{"id":"`+id+`","status":"declined"}`)
		if got := summary(); !strings.HasSuffix(got, `changed the status from On the list to Not now.`) {
			t.Error(got)
		}
		if csv := s.exported(`{"format":"csv"}`); !strings.Contains(csv, `"declined"`) || !strings.Contains(csv, `"Not now"`+"\r\n") {
			t.Error(csv)
		}
		label(`{"declined":{"label":""}}`)
		if csv := s.exported(`{"format":"csv"}`); !strings.Contains(csv, `"Declined"`+"\r\n") {
			t.Error(csv)
		}
		if got := s.mine()["label"]; got != "" {
			t.Errorf("the submitter sees %q", got)
		}
		merged := s.filled(`{"id":"{app}","settings":{"statuses":{"duplicate":{"label":"x"}}}}`)
		if got := s.call("apps-update-settings", "admin", merged); got.code(t) != "apps.invalid_settings" {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
}

// TestStatusLabelOnPage: the page of a private link uses the names, too.
func TestStatusLabelOnPage(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	token := s.asker()
	s.must("apps-update-settings", "admin", s.filled(`{"id":"{app}","settings":{"statuses":{"opened":{"label":"Heard & noted"}}}}`))
	wantPage(t, s.visit(http.MethodGet, "", token, ""), http.StatusOK, "Heard &amp; noted")
}
