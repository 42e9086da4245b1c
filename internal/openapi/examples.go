package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// addExample adds an example to an operation.
func addExample(registry huma.Registry, o *huma.Operation, example Example) error {
	ids := map[string]bool{}
	media := map[*huma.MediaType]string{o.Responses["200"].Content[mediaJSON]: example.Answer}
	if o.RequestBody != nil && example.Call != "" {
		media[o.RequestBody.Content[mediaJSON]] = example.Call
	}
	for m, text := range media {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			return err
		}
		findIDs(registry, m.Schema, value, ids)
	}
	for m, text := range media {
		m.Example = withIDs(text, ids)
	}
	return nil
}

// findIDs adds the names that stand for an id to ids, because a schema wants a UUID in their place.
func findIDs(registry huma.Registry, schema *huma.Schema, value any, ids map[string]bool) {
	if schema != nil && schema.Ref != "" {
		schema = registry.SchemaFromRef(schema.Ref)
	}
	if schema == nil {
		return
	}
	for _, one := range append(schema.AnyOf, schema.OneOf...) {
		findIDs(registry, one, value, ids)
	}
	switch value := value.(type) {
	case string:
		if schema.Format == "uuid" && strings.HasPrefix(value, "{") {
			ids[value] = true
		}
	case []any:
		for _, item := range value {
			findIDs(registry, schema.Items, item, ids)
		}
	case map[string]any:
		for name, field := range value {
			findIDs(registry, schema.Properties[name], field, ids)
		}
	}
}

// withIDs returns an example with a UUID for each of the names in ids.
func withIDs(text string, ids map[string]bool) json.RawMessage {
	for name := range ids {
		sum := sha256.Sum256([]byte(name))
		digits := hex.EncodeToString(sum[:])
		// An id of version 7 that was made when 2026 began.
		id := "019b76da-a800-7" + digits[:3] + "-8" + digits[3:6] + "-" + digits[6:18]
		text = strings.ReplaceAll(text, `"`+name+`"`, `"`+id+`"`)
	}
	return json.RawMessage(text)
}
