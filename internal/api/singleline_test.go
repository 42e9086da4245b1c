package api

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"gatherkit/internal/params"
	"gatherkit/internal/store/storetest"
)

// severalLines are the parameters that may have several lines, besides verbatim ones.
var severalLines = []string{
	"widget-submit-request description", "requests-create description", "requests-update description",
	"comments-create body", "comments-update body",
	"widget-submit-request form.website",                    // any text in it is spam, but valid
	"requests-similar text", "widget-similar-requests text", // not stored
	"requests-list query", "requests-facets query", "requests-export query", "requests-bulk-update filter.query",
	"views-create filter.query", "views-update filter.query", "widget-board query",
	// Older versions may have stored such tags.
	"requests-list tag", "requests-facets tag", "requests-export tag", "requests-bulk-update filter.tag",
	"views-create filter.tag", "views-update filter.tag", "widget-board tag",
	"requests-bulk-update set.remove_tags",
	"widget-reply body", "mine-reply body", "widget-comment body", "apps-update-settings settings.portal.intro",
	"entries-create body", "entries-update body", "templates-create body", "templates-update body",
}

// cleanedFields are the parameters that are turned into a single line.
var cleanedFields = []string{
	"widget-submit-request title", "widget-submit-request email", "widget-submit-request name", "widget-submit-request external_id",
	"widget-create-upload filename", "widget-comment name", "votes-add why", "widget-vote why",
}

// TestTextIsASingleLine: all text parameters must be a single line, except those listed above.
// Operations receive cleaned parameters as a single line.
func TestTextIsASingleLine(t *testing.T) {
	a := newService(t, storetest.SQLite(t)).api
	fields := 0
	for _, o := range a.order {
		texts(o.params, o.params.Schema, "", func(path string, wrap func(any) any) {
			fields++
			name := o.name + " " + path
			top, _, _ := strings.Cut(path, ".")
			accepted := slices.Contains(severalLines, name) || slices.Contains(cleanedFields, name) || o.params.Verbatim[top]
			for text, breaks := range map[string]bool{
				"a\tb": true, "a\nb": true, "a\u202eb": true, "a\u200eb": true, "a\u200db": false, "ab": false,
			} {
				body, err := json.Marshal(wrap(text))
				if err != nil {
					t.Fatal(err)
				}
				_, err = o.params.Decode(body)
				refused := err != nil && strings.Contains(err.Error(), " must be a single line")
				if refused != (breaks && !accepted) {
					t.Errorf("%s with %q: %v", name, text, err)
				}
			}
		})
	}
	if fields < 80 {
		t.Errorf("only %d fields were found", fields)
	}
}

// texts calls visit for each text in a schema, with a function that wraps a text in the whole
// object.
func texts(p *params.Params, schema *huma.Schema, path string, visit func(path string, wrap func(any) any)) {
	schema = p.Resolve(schema)
	switch schema.Type {
	case huma.TypeObject:
		for name, property := range schema.Properties {
			texts(p, property, strings.TrimPrefix(path+"."+name, "."), func(path string, wrap func(any) any) {
				visit(path, func(v any) any { return map[string]any{name: wrap(v)} })
			})
		}
	case huma.TypeArray:
		texts(p, schema.Items, path, func(path string, wrap func(any) any) {
			visit(path, func(v any) any { return []any{"fine", wrap(v)} })
		})
	case huma.TypeString:
		visit(path, func(v any) any { return v })
	case "":
		for _, one := range schema.OneOf {
			texts(p, one, path, visit)
		}
	}
}

// TestSingleLines checks the errors for texts that must be a single line.
func TestSingleLines(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	for _, c := range []struct{ operation, who, body, code, sentence string }{
		{"widget-submit-request", "key", `{"title":"\t\u202e","description":""}`, "widget.invalid_title", "title must be text of 1 to 200"},
		{"widget-submit-request", "key", `{"title":"T","description":"","form":{"website":"a\nb"}}`, "ok", ""},
		{"widget-submit-request", "key", `{"title":"\t می\u200cخواهم \n","description":"a\nb\u202e"}`, "ok", ""},
		{
			"requests-create", "member", `{"app_id":"{app}","title":"T","submitter":{"name":"a\u001bb"}}`,
			"requests.invalid_submitter", "submitter.name must be",
		},
		{"requests-create", "member", `{"app_id":"{app}","title":"T","tags":["a","b\rc"]}`, "requests.invalid_tags", "tags[1] must be"},
		{"requests-bulk-update", "member", `{"ids":["{app}"],"set":{"add_tags":["b\rc"]}}`, "requests.invalid_set", "set.add_tags[0] must be"},
		{"apps-create", "owner", `{"name":"a\u2066b"}`, "apps.invalid_name", "name must be"},
		{
			"apps-update-settings", "owner", `{"id":"{app}","settings":{"widget":{"button_text":"a\nb"}}}`,
			"apps.invalid_settings", "settings.widget.button_text must be",
		},
		{"users-invite", "owner", `{"email":"new@example.com","name":"a\nb","role":"viewer"}`, "users.invalid_name", "name must be"},
		{"users-invite", "owner", `{"email":"ne\u200fw@example.com","name":"a","role":"viewer"}`, "users.invalid_email", "email must be"},
		{"apps-create", "owner", `{"name":"a\u0000b"}`, "apps.invalid_name", "NUL"},
	} {
		got := s.call(c.operation, c.who, s.filled(c.body))
		if got.code(t) != c.code || !strings.Contains(string(got.body), c.sentence) {
			t.Errorf("%s %s: %s", c.operation, c.body, got.body)
		}
	}
}

// TestSubmissionsAreCleaned: submissions are not refused for invisible characters.
func TestSubmissionsAreCleaned(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.allowFiles(true)
	file := s.send("key", "a\u202e\tb.txt", "words")
	s.must("widget-submit-request", "key", `{"title":" a\tb \u202e ","description":"c\td\u202e","name":"A\nB",`+
		`"email":"\u200eada@example.com","external_id":"\u20664\u00852","attachments":["`+file+`"]}`)
	r := s.must("requests-list", "owner", `{}`)["requests"].([]any)[0].(map[string]any)
	want := map[string]any{"email": "ada@example.com", "name": "A B", "external_id": "4 2", "verified": false}
	if r["title"] != "a b" || r["description"] != "c\td\u202e" || !reflect.DeepEqual(r["submitter"], any(want)) {
		t.Errorf("%q, %q, %q", r["title"], r["description"], r["submitter"])
	}
	if name := r["attachments"].([]any)[0].(map[string]any)["filename"]; name != "a b.txt" {
		t.Errorf("%q", name)
	}
}

// TestProgramsNames: User-Agent headers in the list of sessions are a single line.
func TestProgramsNames(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	r := s.request("auth-login", "", `{"email":"owner@example.com","password":"`+testPassword+`"}`)
	r.Header.Set("User-Agent", "Mozilla\t5.0\u202e\u009b")
	serve(s.api, r)
	if shown := s.must("sessions-list", "owner", `{}`)["sessions"].([]any); !strings.Contains(fmt.Sprint(shown), "user_agent:Mozilla 5.0 ]") {
		t.Errorf("%q", shown)
	}
}
