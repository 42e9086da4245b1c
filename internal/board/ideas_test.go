package board

import "testing"

// TestShowsTag: a portal shows a tag of its settings, however it is spelled.
func TestShowsTag(t *testing.T) {
	var v View
	v.App.Settings.Portal.Tags = []string{"Café", "Λάθος"}
	for tag, want := range map[string]bool{"cafe\u0301": true, "ΛΆΘΟΣ": true, "Cafe": false, "": false} {
		if v.ShowsTag(tag) != want {
			t.Errorf("%q: %v", tag, !want)
		}
	}
}
