package api

import (
	"bytes"
	"encoding/json"
	"strings"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"gatherkit/internal/feedback"
)

// This file alone knows the JSON library. It is the one that becomes
// encoding/json/v2 of the standard library, and refuses what the first version
// lets pass: duplicate names, invalid UTF-8 and members that differ in case.

// readObject reads a body that must be one JSON object; an empty body is {}.
func readObject(body []byte) (map[string]any, error) {
	if strings.TrimSpace(string(body)) == "" {
		return map[string]any{}, nil
	}
	var v any
	if err := jsonx.Unmarshal(body, &v); err != nil {
		return nil, feedback.ErrInvalidJSON
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, feedback.ErrInvalidJSON
	}
	return object, nil
}

// member is one member of an object that readObject has read, as it was sent.
func member(body []byte, name string) (jsontext.Value, error) {
	var members map[string]jsontext.Value
	err := jsonx.Unmarshal(body, &members)
	return members[name], err
}

// fill stores an object that readObject has read in a struct. When a member does
// not fit it returns that member's name.
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
