package api

import (
	"encoding/json"
	"strconv"
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

// TestViewFilter: an answer has the filter of a view as it was sent.
func TestViewFilter(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	for _, filter := range []string{
		`{"person":{"email":"a@example.com"}}`, `{"person":{"external_id":"7","verified":true}}`, `{"tag":"pro"}`,
	} {
		view := s.must("views-create", "member", `{"name":"V","filter":`+filter+`}`)["view"].(map[string]any)
		if got, err := json.Marshal(view["filter"]); err != nil || string(got) != filter {
			t.Errorf("%s became %s, %v", filter, got, err)
		}
	}
}

// TestViewsInOrder: views keep the order that users give them. One that changes its owner becomes the last,
// and only its new owner may see it first.
func TestViewsInOrder(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		ids := map[string]string{}
		shown := func(who string) (names string) {
			for _, v := range s.must("views-list", who, "")["views"].([]any) {
				view := v.(map[string]any)
				names += view["name"].(string)
				if view["default"] == true {
					names += "!"
				}
			}
			return names
		}
		check := func(who, want string) {
			t.Helper()
			if got := shown(who); got != want {
				t.Errorf("%s sees %s, want %s", who, got, want)
			}
		}
		for _, name := range []string{"A", "B", "C", "D"} {
			made := s.must("views-create", "member", `{"name":"`+name+`","shared":`+strconv.FormatBool(name == "D")+`}`)
			ids[name] = made["view"].(map[string]any)["id"].(string)
		}
		change := func(who, name, fields string) { s.must("views-update", who, `{"id":"`+ids[name]+`",`+fields+`}`) }
		check("member", "DABC")
		change("member", "C", `"after":null`)
		check("member", "DCAB")
		change("member", "C", `"after":"`+ids["A"]+`"`)
		check("member", "DACB")
		change("member", "A", `"shared":true`)
		check("member", "DACB")
		check("viewer", "DA")

		change("viewer", "A", `"default":true`)
		change("viewer", "D", `"default":true`)
		check("viewer", "D!A")
		check("member", "DACB")
		change("viewer", "D", `"default":false`)
		change("viewer", "A", `"default":true`)
		change("member", "A", `"default":true,"shared":false`)
		check("viewer", "D")
		check("member", "DCBA!")
		change("member", "A", `"shared":true`)
		check("viewer", "DA")
		s.must("views-delete", "member", `{"id":"`+ids["A"]+`"}`)
		check("member", "DCB")
	})
}
