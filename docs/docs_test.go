package docs_test

import (
	"slices"
	"testing"

	"gatherkit/docs"
)

// TestOperations: those that need a session, an API key or nothing are left out.
func TestOperations(t *testing.T) {
	got := docs.Operations()
	for name, want := range map[string]bool{
		"requests-list": true, "auth-me": true, "tokens-create": false, "auth-change-password": false, "auth-login": false,
		"widget-vote": false, "/exports/{token}": false,
	} {
		if slices.Contains(got, name) != want {
			t.Errorf("%s: %v, want %v", name, !want, want)
		}
	}
	if len(got) < 60 || !slices.IsSorted(got) {
		t.Errorf("%q", got)
	}
}
