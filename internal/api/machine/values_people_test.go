package machine

import (
	"slices"
	"strings"
)

// personValue draws properties of people who submit or vote.
func (m *machine) personValue(c aCall, name string) (any, bool) {
	switch name {
	case "email":
		if strings.HasPrefix(c.operation, "widget-") || strings.HasPrefix(c.operation, "votes-") {
			return m.either(name, []any{"a@example.com", "A@Example.com", "b@example.com", ""}, []any{"junk"}), true
		}
	case "name":
		if strings.HasPrefix(c.operation, "votes-") {
			return m.either(name, []any{"Ann", "ann", ""}, []any{strings.Repeat("é", 201), 1}), true
		}
	case "external_id":
		return m.either(name, []any{"42", "7", " 42", ""}, []any{strings.Repeat("x", 201), 7}), true
	case "why":
		return m.either(name, []any{"I read at night.", "Too bright.", ""}, []any{strings.Repeat("é", 501), 1}), true
	case "voter":
		return m.either(name, append(slices.Repeat(voters, 3), nil), []any{"junk", nobodysID, 7}), true
	case "identity_token":
		if find(m.apps, func(a *app) bool { return a.key == c.who && a.secret != "" }) == nil && m.often("no secret") {
			return "", true
		}
		return m.either(name, []any{identityName, identityName, ""}, []any{"junk", 1}), true
	}
	return nil, false
}
