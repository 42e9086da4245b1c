package api

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"gatherkit/internal/feedback"
)

// params is what an operation takes: a struct whose tags are its JSON Schema.
// Beside huma's tags there is verbatim:"true", for fields whose outer white space
// belongs to the value.
type params struct {
	area     string // the operation's first word: field faults are <area>.invalid_<field>
	typ      reflect.Type
	registry huma.Registry
	schema   *huma.Schema
	names    []string // in documented order
	verbatim map[string]bool
	clears   map[string]bool // those that null clears
}

func newParams(registry huma.Registry, operation string, typ reflect.Type) *params {
	area, _, _ := strings.Cut(operation, "-")
	p := &params{area: area, typ: typ, registry: registry, verbatim: map[string]bool{}, clears: map[string]bool{}}
	p.schema = registry.Schema(typ, false, operation)
	for _, field := range reflect.VisibleFields(typ) {
		if field.Anonymous {
			continue // its fields come by themselves
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		p.names = append(p.names, name)
		p.verbatim[name] = field.Tag.Get("verbatim") == "true"
		p.clears[name] = field.Type.Implements(reflect.TypeFor[clearable]())
	}
	return p
}

// decode reads a body into a new value of the struct. It refuses with
// ErrInvalidJSON, ErrUnknownParameter or the fault of the first field in
// documented order; the message names every faulty field.
func (p *params) decode(body []byte) (any, error) {
	object, err := readObject(body)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(p.names, name) {
			return nil, p.unknown(name)
		}
	}
	faults := faults{}
	var cleared []string
	for name, v := range object {
		clean, ok := normalise(v, p.verbatim[name])
		switch {
		case !ok:
			faults.add(name, name+" must not contain the character NUL.")
		case clean == nil:
			delete(object, name) // null is absent
			if p.clears[name] {
				cleared = append(cleared, name)
			}
		default:
			object[name] = clean
		}
	}
	p.validate(object, faults)
	if err := faults.refusal(p.area, p.names); err != nil {
		return nil, err
	}
	if err := p.restore(object, body); err != nil {
		return nil, err
	}
	for _, name := range cleared {
		object[name] = nil
	}
	into := reflect.New(p.typ)
	if field, err := fill(object, into.Interface()); err != nil {
		if field == "" {
			return nil, err
		}
		return nil, feedback.Invalid(p.area, field, p.sentence(field, "must be"))
	}
	return into.Elem().Interface(), nil
}

// restore puts the text that was sent in the place of verbatim objects, whose
// numbers would lose digits otherwise.
func (p *params) restore(object map[string]any, body []byte) error {
	for name := range object {
		if _, isObject := object[name].(map[string]any); !isObject || !p.verbatim[name] {
			continue
		}
		text, err := member(body, name)
		if err != nil {
			return err
		}
		object[name] = text
	}
	return nil
}

func (p *params) unknown(name string) error {
	if len(p.names) == 0 {
		return feedback.ErrUnknownParameter.With("This operation takes no parameters.")
	}
	if near := feedback.Nearest(name, p.names); near != "" {
		return feedback.ErrUnknownParameter.With("The parameter %q is not known; did you mean %s?", clip(name), near)
	}
	return feedback.ErrUnknownParameter.With("The parameter %q is not known; this operation takes %s.", clip(name), strings.Join(p.names, ", "))
}

// validate holds the object against the schema.
func (p *params) validate(object map[string]any, faults faults) {
	for _, name := range p.schema.Required {
		if _, ok := object[name]; !ok {
			faults.add(name, p.sentence(name, "is required and must be"))
		}
	}
	result := &huma.ValidateResult{}
	huma.Validate(p.registry, p.schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, object, result)
	for _, err := range result.Errors {
		detail, ok := err.(*huma.ErrorDetail) //nolint:errorlint // a list of exactly these
		if !ok || detail.Location == "" {     // the missing ones, named above
			continue
		}
		field, _, _ := strings.Cut(strings.ReplaceAll(detail.Location, "[", "."), ".")
		sentence := p.sentence(detail.Location, "must be")
		if detail.Message == unexpectedProperty {
			sentence = clip(detail.Location) + " is not known."
		}
		faults.add(field, sentence)
	}
}

// sentence says what the schema accepts at a path such as settings.widget.position.
func (p *params) sentence(path, verb string) string {
	schema := p.schema
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		schema = p.resolve(schema)
		switch {
		case schema == nil:
			return path + " is not acceptable."
		case schema.Items != nil:
			schema = schema.Items
		default:
			schema = schema.Properties[step]
		}
	}
	if schema = p.resolve(schema); schema == nil {
		return clip(path) + " is not acceptable."
	}
	return fmt.Sprintf("%s %s %s.", path, verb, p.accepts(schema))
}

func (p *params) resolve(s *huma.Schema) *huma.Schema {
	if s != nil && s.Ref != "" {
		return p.registry.SchemaFromRef(s.Ref)
	}
	return s
}

// accepts says in words what a schema accepts.
func (p *params) accepts(s *huma.Schema) string {
	s = p.resolve(s)
	switch {
	case len(s.OneOf) > 0:
		var either []string
		for _, one := range s.OneOf {
			either = append(either, p.accepts(one))
		}
		return strings.Join(either, ", or ")
	case len(s.Enum) > 0:
		return "one of " + strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Enum), " ", ", "), "[]")
	case s.Pattern != "" && len(s.Examples) > 0:
		return fmt.Sprintf("text such as %v", s.Examples[0])
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
		return "a list" + span(s.MinItems, s.MaxItems, " items") + ", each " + p.accepts(s.Items)
	}
	return "an object"
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

// faults are sentences by the field that they are about.
type faults map[string][]string

func (f faults) add(field, sentence string) {
	if !slices.Contains(f[field], sentence) {
		f[field] = append(f[field], sentence)
	}
}

// maxSentences keeps the message for a body full of faults short.
const maxSentences = 10

// refusal is the fault of the first field in documented order, naming all.
func (f faults) refusal(area string, names []string) error {
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

// maxInteger is the largest integer up to which JSON numbers are exact (RFC 8259).
const maxInteger = 1<<53 - 1

// normalise trims the outer white space of every string, drops null members and
// reports whether the value is free of NUL, which PostgreSQL cannot store.
func normalise(v any, verbatim bool) (any, bool) {
	switch v := v.(type) {
	case string:
		if verbatim {
			return v, !strings.Contains(v, "\x00")
		}
		return strings.TrimSpace(v), !strings.Contains(v, "\x00")
	case float64:
		// What is too large for an integer is still a large one: limits cap it.
		return max(min(v, maxInteger), -maxInteger), true
	case []any:
		for i := range v {
			var ok bool
			if v[i], ok = normalise(v[i], verbatim); !ok {
				return nil, false
			}
		}
	case map[string]any:
		for name, inner := range v {
			clean, ok := normalise(inner, verbatim)
			if !ok || strings.Contains(name, "\x00") {
				return nil, false
			}
			if v[name] = clean; clean == nil && !verbatim {
				delete(v, name)
			}
		}
	}
	return v, true
}

// clip keeps what callers sent from filling a message.
func clip(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
