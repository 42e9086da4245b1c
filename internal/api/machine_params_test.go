package api

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// These functions decode the values of parameters as the service does. They return false for
// values that the service refuses.

func verbatim(least, most int) func(any) (any, bool) {
	return func(v any) (any, bool) {
		s, ok := v.(string)
		n := utf8.RuneCountInString(s)
		return s, ok && n >= least && n <= most && !strings.Contains(s, "\x00")
	}
}

func trimmed(least, most int) func(any) (any, bool) {
	return func(v any) (any, bool) {
		if s, ok := v.(string); ok {
			v = strings.TrimSpace(s)
		}
		return verbatim(least, most)(v)
	}
}

// line accepts trimmed text without control characters and characters that change the
// direction of text.
func line(least, most int) func(any) (any, bool) {
	return func(v any) (any, bool) {
		clean, ok := trimmed(least, most)(v)
		s, _ := clean.(string)
		return clean, ok && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) })
	}
}

// cleanedLine accepts text of a submission, which becomes a single line.
func cleanedLine(least, most int) func(any) (any, bool) {
	return func(v any) (any, bool) {
		s, ok := v.(string)
		if !ok {
			return v, false
		}
		s = strings.NewReplacer("\t", " ", "\u202e", "").Replace(strings.TrimSpace(s)) // only these are drawn
		return trimmed(least, most)(s)
	}
}

func anID(v any) (any, bool) {
	s, ok := v.(string)
	return s, ok && (strings.HasPrefix(s, "{id") || s == nobodysID)
}

func aBool(v any) (any, bool) {
	_, ok := v.(bool)
	return v, ok
}

// voters are ids of browsers.
var voters = []any{"0b5d1a52-5f0e-4c8b-9d38-1f6f6a1c2b3d", "9a1c2b3d-5f0e-4c8b-9d38-0b5d1a520b5d"}

func aVoter(v any) (any, bool) {
	if slices.Contains(voters, v) {
		return v, true
	}
	return anID(v)
}

func positive(v any) (any, bool) {
	number, ok := v.(json.Number)
	n, err := number.Float64()
	return int(n), ok && err == nil && n >= 1 && n == float64(int(n))
}

func oneOf(values ...string) func(any) (any, bool) {
	return func(v any) (any, bool) {
		s, ok := v.(string)
		return s, ok && slices.Contains(values, s)
	}
}

var settable = []string{"opened", "under_review", "planned", "in_progress", "completed", "declined"}

func someStatuses(v any) (any, bool) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var statuses []string
	for _, v := range list {
		status, ok := oneOf(append(settable, "duplicate")...)(v)
		if !ok {
			return nil, false
		}
		statuses = append(statuses, status.(string))
	}
	slices.Sort(statuses)
	return strings.Join(slices.Compact(statuses), ","), len(list) > 0
}

// origins are the origins that are drawn, with their normalized form.
var origins = map[string]string{"https://A.example:443": "https://a.example", "https://a.example": "https://a.example", "http://b.example:8080": "http://b.example:8080"}

func someSettings(v any) (any, bool) {
	change, ok := v.(object)
	result := object{}
	for name, v := range change {
		switch name {
		case "sharing":
			_, known := oneOf("none", "triaged", "all")(v)
			ok = ok && known
		case "widget":
			widget, isObject := v.(object)
			ok = ok && isObject
			for key, v := range widget {
				_, isFlag := v.(bool)
				ok = ok && isFlag && slices.Contains([]string{"require_email", "show_email_field", "allow_file_uploads"}, key)
			}
		case "allowed_origins":
			normal := []any{}
			for _, origin := range v.([]any) {
				normal = append(normal, origins[origin.(string)])
			}
			v, ok = normal, ok && !slices.Contains(normal, any(""))
		default:
			ok = false
		}
		result[name] = v
	}
	return result, ok
}

func someMetadata(v any) (any, bool) {
	text, ok := v.(json.RawMessage)
	return text, ok && text[0] == '{'
}

// aDate accepts the valid ones of the dates that are drawn.
func aDate(v any) (any, bool) {
	s, ok := v.(string)
	return s, ok && strings.HasPrefix(s, "20") && len(s) == len("2026-01-01")
}

func aTime(v any) (any, bool) {
	s, ok := v.(string)
	at, err := time.Parse(time.RFC3339, s)
	return at.UTC().Format(timeForm), ok && err == nil
}

// someTags accepts tags and removes those that differ only in case.
func someTags(v any) (any, bool) { return readTags(line(1, 40), v) }

// storedTags also accepts tags that only older versions allowed.
func storedTags(v any) (any, bool) { return readTags(trimmed(1, 40), v) }

func readTags(decodeTag func(any) (any, bool), v any) (any, bool) {
	list, ok := v.([]any)
	tags := []any{}
	for _, v := range list {
		tag, good := decodeTag(v)
		ok = ok && good
		if good && !slices.ContainsFunc(tags, func(t any) bool { return strings.EqualFold(t.(string), tag.(string)) }) {
			tags = append(tags, tag)
		}
	}
	return tags, ok && len(list) <= 20
}

func someIDs(v any) (any, bool) {
	list, ok := v.([]any)
	for _, id := range list {
		_, good := anID(id)
		ok = ok && good
	}
	return list, ok && len(list) > 0
}

func notNegative(v any) (any, bool) {
	if v == json.Number("0") {
		return 0, true
	}
	return positive(v)
}

// inside accepts an object with some of the fields.
func inside(v any, fields map[string]func(any) (any, bool)) (any, bool) {
	sent, ok := v.(object)
	result := object{}
	for name, v := range sent {
		decodeField, known := fields[name]
		if !known {
			return nil, false
		}
		if v == nil {
			continue // null counts as omitted
		}
		clean, good := decodeField(v)
		result[name], ok = clean, ok && good
	}
	return result, ok
}

func someFilter(v any) (any, bool) {
	fields := map[string]func(any) (any, bool){}
	for _, f := range where {
		fields[f.name] = f.decode
	}
	return inside(v, fields)
}

func someSet(v any) (any, bool) {
	return inside(v, map[string]func(any) (any, bool){
		"status": oneOf(settable...), "assignee_id": line(0, 1e6), "add_tags": someTags, "remove_tags": storedTags, "box": oneOf("live", "bin"),
	})
}

func someSubmitter(v any) (any, bool) {
	submitter, ok := v.(object)
	for name := range submitter {
		ok = ok && slices.Contains([]string{"email", "name", "external_id"}, name)
	}
	return submitter, ok
}
