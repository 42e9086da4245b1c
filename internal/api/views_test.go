package api

import (
	"testing"

	"gatherkit/internal/store/storetest"
)

// TestViewLimit: the 51st view of an owner is refused, also if it becomes one of the team's.
func TestViewLimit(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	own := s.view("member")
	for range 50 {
		s.must("views-create", "member", `{"name":"V","shared":true}`)
	}
	for operation, body := range map[string]string{
		"views-create": `{"name":"V","shared":true}`, "views-update": `{"id":"` + own + `","shared":true}`,
	} {
		if got := s.call(operation, "member", body); got.code(t) != "views.too_many" {
			t.Errorf("%s: %d %s", operation, got.status, got.body)
		}
	}
	s.must("views-create", "member", `{"name":"V"}`)
	if all := s.must("views-list", "member", "")["views"].([]any); len(all) != 52 {
		t.Errorf("%d views", len(all))
	}
}
