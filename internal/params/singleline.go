package params

import (
	"fmt"
	"reflect"
	"strings"

	"gatherkit/internal/feedback"
)

// lineRules says which texts of a value may have several lines. All other texts must be a
// single line, because they are shown next to other text, also in terminals.
type lineRules struct {
	name   string // name of the field; "" for the parameters as a whole
	many   bool   // the field and everything in it may have several lines
	clean  bool   // the parameter is turned into a single line
	fields []lineRules
}

// lineRulesOf returns the rules of a struct from the tags lines:"many", lines:"clean" and
// verbatim:"true" of its fields.
func lineRulesOf(name string, typ reflect.Type) lineRules {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	l := lineRules{name: name}
	if typ.Kind() != reflect.Struct {
		return l
	}
	for _, field := range reflect.VisibleFields(typ) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "": // an embedded struct; VisibleFields includes its fields
		case field.Tag.Get("lines") == "many" || field.Tag.Get("verbatim") == "true":
			l.fields = append(l.fields, lineRules{name: name, many: true})
		case field.Tag.Get("lines") == "clean":
			l.fields = append(l.fields, lineRules{name: name, clean: true})
		default:
			l.fields = append(l.fields, lineRulesOf(name, field.Type))
		}
	}
	return l
}

// check turns the parameters tagged lines:"clean" into single lines. It adds the other
// parameters with a text that must be a single line and is not to invalid.
func (l lineRules) check(object map[string]any, invalid invalidFields) {
	for _, field := range l.fields {
		if text, ok := object[field.name].(string); ok && field.clean {
			object[field.name] = strings.TrimSpace(feedback.ToSingleLine(text))
		}
		if sentence := field.violation(field.name, object[field.name]); sentence != "" && len(invalid[field.name]) == 0 {
			invalid.add(field.name, sentence)
		}
	}
}

// violation returns a sentence about the first text in v that must be a single line and is
// not, or "". It skips what the schema refuses anyway: unknown fields and arrays in arrays.
func (l lineRules) violation(path string, v any) string {
	if l.many {
		return ""
	}
	switch v := v.(type) {
	case string:
		if !feedback.SingleLine(v) {
			return path + " must be a single line without control characters or characters that change the direction of text."
		}
	case []any:
		for i, item := range v {
			if _, nested := item.([]any); !nested && l.violation("", item) != "" {
				return l.violation(fmt.Sprintf("%s[%d]", path, i), item)
			}
		}
	case map[string]any:
		for _, field := range l.fields {
			if sentence := field.violation(path+"."+field.name, v[field.name]); sentence != "" {
				return sentence
			}
		}
	}
	return ""
}
