package feedback_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
)

func TestNearest(t *testing.T) {
	known := []string{"title", "description", "app_id", "status", "limit", "display_name", "SQL"}
	for _, test := range []struct{ name, want string }{
		{"title", "title"},
		{"Title", "title"},
		{"tilte", "title"},
		{"titel", "title"},
		{"stauts", "status"},
		{"descripion", "description"},
		{"appId", "app_id"},
		{"displayName", "display_name"},
		{"sql", "SQL"},
		{"body", ""},
		{"id", ""},
		{"", ""},
		{"headline", ""},
		{"ti", ""},
		{strings.Repeat("title", 100_000), ""},
		{"títle", "title"}, // í has two bytes, and both must change
	} {
		if got := feedback.Nearest(test.name, known); got != test.want {
			t.Errorf("Nearest(%.20q) = %q, want %q", test.name, got, test.want)
		}
	}
	if got := feedback.Nearest("limit", nil); got != "" {
		t.Errorf("with nothing known: %q", got)
	}
}

// TestNearestProperties compares Nearest with a slow, simple definition of the distance.
func TestNearestProperties(t *testing.T) {
	word := rapid.StringMatching(`[ab_]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		name := word.Draw(t, "name")
		known := rapid.SliceOf(word).Draw(t, "known")
		got := feedback.Nearest(name, known)
		fewest := len(name)/3 + 1
		want := ""
		for _, candidate := range known {
			if d := slowDistance(name, candidate); d < fewest {
				want, fewest = candidate, d
			}
		}
		if got != want {
			t.Fatalf("Nearest(%q, %q) = %q, want %q", name, known, got, want)
		}
		if slices.Contains(known, name) && got != name {
			t.Fatalf("Nearest(%q, %q) = %q, want the name itself", name, known, got)
		}
	})
}

func slowDistance(a, b string) int {
	switch {
	case a == "" || b == "":
		return len(a) + len(b)
	case a[0] == b[0]:
		return slowDistance(a[1:], b[1:])
	}
	d := 1 + min(slowDistance(a[1:], b), slowDistance(a, b[1:]), slowDistance(a[1:], b[1:]))
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		d = min(d, 1+slowDistance(a[2:], b[2:]))
	}
	return d
}
