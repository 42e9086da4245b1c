package api

import (
	"testing"

	"gatherkit/internal/store/storetest"
	"gatherkit/internal/templates"
)

// TestTemplateLimit: an account has at most Max templates, whoever added them, and another one has its own.
func TestTemplateLimit(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	for i := range templates.Max {
		s.template([]string{"member", "owner"}[i%2])
	}
	if got := s.call("templates-create", "owner", `{"name":"T","body":"B"}`); got.code(t) != "templates.too_many" {
		t.Errorf("%d %s", got.status, got.body)
	}
	if all := s.must("templates-list", "member", "")["templates"].([]any); len(all) != templates.Max {
		t.Errorf("%d templates", len(all))
	}
	s.template("stranger")
	if got := s.call("templates-list", "viewer", ""); got.code(t) != "auth.forbidden" {
		t.Errorf("a viewer: %d %s", got.status, got.body)
	}
}

// TestTemplateChange: a change keeps what it does not name.
func TestTemplateChange(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		id := s.template("member")
		for _, step := range []struct{ fields, name, body string }{
			{`"name":"Later"`, "Later", "B"}, {`"body":"a\nb"`, "Later", "a\nb"}, {`"name":"N","body":"C"`, "N", "C"}, {``, "N", "C"},
		} {
			fields := step.fields
			if fields != "" {
				fields = "," + fields
			}
			got := s.must("templates-update", "member", `{"id":"`+id+`"`+fields+`}`)["template"].(map[string]any)
			if got["name"] != step.name || got["body"] != step.body {
				t.Errorf("%s: %v", step.fields, got)
			}
		}
	})
}
