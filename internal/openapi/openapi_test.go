package openapi

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

// document is the part of the document that the tests read.
type document struct {
	Paths      map[string]map[string]any
	Components struct{ Schemas map[string]map[string]any }
}

func committed(t *testing.T) (d document) {
	t.Helper()
	text, err := os.ReadFile("../../docs/openapi.json")
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// each calls visit for every object in a part of the document.
func each(part any, visit func(map[string]any)) {
	switch part := part.(type) {
	case map[string]any:
		visit(part)
		for _, value := range part {
			each(value, visit)
		}
	case []any:
		for _, value := range part {
			each(value, visit)
		}
	}
}

// reached returns the names of all schemas that a part of the document refers to.
func (d document) reached(part any, names map[string]bool) map[string]bool {
	each(part, func(object map[string]any) {
		ref, _ := object["$ref"].(string)
		if name, is := strings.CutPrefix(ref, schemaRef); is && !names[name] {
			names[name] = true
			d.reached(d.Components.Schemas[name], names)
		}
	})
	return names
}

// TestResultsCanGrow: a client that is generated from the document accepts the results of a later
// version, and refuses to send an unknown parameter.
func TestResultsCanGrow(t *testing.T) {
	d := committed(t)
	closed := func(name string) (found bool) {
		each(d.Components.Schemas[name], func(object map[string]any) { found = found || object["additionalProperties"] == false })
		return found
	}
	for path, item := range d.Paths {
		for _, operation := range item {
			operation := operation.(map[string]any)
			for name := range d.reached(operation["responses"], map[string]bool{}) {
				if closed(name) {
					t.Errorf("%s returns %s, which cannot grow", path, name)
				}
			}
			body, _ := operation["requestBody"].(map[string]any)
			for name := range d.reached(body, map[string]bool{}) {
				if strings.HasSuffix(name, "Params") && !closed(name) {
					t.Errorf("%s takes any parameter", path)
				}
			}
		}
	}
}

// TestEnums: a list of values that occurs twice has a name.
func TestEnums(t *testing.T) {
	d, seen := committed(t), map[string]int{}
	for _, schema := range d.Components.Schemas {
		each(schema, func(object map[string]any) {
			if values, is := object["enum"].([]any); is {
				text, err := json.Marshal(values)
				if err != nil {
					t.Fatal(err)
				}
				seen[string(text)]++
			}
		})
	}
	for values, n := range seen {
		if n > 1 {
			t.Errorf("%s occurs %d times", values, n)
		}
	}
	for _, e := range enums {
		if d.Components.Schemas[e.name] == nil {
			t.Errorf("%s is missing", e.name)
		}
	}

	type twice struct {
		One string `json:"one" enum:"up,down"`
		Two string `json:"two" enum:"up,down"`
	}
	_, err := Document(nil, reflect.TypeFor[twice]())
	if err == nil || !strings.Contains(err.Error(), `"up down" occurs 2 times; give it a name`) {
		t.Error(err)
	}
	type once struct {
		One string `json:"one" enum:"up,down"`
	}
	if _, err := Document(nil, reflect.TypeFor[once]()); err == nil || !strings.Contains(err.Error(), "no schema has the values of") {
		t.Error(err)
	}
}

// TestExamples: every operation has an example, with ids where the schema wants them.
func TestExamples(t *testing.T) {
	d := committed(t)
	for path, item := range d.Paths {
		post, _ := item["post"].(map[string]any)
		if post == nil {
			continue
		}
		examples := 0
		each(post, func(object map[string]any) {
			if example, has := object["example"]; has {
				examples++
				each(example, func(object map[string]any) {
					if id, _ := object["app_id"].(string); strings.Contains(id, "{") {
						t.Errorf("%s: the example has no id for %s", path, id)
					}
				})
			}
		})
		if examples == 0 {
			t.Errorf("%s has no example", path)
		}
	}
}
