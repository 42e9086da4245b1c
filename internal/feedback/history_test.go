package feedback

import "testing"

func TestRecountsInHistory(t *testing.T) {
	e := Event{
		Kind: RequestRecounted, Before: map[string]any{"votes": 5.0, "comments": 7.0}, After: map[string]any{"votes": 2.0, "comments": 0.0},
	}
	e.Actor.Kind = ByCommand
	e.Summarise()
	if want := "An operator corrected the number of comments from 7 to 0 and the number of votes from 5 to 2."; e.Summary != want {
		t.Errorf("%q, want %q", e.Summary, want)
	}
}
