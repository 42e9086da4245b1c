package events

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"gatherkit/internal/feedback"
)

// Kinds are the kinds of events that a consumer wants. The empty list has all.
type Kinds []kind

// kind is an area with "*" or the rest of a kind, and "" or a changed field.
type kind struct{ area, rest, field string }

var kindForm = regexp.MustCompile(`^([a-z_]+)\.(\*|[a-z_]+)(?::([a-z_]+))?$`)

// ParseKinds parses kinds such as vote.added, request.* or request.updated:status. It returns false if
// one of them does not exist.
func ParseKinds(list []string) (kinds Kinds, ok bool) {
	for _, text := range list {
		parts := append(kindForm.FindStringSubmatch(text), "", "", "", "")
		k := kind{parts[1], parts[2], parts[3]}
		if !slices.ContainsFunc(feedback.ChangeKinds(), k.includes) || k.rest == "*" && k.field != "" {
			return nil, false
		}
		kinds = append(kinds, k)
	}
	return kinds, true
}

// Include reports whether an event is of one of the kinds.
func (kinds Kinds) Include(e FeedEvent) bool {
	return len(kinds) == 0 || slices.ContainsFunc(kinds, func(k kind) bool {
		return k.includes(e.Kind) && (k.field == "" || !reflect.DeepEqual(e.Before[k.field], e.After[k.field]))
	})
}

func (k kind) includes(of feedback.ChangeKind) bool {
	area, rest, _ := strings.Cut(string(of), ".")
	return k.area == area && (k.rest == "*" || k.rest == rest)
}
