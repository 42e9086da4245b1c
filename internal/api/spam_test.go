package api

import (
	"fmt"
	"testing"

	"gatherkit/internal/store/storetest"
)

func TestTraps(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	for i, c := range []struct {
		form string
		spam bool
	}{
		{``, false},
		{`,"form":null`, false},
		{`,"form":{}`, false},
		{`,"form":{"website":"","seconds":2}`, false},
		{`,"form":{"website":"  ","seconds":100000}`, false},
		{`,"form":{"website":"https://a.example","seconds":30}`, true},
		{`,"form":{"website":"x"}`, true},
		{`,"form":{"seconds":1.999}`, true},
		{`,"form":{"seconds":0}`, true},
		{`,"form":{"website":"x","seconds":0}`, true},
	} {
		title := fmt.Sprintf("%c%d", 'A'+i, i)
		id := s.must("widget-submit-request", "key", `{"title":"`+title+`","description":""`+c.form+`}`)["request"].(map[string]any)["id"]
		for box, holds := range map[string]bool{"live": !c.spam, "quarantine": c.spam} {
			found := false
			for _, r := range s.must("requests-list", "viewer", `{"box":"`+box+`"}`)["requests"].([]any) {
				found = found || r.(map[string]any)["id"] == id
			}
			if found != holds {
				t.Errorf("%s is in the box %s: %v", c.form, box, found)
			}
		}
	}
	for _, form := range []string{`7`, `{"seconds":-1}`, `{"seconds":"2"}`, `{"website":7}`, `{"websites":""}`, `{"website":"a\u0000"}`} {
		if got := s.call("widget-submit-request", "key", `{"title":"T","description":"","form":`+form+`}`); got.code(t) != "widget.invalid_form" {
			t.Errorf("%s: %s", form, got.body)
		}
	}
}
