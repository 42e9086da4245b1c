package feedback

import "testing"

func TestRecountsInHistory(t *testing.T) {
	e := Event{
		Kind: RequestRecounted, Before: map[string]any{"votes": 5.0, "comments": 7.0}, After: map[string]any{"votes": 2.0, "comments": 0.0},
	}
	e.Actor.Kind = ByCommand
	e.Summarize()
	if want := "An operator corrected the number of comments from 7 to 0 and the number of votes from 5 to 2."; e.Summary != want {
		t.Errorf("%q, want %q", e.Summary, want)
	}
}

func TestHidingInHistory(t *testing.T) {
	for hidden, want := range map[bool]string{true: "The service hid the request.", false: "The service stopped hiding the request."} {
		e := Event{Kind: RequestUpdated, Before: map[string]any{"hidden": !hidden}, After: map[string]any{"hidden": hidden}}
		e.Actor.Kind = ByService
		e.Summarize()
		if e.Summary != want {
			t.Errorf("%q, want %q", e.Summary, want)
		}
	}
}
