package api

import (
	"fmt"
	"strings"
	"testing"

	"gatherkit/internal/store/storetest"
)

// TestBulkKeepsTheRest: a bulk change does not change other fields.
func TestBulkKeepsTheRest(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.names["me"], s.names["other"] = s.user("owner"), s.user("member")
	s.names["request"] = s.tagged(`["Design","Pro","Zoo"]`)
	s.must("requests-update", "owner", s.filled(`{"id":"{request}","assignee_id":"{me}"}`))
	for _, step := range []struct{ set, want string }{
		{`{"status":"planned"}`, "planned {me} [Design Pro Zoo]"},
		{`{"remove_tags":["PRO"]}`, "planned {me} [Design Zoo]"},
		{`{"add_tags":["spring"]}`, "planned {me} [Design Zoo spring]"},
		{`{"add_tags":["DESIGN"]}`, "planned {me} [Design Zoo spring]"},
		{`{"add_tags":["new"],"remove_tags":["design","nobody's"]}`, "planned {me} [Zoo spring new]"},
		{`{"assignee_id":"{other}"}`, "planned {other} [Zoo spring new]"},
		{`{"assignee_id":"none"}`, "planned <nil> [Zoo spring new]"},
		{`{"status":"in_progress","assignee_id":"{me}","remove_tags":["zoo","spring","new"]}`, "in_progress {me} []"},
	} {
		s.must("requests-bulk-update", "owner", s.filled(`{"ids":["{request}"],"set":`+step.set+`}`))
		r := s.must("requests-get", "owner", s.filled(`{"id":"{request}"}`))["request"].(map[string]any)
		if got := fmt.Sprint(r["status"], " ", r["assignee_id"], " ", r["tags"]); got != s.filled(step.want) {
			t.Errorf("%s: %s, want %s", step.set, got, s.filled(step.want))
		}
	}
}

// TestBulkTagsHaveTheirLimit: bulk changes cannot give a request more than 20 tags.
func TestBulkTagsHaveTheirLimit(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	tags := func(first, n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`"t%d"`, first+i))
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	s.names["request"] = s.tagged(tags(0, 19))
	add := func(set string) answer {
		return s.call("requests-bulk-update", "owner", s.filled(`{"ids":["{request}"],"set":`+set+`}`))
	}
	if got := add(`{"add_tags":` + tags(19, 2) + `}`); got.code(t) != "requests.invalid_set" {
		t.Errorf("21 tags: %d %s", got.status, got.body)
	}
	if got := add(`{"add_tags":` + tags(19, 1) + `}`); got.status != 200 {
		t.Errorf("20 tags: %d %s", got.status, got.body)
	}
}

// tagged creates a request with tags, a JSON array, and returns its id.
func (s *service) tagged(tags string) string {
	s.t.Helper()
	result := s.must("requests-create", "owner", s.filled(`{"app_id":"{app}","title":"T","tags":`+tags+`}`))
	return result["request"].(map[string]any)["id"].(string)
}
