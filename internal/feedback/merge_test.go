package feedback

import (
	"errors"
	"testing"
)

func TestCheckMerge(t *testing.T) {
	live := func(n byte) Request { return Request{ID: ID{n}, AppID: ID{9}, Box: Live, Status: Opened} }
	merged := func(n, root byte) Request {
		r := live(n)
		r.Status, r.MergedIntoID = Duplicate, &ID{root}
		return r
	}
	binned, elsewhere, spam := live(4), live(5), live(6)
	binned.Box, elsewhere.AppID, spam.Box = Bin, ID{8}, Quarantine
	for name, c := range map[string]struct {
		r, into, root Request
		want          error
	}{
		"another":           {live(1), live(2), live(2), nil},
		"a merged one":      {live(1), merged(2, 3), live(3), nil},
		"itself":            {live(1), live(1), live(1), Invalid("requests", "into_id", "")},
		"another app":       {live(1), elsewhere, elsewhere, Invalid("requests", "into_id", "")},
		"what is merged":    {merged(1, 3), live(2), live(2), ErrMerged},
		"its own follower":  {live(1), merged(2, 1), live(1), ErrMerged},
		"from the bin":      {binned, live(2), live(2), ErrRequestNotFound},
		"into the bin":      {live(1), binned, binned, ErrRequestNotFound},
		"from quarantine":   {spam, live(2), live(2), ErrQuarantined},
		"into quarantine":   {live(1), spam, spam, ErrQuarantined},
		"a root in the bin": {live(1), merged(2, 4), binned, ErrRequestNotFound},
	} {
		if err := c.r.CheckMerge(c.into, c.root); (c.want == nil) != (err == nil) || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestMergesInHistory(t *testing.T) {
	one, other := map[string]any{"merged_into_id": "1"}, map[string]any{"merged_into_id": "2"}
	none := map[string]any{"merged_into_id": nil}
	for want, e := range map[string]Event{
		"An operator added a vote.":                         {Kind: VoteAdded},
		"An operator removed a vote.":                       {Kind: VoteRemoved},
		"An operator merged this request into another one.": {Kind: RequestMerged, Before: none, After: one},
		"An operator merged another request into this one.": {
			Kind: RequestMerged, After: map[string]any{"merged_id": "1"},
		},
		"An operator merged the request that contains this one into another request.": {Kind: RequestMerged, Before: one, After: other},
		"An operator unmerged this request.":                                          {Kind: RequestUnmerged, Before: one, After: none},
		"An operator unmerged another request from this one.": {
			Kind: RequestUnmerged, Before: map[string]any{"merged_id": "1"},
		},
		"An operator unmerged the request that contains this one.": {Kind: RequestUnmerged, Before: one, After: other},
	} {
		e.Actor.Kind = ByCommand
		e.Summarize()
		if e.Summary != want {
			t.Errorf("%q, want %q", e.Summary, want)
		}
	}
}
