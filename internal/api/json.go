package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"gatherkit/internal/feedback"
)

// This file alone knows the JSON library. It is the one that becomes
// encoding/json/v2 of the standard library, and refuses what the first version
// lets pass: duplicate names, invalid UTF-8 and members that differ in case.

// reading is a body on its way to becoming values. It follows the schema, so that a
// body never becomes more values than the schema accepts: the rest is checked for its
// syntax and dropped, and what remains of it makes validate refuse the body.
type reading struct {
	*params
	object  map[string]any
	texts   map[string]jsontext.Value // free-form objects as they were sent: their numbers would lose digits otherwise
	cleared []string                  // the parameters that null clears
	unknown *string                   // the first unknown parameter in alphabetical order
	faults  faults
	field   string // the parameter that is being read
}

// misfit stands for an array or an object where the schema accepts none. No schema
// accepts it.
type misfit struct{}

// maxFreeForm is the most bytes of an object without a schema that are looked into.
// Its 8 KiB count without white space and escapes, of which \u00e9 takes six bytes
// for a character.
const maxFreeForm = 6 * 8 << 10

// maxInteger is the largest integer up to which JSON numbers are exact (RFC 8259).
const maxInteger = 1<<53 - 1

var errNoObject = errors.New("the body is no object")

// read reads a body that must be one JSON object; an empty body is {}. It refuses
// with ErrInvalidJSON.
func (p *params) read(body []byte) (*reading, error) {
	r := &reading{params: p, object: map[string]any{}, faults: faults{}}
	if len(bytes.TrimSpace(body)) == 0 {
		return r, nil
	}
	if err := jsonx.Unmarshal(body, r); err != nil {
		return nil, feedback.ErrInvalidJSON
	}
	return r, nil
}

// UnmarshalJSONFrom reads the parameters.
func (r *reading) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '{' {
		return errNoObject
	}
	return eachMember(d, func(name string) error {
		schema := r.schema.Properties[name]
		if schema == nil {
			if r.unknown == nil || name < *r.unknown {
				r.unknown = &name
			}
			return d.SkipValue()
		}
		r.field = name
		v, err := r.value(d, schema)
		if v != nil { // null is absent
			r.object[name] = v
		} else if r.clears[name] {
			r.cleared = append(r.cleared, name)
		}
		return err
	})
}

// value reads what the schema accepts of the next value.
func (r *reading) value(d *jsontext.Decoder, schema *huma.Schema) (any, error) {
	schema = r.resolve(schema)
	switch d.PeekKind() {
	case '{':
		switch schema := alternative(schema, huma.TypeObject); {
		case schema == nil:
			return misfit{}, d.SkipValue()
		case freeForm(schema):
			return r.freeForm(d)
		default:
			return r.members(d, schema)
		}
	case '[':
		schema = alternative(schema, huma.TypeArray)
		if schema == nil {
			return misfit{}, d.SkipValue()
		}
		return r.items(d, schema)
	}
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '"':
		text, ok := cleaned(token.String(), r.verbatim[r.field])
		if !ok {
			r.containsNUL()
		}
		return text, nil
	case '0':
		// What is too large for an integer is still a large one: limits cap it.
		number, err := token.Float()
		return max(min(number, maxInteger), -maxInteger), err
	case 't', 'f':
		return token.Bool(), nil
	}
	return nil, nil
}

// members reads the members of an object that the schema has. Null is absent.
func (r *reading) members(d *jsontext.Decoder, schema *huma.Schema) (any, error) {
	object := map[string]any{}
	err := eachMember(d, func(name string) error {
		property := schema.Properties[name]
		if property == nil {
			if !r.faults.full(r.field) {
				path := strings.Join(slices.Collect(d.StackPointer().Tokens()), ".")
				r.faults.add(r.field, clip(path)+" is not known.")
			}
			return d.SkipValue()
		}
		v, err := r.value(d, property)
		if v != nil {
			object[name] = v
		}
		return err
	})
	return object, err
}

// items reads one item more than the schema accepts, for which validate refuses the
// list, and skips the others.
func (r *reading) items(d *jsontext.Decoder, schema *huma.Schema) (any, error) {
	list := []any{}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() != ']' {
		if len(list) > *schema.MaxItems { // which every list has
			if err := d.SkipValue(); err != nil {
				return nil, err
			}
			continue
		}
		v, err := r.value(d, schema.Items)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := d.ReadToken()
	return list, err
}

// freeForm reads an object that may have any members. Only parameters may be such
// objects, and not what lies in them.
func (r *reading) freeForm(d *jsontext.Decoder) (any, error) {
	text, err := d.ReadValue()
	if err != nil || len(text) > maxFreeForm {
		return misfit{}, err
	}
	var v any
	if err := jsonx.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	if hasNUL(v) {
		r.containsNUL()
	}
	if r.texts == nil {
		r.texts = map[string]jsontext.Value{}
	}
	r.texts[r.field] = text.Clone()
	return map[string]any{}, nil
}

func (r *reading) containsNUL() {
	r.faults.add(r.field, r.field+" must not contain the character NUL.")
}

// hasNUL reports whether a value contains NUL, which PostgreSQL cannot store.
func hasNUL(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, "\x00")
	case []any:
		return slices.ContainsFunc(v, hasNUL)
	case map[string]any:
		for name, inner := range v {
			if hasNUL(name) || hasNUL(inner) {
				return true
			}
		}
	}
	return false
}

// cleaned is a text as it is stored: without outer white space, unless that belongs to
// it. It reports whether the text is free of NUL.
func cleaned(text string, verbatim bool) (string, bool) {
	if !verbatim {
		text = strings.TrimSpace(text)
	}
	return text, !hasNUL(text)
}

// alternative is the schema, or the one of its alternatives, that accepts arrays or
// objects, as typ says; nil when there is none.
func alternative(schema *huma.Schema, typ string) *huma.Schema {
	if schema.Type == typ {
		return schema
	}
	for _, one := range schema.OneOf {
		if one.Type == typ {
			return one
		}
	}
	return nil
}

// freeForm reports whether an object may have members that the schema does not name.
func freeForm(schema *huma.Schema) bool {
	open, ok := schema.AdditionalProperties.(bool)
	return schema.Type == huma.TypeObject && (!ok || open)
}

// eachMember reads an object and calls member for each name, to read its value.
func eachMember(d *jsontext.Decoder, member func(name string) error) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		if err := member(name.String()); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// fill stores an object in a struct. When a member does not fit it returns that
// member's name.
func fill(object map[string]any, into any) (field string, err error) {
	text, err := jsonx.Marshal(object)
	if err != nil {
		return "", err
	}
	err = jsonx.Unmarshal(text, into, jsonx.RejectUnknownMembers(true))
	if fault, ok := err.(*jsonx.SemanticError); ok { //nolint:errorlint // Unmarshal returns it bare
		field, _, _ = strings.Cut(strings.TrimPrefix(string(fault.JSONPointer), "/"), "/")
	}
	return field, err
}

// isStrict reports whether a text is one JSON value in UTF-8 in which no name occurs twice.
func isStrict(text []byte) bool { return jsontext.Value(text).IsValid() }

// oneOrMore reads a value or an array of values.
func oneOrMore[T any](text []byte) ([]T, error) {
	var several []T
	if jsontext.Value(text).Kind() == '[' {
		err := jsonx.Unmarshal(text, &several)
		return several, err
	}
	var one T
	err := jsonx.Unmarshal(text, &one)
	return []T{one}, err
}

// write adds the JSON of an answer to a buffer; equal values give equal text.
func write(to *bytes.Buffer, v any) error {
	return jsonx.MarshalWrite(to, v, jsonx.Deterministic(true))
}

// indented is JSON for people and for files under version control.
func indented(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
}
