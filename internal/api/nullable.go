package api

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// nullable is a field of a partial change that null clears; elsewhere null is the
// same as an absent field.
type nullable[T any] struct {
	sent  bool
	value *T
}

// clearable is what decode asks of a parameter's type.
type clearable interface{ clearable() }

func (nullable[T]) clearable() {}

// clears reports whether null clears a parameter of the type.
func clears(typ reflect.Type) bool { return typ.Implements(reflect.TypeFor[clearable]()) }

// change is nil when the field was not sent, and else points to what it becomes.
func (n nullable[T]) change() **T {
	if !n.sent {
		return nil
	}
	return &n.value
}

// Schema implements huma.SchemaProvider.
func (nullable[T]) Schema(r huma.Registry) *huma.Schema {
	schema := *r.Schema(reflect.TypeFor[T](), true, "")
	schema.Nullable = true
	return &schema
}

// UnmarshalJSON notes that the field was sent.
func (n *nullable[T]) UnmarshalJSON(text []byte) error {
	n.sent = true
	return json.Unmarshal(text, &n.value)
}

// MarshalJSON writes what was sent.
func (n nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

// IsZero lets a field that was not sent be left out.
func (n nullable[T]) IsZero() bool { return !n.sent }
