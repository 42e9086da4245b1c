package params

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Nullable is a parameter of a partial change that null clears. For all other parameters,
// null counts as omitted.
type Nullable[T any] struct {
	sent  bool
	value *T
}

// clearable is implemented by the types of parameters that null clears.
type clearable interface{ clearable() }

func (Nullable[T]) clearable() {}

// Clears reports whether null clears a parameter of the type.
func Clears(typ reflect.Type) bool { return typ.Implements(reflect.TypeFor[clearable]()) }

// Change returns a pointer to the new value, which is nil to clear it, or nil if the
// parameter was not sent.
func (n Nullable[T]) Change() **T {
	if !n.sent {
		return nil
	}
	return &n.value
}

// Schema implements huma.SchemaProvider.
func (Nullable[T]) Schema(r huma.Registry) *huma.Schema {
	schema := *r.Schema(reflect.TypeFor[T](), true, "")
	schema.Nullable = true
	return &schema
}

// UnmarshalJSON implements json.Unmarshaler. It is called only if the parameter was sent.
func (n *Nullable[T]) UnmarshalJSON(text []byte) error {
	n.sent = true
	return json.Unmarshal(text, &n.value)
}

// MarshalJSON implements json.Marshaler.
func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

// IsZero makes omitzero omit a parameter that was not sent.
func (n Nullable[T]) IsZero() bool { return !n.sent }
