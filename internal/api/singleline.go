package api

import (
	"fmt"
	"reflect"
	"strings"

	"gatherkit/internal/feedback"
)

// lines says which text of an object may hold several lines. All other text is a single
// line: it is shown beside other text, in terminals as well.
type lines struct {
	name   string // of the field; "" for the parameters as a whole
	many   bool   // this field, and all in it, may hold several lines
	clean  bool   // this parameter is made a single line, and not refused
	fields []lines
}

// linesOf reads the tags lines:"many", lines:"clean" and verbatim:"true" of a struct's
// fields. Without a tag text that is not a single line is refused.
func linesOf(name string, typ reflect.Type) lines {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	l := lines{name: name}
	if typ.Kind() != reflect.Struct {
		return l
	}
	for _, field := range reflect.VisibleFields(typ) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "": // its fields come by themselves
		case field.Tag.Get("lines") == "many" || field.Tag.Get("verbatim") == "true":
			l.fields = append(l.fields, lines{name: name, many: true})
		case field.Tag.Get("lines") == "clean":
			l.fields = append(l.fields, lines{name: name, clean: true})
		default:
			l.fields = append(l.fields, linesOf(name, field.Type))
		}
	}
	return l
}

// check cleans the parameters that are to be cleaned, and adds a fault for each other one
// that holds text with several lines and may not.
func (l lines) check(object map[string]any, faults faults) {
	for _, field := range l.fields {
		if text, ok := object[field.name].(string); ok && field.clean {
			object[field.name] = strings.TrimSpace(feedback.ToSingleLine(text))
		}
		if sentence := field.fault(field.name, object[field.name]); sentence != "" && len(faults[field.name]) == 0 {
			faults.add(field.name, sentence)
		}
	}
}

// fault returns a sentence about the first text in v that has several lines and may not, or
// "". What the schema refuses anyway, unknown fields and arrays in arrays, is not read.
func (l lines) fault(path string, v any) string {
	if l.many {
		return ""
	}
	switch v := v.(type) {
	case string:
		if !feedback.SingleLine(v) {
			return path + " must be a single line without control characters and without characters that change the direction of text."
		}
	case []any:
		for i, item := range v {
			if _, nested := item.([]any); !nested && l.fault("", item) != "" {
				return l.fault(fmt.Sprintf("%s[%d]", path, i), item)
			}
		}
	case map[string]any:
		for _, field := range l.fields {
			if sentence := field.fault(path+"."+field.name, v[field.name]); sentence != "" {
				return sentence
			}
		}
	}
	return ""
}
