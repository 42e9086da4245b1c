package api

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// nullable is a parameter of a partial change that null clears. For all other parameters,
// null counts as omitted.
type nullable[T any] struct {
	sent  bool
	value *T
}

// clearable is implemented by the types of parameters that null clears.
type clearable interface{ clearable() }

func (nullable[T]) clearable() {}

// change returns a pointer to the new value, which is nil to clear it, or nil if the
// parameter was not sent.
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

// UnmarshalJSON implements json.Unmarshaler. It is called only if the parameter was sent.
func (n *nullable[T]) UnmarshalJSON(text []byte) error {
	n.sent = true
	return json.Unmarshal(text, &n.value)
}

// MarshalJSON implements json.Marshaler.
func (n nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

// IsZero makes omitzero omit a parameter that was not sent.
func (n nullable[T]) IsZero() bool { return !n.sent }
