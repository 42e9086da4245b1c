package api

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"gatherkit/internal/feedback"
	"gatherkit/internal/openapi"
	"gatherkit/internal/store/storetest"
)

//go:generate go test -run ^TestScripts$ -update .
//go:generate go test -run ^TestReference$ -update .

// TestReference checks that docs/openapi.json and docs/api.md are up to date. With -update,
// it generates them from the operations and the scripts.
func TestReference(t *testing.T) {
	a := newService(t, storetest.SQLite(t)).api
	for file, want := range map[string]string{"../../docs/openapi.json": document(t, a), "../../docs/api.md": reference(t, a)} {
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		have, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(have)); diff != "" {
			t.Errorf("%s is stale; run make generate (-want +have):\n%s", file, diff)
		}
	}
}

// reference returns the text of docs/api.md.
func reference(t testing.TB, a *API) string {
	t.Helper()
	intro, err := os.ReadFile("reference.md")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.Write(intro)
	b.WriteString("## Errors\n\nThe code for an invalid field is `<area>.invalid_<field>`, with status 400. " +
		"The area is the first word of the operation, as in `apps.invalid_name`. The message names all invalid fields. " +
		"The other codes:\n\n| status | code | meaning |\n| --- | --- | --- |\n")
	for _, e := range feedback.Codes() {
		fmt.Fprintf(&b, "| %d | `%s` | %s |\n", e.Status, e.Code, strings.ReplaceAll(e.Message, "<", "\\<"))
	}
	byName, operations := scripts(t), a.described(t)
	records := openapi.Records(operations)
	b.WriteString("\n## Records\n")
	for _, name := range []string{
		"App", "Settings", "WidgetSettings", "PortalSettings", "Request", "Submitter", "Vote", "Comment", "Author", "Person", "HeldComment",
		"BlockedPerson", "Link", "Entry", "EntryAuthor", "User", "Account", "Member",
	} {
		describeRecord(t, &b, name, records.Map()[name])
	}
	for _, area := range openapi.Areas(operations) {
		fmt.Fprintf(&b, "\n## %s\n", area.Title)
		for _, o := range a.order {
			if o.params.Area == area.Name {
				describe(&b, o, readScript(t, byName[o.name]))
			}
		}
	}
	return b.String()
}

// describeRecord writes the fields of a record.
func describeRecord(t testing.TB, b *strings.Builder, name string, schema *huma.Schema) {
	t.Helper()
	if schema == nil {
		t.Fatalf("no record %s", name)
	}
	fmt.Fprintf(b, "\n### %s\n\n| field | type | meaning |\n| --- | --- | --- |\n", name)
	for _, field := range schema.Required {
		property := schema.Properties[field]
		kind := property.Type
		switch {
		case property.Ref != "":
			kind = "object: " + property.Ref[strings.LastIndex(property.Ref, "/")+1:]
		case len(property.AnyOf) > 0: // see fixNullable
			kind = "object: " + property.AnyOf[0].Ref[strings.LastIndex(property.AnyOf[0].Ref, "/")+1:] + ", or null"
		case property.Format != "" && property.Type == "string":
			kind += ", " + property.Format
		case property.Type == "array":
			kind = "array of " + property.Items.Type
		}
		if property.Nullable {
			kind += ", or null"
		}
		meaning := property.Description
		if len(property.Enum) > 0 {
			meaning = strings.TrimSpace(meaning + " One of " + strings.Trim(strings.ReplaceAll(fmt.Sprint(property.Enum), " ", ", "), "[]") + ".")
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", field, kind, meaning)
	}
}

// describe writes an operation with its parameters and its script.
func describe(b *strings.Builder, o *op, script []step) {
	fmt.Fprintf(b, "\n### %s\n\n%s. %s\n", o.name, o.summary, o.needs())
	if len(o.params.Names) > 0 {
		b.WriteString("\n| parameter | value | meaning |\n| --- | --- | --- |\n")
		for _, name := range o.params.Names {
			schema := o.params.Schema.Properties[name]
			need := "optional"
			if slices.Contains(o.params.Schema.Required, name) {
				need = "required"
			}
			fmt.Fprintf(b, "| `%s` | %s, %s | %s |\n", name, need, o.params.Accepts(schema), schema.Description)
		}
	}
	for _, s := range script {
		switch {
		case s.method == "SETUP":
		case s.prose != "":
			fmt.Fprintf(b, "\n%s\n", s.prose)
		case s.wait != "":
			fmt.Fprintf(b, "\n*%s later:*\n", strings.NewReplacer(
				"720h", "30 days", "168h", "7 days", "24h", "24 hours", "15m", "15 minutes", "1m", "a minute",
				"30s", "30 seconds", "2s", "2 seconds",
			).Replace(s.wait))
		case s.sign[0] != "":
			fmt.Fprintf(b, "\nThe claims of `{%s}`, signed with `%s`: `%s`\n", s.sign[0], s.sign[1], s.body)
		default:
			fmt.Fprintf(b, "\n```http\n%s\n```\n\n```http\n%s\n```\n", s.callText(), join(fmt.Sprint(s.status), s.answerHeaders, s.answer, nil))
		}
	}
}

// TestCodesAreListed checks the form of the codes that feedback.Codes lists.
func TestCodesAreListed(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range feedback.Codes() {
		area, reason, ok := strings.Cut(e.Code, ".")
		if !ok || area == "" || reason == "" || seen[e.Code] || e.Status < 400 || !strings.HasSuffix(e.Message, ".") {
			t.Errorf("%+v is not a proper, unique code", e)
		}
		seen[e.Code] = true
	}
}

// TestDocument: GET and HEAD return the OpenAPI document, and other methods do not.
func TestDocument(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	ask := func(method, path string) answer { return serve(s.api, httptest.NewRequest(method, path, http.NoBody)) }
	for method, body := range map[string][]byte{http.MethodGet: s.api.OpenAPI(), http.MethodHead: {}} {
		got := ask(method, "/api/openapi.json")
		if got.status != http.StatusOK || !bytes.Equal(got.body, body) ||
			got.header.Get("Content-Type") != "application/json; charset=utf-8" ||
			got.header.Get("Cache-Control") != "public, max-age=300" {
			t.Errorf("%s: %d %v", method, got.status, got.header)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/api/openapi.json", http.NoBody)
	r.Header.Set("Accept-Encoding", "gzip")
	if got := serve(s.api, r); got.header.Get("Content-Encoding") != "gzip" || len(got.body) > len(s.api.OpenAPI())/8 {
		t.Errorf("compressed to %d of %d bytes", len(got.body), len(s.api.OpenAPI()))
	}
	if got := ask(http.MethodPost, "/api/openapi.json"); got.code(t) != "api.unknown_operation" {
		t.Errorf("POST: %d %s", got.status, got.body)
	}
	if got := ask(http.MethodGet, "/api/auth-me"); got.code(t) != "api.method_not_allowed" {
		t.Errorf("GET of an operation: %d %s", got.status, got.body)
	}
}
