package params

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

// Only this file uses the JSON library, go-json-experiment, which becomes encoding/json/v2
// of the standard library. Unlike encoding/json, it refuses duplicate names, invalid UTF-8
// and names in another case.

// bodyDecoder decodes a body. It follows the schema, so that a body never becomes more
// values than the schema accepts. For the rest, it only checks the syntax, and keeps enough
// for validate to refuse the body.
type bodyDecoder struct {
	*Params
	object  map[string]any
	texts   map[string]jsontext.Value // free-form objects as they were sent, so that numbers keep all digits
	cleared []string                  // parameters that null clears
	unknown *string                   // first unknown parameter in alphabetical order
	invalid invalidFields
	field   string // parameter that is being decoded
}

// mismatch replaces an array or an object that the schema does not accept. No schema
// accepts it.
type mismatch struct{}

// maxFreeForm is the maximum number of bytes of a free-form object that is decoded. The
// limit of 8 KiB does not count white space and escapes, and an escape such as \u00e9 takes
// six bytes for one character.
const maxFreeForm = 6 * 8 << 10

// maxInteger is the largest integer up to which JSON numbers are exact (RFC 8259).
const maxInteger = 1<<53 - 1

var errNotObject = errors.New("the body is not an object")

// read decodes a body that must be one JSON object; an empty body is {}. It returns
// ErrInvalidJSON if it is not.
func (p *Params) read(body []byte) (*bodyDecoder, error) {
	r := &bodyDecoder{Params: p, object: map[string]any{}, invalid: invalidFields{}}
	if len(bytes.TrimSpace(body)) == 0 {
		return r, nil
	}
	if err := jsonx.Unmarshal(body, r); err != nil {
		return nil, feedback.ErrInvalidJSON
	}
	return r, nil
}

// UnmarshalJSONFrom implements jsonx.UnmarshalerFrom.
func (r *bodyDecoder) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if d.PeekKind() != '{' {
		return errNotObject
	}
	return eachMember(d, func(name string) error {
		schema := r.Schema.Properties[name]
		if schema == nil {
			if r.unknown == nil || name < *r.unknown {
				r.unknown = &name
			}
			return d.SkipValue()
		}
		r.field = name
		v, err := r.value(d, schema)
		if v != nil { // null counts as omitted
			r.object[name] = v
		} else if r.clears[name] {
			r.cleared = append(r.cleared, name)
		}
		return err
	})
}

// value decodes the next value as far as the schema accepts it.
func (r *bodyDecoder) value(d *jsontext.Decoder, schema *huma.Schema) (any, error) {
	schema = r.Resolve(schema)
	switch d.PeekKind() {
	case '{':
		switch schema := alternative(schema, huma.TypeObject); {
		case schema == nil:
			return mismatch{}, d.SkipValue()
		case IsFreeForm(schema):
			return r.freeForm(d)
		default:
			return r.members(d, schema)
		}
	case '[':
		schema = alternative(schema, huma.TypeArray)
		if schema == nil {
			return mismatch{}, d.SkipValue()
		}
		return r.items(d, schema)
	}
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '"':
		text, ok := CleanText(token.String(), r.Verbatim[r.field])
		if !ok {
			r.refuseNUL()
		}
		return text, nil
	case '0':
		// Numbers too large for an integer become the largest one, because limits are capped.
		number, err := token.Float()
		return max(min(number, maxInteger), -maxInteger), err
	case 't', 'f':
		return token.Bool(), nil
	}
	return nil, nil
}

// members decodes the members of an object that the schema contains. A member that is null
// counts as omitted.
func (r *bodyDecoder) members(d *jsontext.Decoder, schema *huma.Schema) (any, error) {
	object := map[string]any{}
	err := eachMember(d, func(name string) error {
		property := schema.Properties[name]
		if property == nil {
			if !r.invalid.full(r.field) {
				path := strings.Join(slices.Collect(d.StackPointer().Tokens()), ".")
				r.invalid.add(r.field, clip(path)+" is not a known field.")
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

// items decodes the items of a list. If there are too many, it decodes one item more than
// the schema accepts, so that validate refuses the list, and skips the others.
func (r *bodyDecoder) items(d *jsontext.Decoder, schema *huma.Schema) (any, error) {
	list := []any{}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() != ']' {
		if len(list) > *schema.MaxItems { // all schemas of lists have MaxItems
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

// freeForm decodes an object that may have any members. Only a parameter as a whole may be
// such an object, not a value inside of it.
func (r *bodyDecoder) freeForm(d *jsontext.Decoder) (any, error) {
	text, err := d.ReadValue()
	if err != nil || len(text) > maxFreeForm {
		return mismatch{}, err
	}
	var v any
	if err := jsonx.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	if hasNUL(v) {
		r.refuseNUL()
	}
	if r.texts == nil {
		r.texts = map[string]jsontext.Value{}
	}
	r.texts[r.field] = text.Clone()
	return map[string]any{}, nil
}

func (r *bodyDecoder) refuseNUL() {
	r.invalid.add(r.field, r.field+" must not contain the character NUL.")
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

// CleanText returns a text without surrounding white space, unless it is verbatim. It
// returns false if the text contains NUL.
func CleanText(text string, verbatim bool) (string, bool) {
	if !verbatim {
		text = strings.TrimSpace(text)
	}
	return text, !hasNUL(text)
}

// alternative returns the schema itself or the one in its oneOf that has a type, or nil.
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

// IsFreeForm reports whether the schema accepts objects with any members.
func IsFreeForm(schema *huma.Schema) bool {
	open, ok := schema.AdditionalProperties.(bool)
	return schema.Type == huma.TypeObject && (!ok || open)
}

// eachMember decodes an object. It calls member for each name, which decodes the value.
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

// fill stores an object in the struct that into points to. If a member does not have the
// type of its field, fill returns the member's name and an error.
func fill(object map[string]any, into any) (field string, err error) {
	text, err := jsonx.Marshal(object)
	if err != nil {
		return "", err
	}
	err = jsonx.Unmarshal(text, into, jsonx.RejectUnknownMembers(true))
	if fault, ok := err.(*jsonx.SemanticError); ok { //nolint:errorlint // Unmarshal does not wrap it
		field, _, _ = strings.Cut(strings.TrimPrefix(string(fault.JSONPointer), "/"), "/")
	}
	return field, err
}

// IsStrictJSON reports whether a text is one JSON value in UTF-8 without duplicate names.
func IsStrictJSON(text []byte) bool { return jsontext.Value(text).IsValid() }

// OneOrMore decodes a value or an array of values.
func OneOrMore[T any](text []byte) ([]T, error) {
	var several []T
	if jsontext.Value(text).Kind() == '[' {
		err := jsonx.Unmarshal(text, &several)
		return several, err
	}
	var one T
	err := jsonx.Unmarshal(text, &one)
	return []T{one}, err
}

// WriteJSON appends the JSON of v to a buffer. Equal values give equal text.
func WriteJSON(to *bytes.Buffer, v any) error {
	return jsonx.MarshalWrite(to, v, jsonx.Deterministic(true))
}

// IndentedJSON returns JSON for people and for files under version control.
func IndentedJSON(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
}
