package mcp

import (
	"maps"
	"strings"
)

const (
	components = "#/components/schemas/"
	defs       = "#/$defs/"
)

// selfContained returns a schema together with all schemas that it refers to.
func (d *document) selfContained(schema map[string]any) map[string]any {
	if schema == nil {
		return map[string]any{"type": "object"}
	}
	found := map[string]any{}
	root, _ := d.localized(schema, found).(map[string]any)
	if name, is := strings.CutPrefix(text(root["$ref"]), defs); is { // tools need a type at the top
		root, _ = found[name].(map[string]any)
		root = maps.Clone(root)
		delete(found, name)
	}
	if len(found) > 0 {
		root["$defs"] = found
	}
	return root
}

// localized returns a part of a schema with references to $defs, and adds those to found.
func (d *document) localized(part any, found map[string]any) any {
	switch part := part.(type) {
	case map[string]any:
		made := make(map[string]any, len(part))
		for key, value := range part {
			made[key] = d.localized(value, found)
		}
		if name, is := strings.CutPrefix(text(part["$ref"]), components); is {
			made["$ref"] = defs + name
			if _, known := found[name]; !known {
				found[name] = nil // a schema that refers to itself
				found[name] = d.localized(d.Components.Schemas[name], found)
			}
		}
		return made
	case []any:
		made := make([]any, len(part))
		for i, value := range part {
			made[i] = d.localized(value, found)
		}
		return made
	}
	return part
}

func text(value any) string {
	s, _ := value.(string)
	return s
}
