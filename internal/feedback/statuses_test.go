package feedback

import "testing"

// TestStatusSettings: each status has a label of its own, and without one, its usual name.
func TestStatusSettings(t *testing.T) {
	label := func(text string) *StatusChange { return &StatusChange{Label: &text} }
	changes := map[Status]StatusesChange{
		Opened: {Opened: label("A")}, "under_review": {UnderReview: label("A")}, "planned": {Planned: label("A")},
		"in_progress": {InProgress: label("A")}, "completed": {Completed: label("A")}, "declined": {Declined: label("A")},
	}
	usual := map[Status]string{
		Opened: "Open", "under_review": "Under review", "planned": "Planned", "in_progress": "In progress", "completed": "Completed",
		"declined": "Declined", Duplicate: "Duplicate",
	}
	for changed, change := range changes {
		settings := DefaultSettings().merge(SettingsChange{Statuses: &change}).merge(SettingsChange{Statuses: &StatusesChange{}}).Statuses
		for _, status := range Statuses() {
			wantLabel, wantName := "", usual[status]
			if status == changed {
				wantLabel, wantName = "A", "A"
			}
			if settings.Label(status) != wantLabel || settings.Name(status) != wantName {
				t.Errorf("%s has a label: %s is %q, %q", changed, status, settings.Label(status), settings.Name(status))
			}
		}
	}
}
