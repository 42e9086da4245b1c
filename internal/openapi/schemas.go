package openapi

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"gatherkit/internal/params"
)

// enums are the lists of values that have a name in the document, so that the programs that are
// generated from it have one type for each.
var enums = []struct{ name, values, about string }{
	{"Status", "opened under_review planned in_progress completed declined duplicate", "The status of a request."},
	{"SettableStatus", "opened under_review planned in_progress completed declined", "A status that people set. A merge sets duplicate."},
	{"Source", "widget portal dashboard api import", "Where something came from."},
	{"Box", "live bin quarantine", "Where a request is."},
	{"TextKind", "title description comment", "Which text of a request."},
	{"Role", "viewer member admin owner", "What a user may do; each role includes those before it."},
	{"TokenScope", "viewer member admin", "What a token may do; each scope includes those before it."},
	{"TokenKind", "personal service", "Whether a token acts for a user or for the account."},
	{"Visibility", "internal public", "Who reads a comment."},
	{"Sharing", "none triaged all", "Which requests the widget shows to other people."},
	{"ViewSort", "newest oldest most_voted recently_updated relevance", "The order of a view."},
	{"FileType", "image/png image/jpeg image/gif image/webp application/pdf text/plain", "The type of a file."},
	{"DigestInterval", "never daily weekly", "How often a digest is sent."},
	{"EntryState", "draft scheduled published", "The state of an entry of the changelog."},
	{"PortalAccess", "off public link signed_in", "Who can open a portal."},
	{"Participation", "anyone verified off", "Who may take part in a portal."},
	{"Locale", " ar de en es fr it ja nl pt zh", "A language; empty for that of the browser."},
	{"Moderation", "none anonymous all", "Whose texts wait for the team."},
	{"ShownNames", "none verified", "Whose names a portal shows."},
	{"Theme", "auto light dark", "The colors; auto follows the browser."},
	{"WebhookFormat", "events slack discord teams", "What a webhook sends."},
	{"WidgetPosition", "bottom-right bottom-left top-right top-left", "The corner of the widget's button."},
}

// Records returns the schemas of the parameters and the results of operations.
func Records(operations []Operation) huma.Registry {
	registry := huma.NewMapRegistry(schemaRef, huma.DefaultSchemaNamer)
	for _, o := range operations {
		registry.Schema(o.Takes, true, o.Name)
		registry.Schema(o.Returns, true, o.Name)
	}
	for name, schema := range registry.Map() {
		fixNullable(registry.TypeFromRef(schemaRef+name), schema)
	}
	return registry
}

// nameEnums replaces the lists of values by references to those with a name. It returns an error
// if a list without a name occurs twice, or if a name is not used.
func nameEnums(registry huma.Registry) error {
	names, seen := map[string]string{}, map[string]int{}
	for _, e := range enums {
		names[e.values] = e.name
	}
	for _, schema := range registry.Map() {
		walk(schema, func(s *huma.Schema) {
			if len(s.Enum) < 2 {
				return
			}
			key := strings.Trim(fmt.Sprint(s.Enum), "[]")
			seen[key]++
			if name := names[key]; name != "" {
				ref := &huma.Schema{Ref: schemaRef + name, Description: s.Description}
				if s.Nullable {
					ref = &huma.Schema{AnyOf: []*huma.Schema{{Ref: ref.Ref}, {Type: "null"}}, Description: s.Description}
				}
				*s = *ref
			}
		})
	}
	for values, count := range seen {
		if count > 1 && names[values] == "" {
			return fmt.Errorf("the list of values %q occurs %d times; give it a name", values, count)
		}
	}
	for _, e := range enums {
		if seen[e.values] == 0 {
			return fmt.Errorf("no schema has the values of %s", e.name)
		}
		named := &huma.Schema{Type: huma.TypeString, Description: e.about}
		for value := range strings.SplitSeq(e.values, " ") {
			named.Enum = append(named.Enum, value)
		}
		registry.Map()[e.name] = named
	}
	return nil
}

// open lets the objects of a result have more fields than those in the document, because a later
// version can add some. done has the schemas that are open already.
func open(registry huma.Registry, result *huma.Schema, done map[*huma.Schema]bool) {
	walk(result, func(s *huma.Schema) {
		if s.Ref != "" {
			s = registry.SchemaFromRef(s.Ref)
			if !done[s] {
				done[s] = true
				open(registry, s, done)
			}
			return
		}
		if s.AdditionalProperties == false {
			s.AdditionalProperties = nil
		}
	})
}

// walk calls visit for a schema and all schemas in it. It does not follow references.
func walk(s *huma.Schema, visit func(*huma.Schema)) {
	if s == nil {
		return
	}
	for _, property := range s.Properties {
		walk(property, visit)
	}
	for _, one := range slices.Concat(s.OneOf, s.AnyOf) {
		walk(one, visit)
	}
	walk(s.Items, visit)
	if values, is := s.AdditionalProperties.(*huma.Schema); is {
		walk(values, visit)
	}
	visit(s)
}

// fixNullable sets which fields of a record can be null: pointers without omitempty and
// parameters that null clears can, slices cannot. huma gets this wrong for slices and for
// ids, which are arrays of bytes.
func fixNullable(record reflect.Type, schema *huma.Schema) {
	if record == nil || record.Kind() != reflect.Struct {
		return
	}
	for _, field := range reflect.VisibleFields(record) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := schema.Properties[name]
		if property == nil {
			continue
		}
		nullable := params.Clears(field.Type) || field.Type.Kind() == reflect.Pointer && options != "omitempty"
		switch {
		case property.Ref == "":
			property.Nullable = nullable
		case nullable: // a reference has no type of its own that could include null
			property.AnyOf, property.Ref = []*huma.Schema{{Ref: property.Ref}, {Type: "null"}}, ""
		}
	}
}
