// Package params reads the parameters of operations. A struct is everything that is said about them:
// its tags are the JSON Schema, from which the messages, the OpenAPI document and the documentation
// come. Bodies are decoded strictly, in linear time.
package params

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"gatherkit/internal/feedback"
)

// Params describes the parameters of an operation: a struct whose tags are its JSON Schema.
// Besides huma's tags, there are verbatim:"true" for fields whose surrounding white space is
// kept, lines:"many" for text that may have several lines, and lines:"clean" for text that
// is turned into a single line, so that a submission is not refused for a tab in its title.
type Params struct {
	Area     string // first word of the operation, for codes such as <area>.invalid_<field>
	Schema   *huma.Schema
	Names    []string        // in documented order
	Verbatim map[string]bool // parameters whose surrounding white space is kept

	typ      reflect.Type
	registry huma.Registry
	clears   map[string]bool // parameters that null clears
	unique   []uniqueList
	lines    lineRules
}

// uniqueList is a parameter that is a list without duplicates.
type uniqueList struct {
	name  string
	index []int // of the struct's field
}

// New returns the parameters of an operation from the type of its struct. It adds the schema to the
// registry.
func New(registry huma.Registry, operation string, typ reflect.Type) *Params {
	area, _, _ := strings.Cut(operation, "-")
	p := &Params{
		Area: area, typ: typ, registry: registry,
		Verbatim: map[string]bool{}, clears: map[string]bool{}, lines: lineRulesOf("", typ),
	}
	schema := *registry.Schema(typ, false, operation)
	schema.Properties = maps.Clone(schema.Properties)
	p.Schema = &schema // a copy, because the original is part of the OpenAPI document
	for _, field := range reflect.VisibleFields(typ) {
		if field.Anonymous {
			continue // VisibleFields includes its fields
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		p.Names = append(p.Names, name)
		p.Verbatim[name] = field.Tag.Get("verbatim") == "true"
		p.clears[name] = Clears(field.Type)
		if property := *schema.Properties[name]; property.UniqueItems {
			property.UniqueItems = false // findDuplicate checks it instead
			schema.Properties[name] = &property
			p.unique = append(p.unique, uniqueList{name, field.Index})
		}
	}
	return p
}

// Decode decodes a body into a new value of the struct. It returns ErrInvalidJSON,
// ErrUnknownParameter, or the error of the first invalid field in documented order, whose
// message names all invalid fields. It takes linear time for any body.
func (p *Params) Decode(body []byte) (any, error) {
	r, err := p.read(body)
	if err != nil {
		return nil, err
	}
	if r.unknown != nil {
		return nil, p.unknown(*r.unknown)
	}
	p.lines.check(r.object, r.invalid)
	p.validate(r.object, r.invalid)
	if err := r.invalid.toError(p.Area, p.Names); err != nil {
		return nil, err
	}
	for name, text := range r.texts {
		r.object[name] = text
	}
	for _, name := range r.cleared {
		r.object[name] = nil
	}
	into := reflect.New(p.typ)
	if field, err := fill(r.object, into.Interface()); err != nil {
		if field == "" {
			return nil, err
		}
		return nil, feedback.Invalid(p.Area, field, p.sentence(field, "must be"))
	}
	if field := p.findDuplicate(into.Elem()); field != "" {
		return nil, feedback.Invalid(p.Area, field, field+" must not contain duplicates.")
	}
	return into.Elem().Interface(), nil
}

// findDuplicate returns the first list that must not have duplicates and has one. Items are
// compared as typed values, so that ids in upper and lower case are equal.
func (p *Params) findDuplicate(in reflect.Value) string {
	for _, field := range p.unique {
		list, seen := in.FieldByIndex(field.index), map[any]bool{}
		for i := range list.Len() {
			item := list.Index(i).Interface()
			if seen[item] {
				return field.name
			}
			seen[item] = true
		}
	}
	return ""
}

func (p *Params) unknown(name string) error {
	if len(p.Names) == 0 {
		return feedback.ErrUnknownParameter.With("This operation takes no parameters.")
	}
	if near := feedback.Nearest(name, p.Names); near != "" {
		return feedback.ErrUnknownParameter.With("Unknown parameter %q; did you mean %s?", clip(name), near)
	}
	return feedback.ErrUnknownParameter.With("Unknown parameter %q; this operation takes %s.", clip(name), strings.Join(p.Names, ", "))
}

// validate adds the fields that do not match the schema to invalid.
func (p *Params) validate(object map[string]any, invalid invalidFields) {
	for _, name := range p.Schema.Required {
		if _, ok := object[name]; !ok {
			invalid.add(name, p.sentence(name, "is required and must be"))
		}
	}
	result := &huma.ValidateResult{}
	huma.Validate(p.registry, p.Schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, object, result)
	for _, err := range result.Errors {
		detail, ok := err.(*huma.ErrorDetail) //nolint:errorlint // huma does not wrap it
		if !ok || detail.Location == "" {     // a missing parameter, which was added above
			continue
		}
		field, _, _ := strings.Cut(strings.ReplaceAll(detail.Location, "[", "."), ".")
		if !invalid.full(field) {
			invalid.add(field, p.sentence(detail.Location, "must be"))
		}
	}
}

// sentence returns a sentence that says what the schema accepts at a path such as
// settings.widget.position.
func (p *Params) sentence(path, verb string) string {
	schema := p.Schema
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		schema = p.Resolve(schema)
		switch {
		case schema == nil:
			return path + " is not valid."
		case schema.Items != nil:
			schema = schema.Items
		default:
			schema = schema.Properties[step]
		}
	}
	if schema = p.Resolve(schema); schema == nil {
		return clip(path) + " is not valid."
	}
	return fmt.Sprintf("%s %s %s.", path, verb, p.Accepts(schema))
}

// Resolve returns the schema that a reference stands for, and any other schema itself.
func (p *Params) Resolve(s *huma.Schema) *huma.Schema {
	if s != nil && s.Ref != "" {
		return p.registry.SchemaFromRef(s.Ref)
	}
	return s
}

// Accepts describes what a schema accepts.
func (p *Params) Accepts(s *huma.Schema) string {
	s = p.Resolve(s)
	switch {
	case len(s.OneOf) > 0:
		var accepted []string
		for _, one := range s.OneOf {
			accepted = append(accepted, p.Accepts(one))
		}
		return strings.Join(accepted, ", or ")
	case len(s.Enum) > 0:
		return "one of " + strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Enum), " ", ", "), "[]")
	case s.Pattern != "" && len(s.Examples) > 0:
		return "text such as " + either(s.Examples)
	case s.Format == "uuid":
		return "a UUID"
	case s.Format == "date":
		return "a date such as 2026-12-31"
	case s.Format == "date-time":
		return "a time such as 2026-12-31T12:00:00Z"
	case s.Type == huma.TypeString:
		return "text" + span(s.MinLength, s.MaxLength, " characters")
	case s.Type == huma.TypeInteger:
		return "an integer" + span(whole(s.Minimum), whole(s.Maximum), "")
	case s.Type == huma.TypeNumber:
		return "a number" + span(whole(s.Minimum), whole(s.Maximum), "")
	case s.Type == huma.TypeBoolean:
		return "true or false"
	case s.Type == huma.TypeArray:
		return "a list" + span(s.MinItems, s.MaxItems, " items") + ", each " + p.Accepts(s.Items)
	}
	if IsFreeForm(s) {
		return "a JSON object of at most 8 KiB and two levels"
	}
	return "an object"
}

// either joins examples, such as "a, b or c".
func either(examples []any) string {
	text := fmt.Sprint(examples[0])
	for i, example := range examples[1:] {
		if i < len(examples)-2 {
			text += fmt.Sprintf(", %v", example)
		} else {
			text += fmt.Sprintf(" or %v", example)
		}
	}
	return text
}

func span(least, most *int, unit string) string {
	switch {
	case least != nil && most != nil:
		return fmt.Sprintf(" of %d to %d%s", *least, *most, unit)
	case most != nil:
		return fmt.Sprintf(" of at most %d%s", *most, unit)
	case least != nil && *least == 1:
		return " of at least 1" + strings.TrimSuffix(unit, "s")
	case least != nil:
		return fmt.Sprintf(" of at least %d%s", *least, unit)
	}
	return ""
}

func whole(f *float64) *int {
	if f == nil {
		return nil
	}
	return new(int(*f))
}

// invalidFields maps invalid parameters to sentences that say what is wrong, at most
// maxSentences each.
type invalidFields map[string][]string

// maxSentences limits the length of messages.
const maxSentences = 10

func (f invalidFields) add(field, sentence string) {
	if !f.full(field) && !slices.Contains(f[field], sentence) {
		f[field] = append(f[field], sentence)
	}
}

func (f invalidFields) full(field string) bool { return len(f[field]) == maxSentences }

// toError returns the error of the first invalid field in documented order, with the
// sentences of all fields, or nil if all fields are valid.
func (f invalidFields) toError(area string, names []string) error {
	var first string
	var sentences []string
	for _, name := range names {
		if len(f[name]) > 0 && first == "" {
			first = name
		}
		slices.Sort(f[name])
		sentences = append(sentences, f[name]...)
	}
	if first == "" {
		return nil
	}
	return feedback.Invalid(area, first, strings.Join(sentences[:min(len(sentences), maxSentences)], " "))
}

// clip shortens text from callers for use in a message.
func clip(s string) string {
	return feedback.Shorten(s, 80)
}
