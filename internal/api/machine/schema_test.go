package machine

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gatherkit/internal/feedback"
)

// The schemas in docs/openapi.json. The test reads the committed document, not the served one,
// to find services that do not match their documentation.

// operation is an operation in the document.
type operation struct {
	Security   []map[string]any
	Least      feedback.Role `json:"x-role"`
	Callers    string        `json:"x-callers"`    // all, users or sessions
	Names      []string      `json:"x-parameters"` // in documented order
	parameters schema
}

// guard returns the credential that callers need: "Bearer", "X-API-Key" or "".
func (o operation) guard() string {
	for _, scheme := range o.Security {
		for name := range scheme {
			return name
		}
	}
	return ""
}

// schema describes the accepted values.
type schema struct {
	Ref        string `json:"$ref"`
	Type       any    // a name or a list of names
	Format     string
	Pattern    string
	Examples   []any
	Enum       []any
	OneOf      []*schema
	Properties map[string]*schema
	Required   []string
	Items      *schema

	Minimum, Maximum                         *float64
	MinLength, MaxLength, MinItems, MaxItems *int
	UniqueItems                              bool
}

var operations, records = readDocument("../../../docs/openapi.json")

// readDocument returns the operations and the records of an OpenAPI document.
func readDocument(file string) (map[string]operation, map[string]*schema) {
	var document struct {
		Paths map[string]struct {
			Post struct {
				operation
				RequestBody struct {
					Content map[string]struct{ Schema *schema }
				}
			}
		}
		Components struct{ Schemas map[string]*schema }
	}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &document)
	}
	if err != nil {
		panic(err) // no test is running yet
	}
	all := map[string]operation{}
	for path, p := range document.Paths {
		name, is := strings.CutPrefix(path, "/api/")
		if !is { // the path of a file, which tests of its own call
			continue
		}
		o := p.Post.operation
		if body := p.Post.RequestBody.Content["application/json"].Schema; body != nil {
			o.parameters = *document.Components.Schemas[strings.TrimPrefix(body.Ref, schemaRef)]
		}
		all[name] = o
	}
	return all, document.Components.Schemas
}

const schemaRef = "#/components/schemas/"

func (s *schema) resolved() *schema {
	if s.Ref != "" {
		return records[strings.TrimPrefix(s.Ref, schemaRef)]
	}
	return s
}

// is reports whether the schema accepts a type.
func (s *schema) is(name string) bool {
	list, _ := s.Type.([]any)
	return s.Type == name || slices.Contains(list, any(name))
}

// read returns a value as the service reads it, and false if the service refuses it. cleaned is
// the rule for text.
func (s *schema) read(v any, cleaned func(string) (string, bool)) (any, bool) {
	s = s.resolved()
	for _, one := range s.OneOf {
		if clean, ok := one.read(v, cleaned); ok {
			return clean, true
		}
	}
	switch v := v.(type) {
	case string:
		return s.readText(v, cleaned)
	case json.Number:
		n, err := v.Float64()
		if err != nil || s.Minimum != nil && n < *s.Minimum || s.Maximum != nil && n > *s.Maximum {
			return nil, false
		}
		if s.is("integer") {
			return int(n), n == float64(int(n))
		}
		return n, s.is("number")
	case bool:
		return v, s.is("boolean")
	case []any:
		return s.readList(v, cleaned)
	case json.RawMessage: // an object that is stored as it was sent
		return v, s.is("object") && len(s.Properties) == 0 && v[0] == '{'
	case object:
		result := object{}
		for name, inner := range v {
			property := s.Properties[name]
			if property == nil {
				return nil, false
			}
			if inner == nil {
				continue // null counts as omitted
			}
			clean, ok := property.read(inner, textRule("", name))
			if !ok {
				return nil, false
			}
			result[name] = clean
		}
		return result, s.is("object")
	}
	return nil, false
}

var uuidText = regexp.MustCompile(`^(\{id\d+\}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)

func (s *schema) readText(v string, cleaned func(string) (string, bool)) (any, bool) {
	v, ok := cleaned(v)
	n := utf8.RuneCountInString(v)
	if !ok || !s.is("string") || strings.Contains(v, "\x00") ||
		s.MinLength != nil && n < *s.MinLength || s.MaxLength != nil && n > *s.MaxLength {
		return nil, false
	}
	if s.Pattern != "" {
		_, noDay := time.Parse(time.DateOnly, v)
		return v, regexp.MustCompile(s.Pattern).MatchString(v) && (len(v) != len(time.DateOnly) || noDay == nil)
	}
	switch s.Format {
	case "uuid":
		return v, uuidText.MatchString(v)
	case "date":
		_, err := time.Parse(time.DateOnly, v)
		return v, err == nil
	case "date-time":
		at, err := time.Parse(time.RFC3339, v)
		return at.UTC().Format(timeForm), err == nil
	}
	return v, len(s.Enum) == 0 || slices.Contains(s.Enum, any(v))
}

func (s *schema) readList(v []any, cleaned func(string) (string, bool)) (any, bool) {
	if !s.is("array") || s.MinItems != nil && len(v) < *s.MinItems || s.MaxItems != nil && len(v) > *s.MaxItems {
		return nil, false
	}
	list := []any{}
	for _, item := range v {
		clean, ok := s.Items.read(item, cleaned)
		if !ok {
			return nil, false
		}
		list = append(list, clean)
	}
	return list, true
}

// What the schemas do not contain: verbatim parameters are not trimmed, and multiline ones may
// have several lines. All other text is trimmed and must be a single line.
var (
	verbatim = []string{
		"key", "token", "refresh_token", "identity_token", "password", "current_password", "new_password", "idempotency_key", "cursor", "reader",
	}
	multiline = []string{"intro", "description", "body", "tag", "query", "text", "remove_tags", "website", "filename"}
	// oneLine has parameters of a submission whose text is turned into a single line instead of
	// being refused. A comment of a visitor has the name, too.
	oneLine = []string{"title", "email", "name", "external_id"}
)

// textRule returns how the service reads the text of a parameter.
func textRule(operation, name string) func(string) (string, bool) {
	return func(s string) (string, bool) {
		trimmed := strings.TrimSpace(s)
		switch {
		case slices.Contains(verbatim, name), operation == "widget-portal-link" && name == "to":
			return s, true
		case slices.Contains(multiline, name):
			return trimmed, true
		case operation == "widget-submit-request" && slices.Contains(oneLine, name), operation == "widget-comment" && name == "name":
			// Only the characters that are drawn.
			return strings.TrimSpace(strings.NewReplacer("\t", " ", "\u202e", "").Replace(trimmed)), true
		}
		return trimmed, !strings.ContainsFunc(trimmed, func(r rune) bool {
			return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
		})
	}
}
