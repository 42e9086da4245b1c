package api

import (
	"testing"

	"gatherkit/internal/store/storetest"
)

// TestHidden: outside the account, only the submitter sees a request that is hidden, although the app shares
// all. Voters see it again when it is no longer hidden.
func TestHidden(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.must("apps-update-settings", "admin", s.filled(`{"id":"{app}","settings":{"sharing":"all"}}`))
		request, root := s.asked("Dark mode"), s.submit("Night mode")
		vote := func(id string) string {
			return s.call("widget-vote", "key", `{"request_id":"`+id+`","voter":"`+voter+`01","reader":"`+otherBrowser+`"}`).code(t)
		}
		seen := func(reader string) int {
			return len(s.must("widget-my-requests", "key", `{"reader":"`+reader+`"}`)["requests"].([]any))
		}
		similar := func() int {
			return len(s.must("widget-similar-requests", "key", `{"text":"dark mode"}`)["requests"].([]any))
		}
		check := func(when, wantVote string, wantVoter, wantSimilar int) {
			t.Helper()
			if got := vote(request); got != wantVote {
				t.Errorf("%s, a vote: %s", when, got)
			}
			if got := seen(otherBrowser); got != wantVoter {
				t.Errorf("%s, the voter sees %d requests", when, got)
			}
			if got := seen(browser); got != 1 {
				t.Errorf("%s, the submitter sees %d requests", when, got)
			}
			if got := similar(); got != wantSimilar {
				t.Errorf("%s, %d requests are similar", when, got)
			}
		}
		hide := func(id, hidden string) { s.must("requests-update", "member", `{"id":"`+id+`","hidden":`+hidden+`}`) }

		check("at first", "ok", 1, 2)
		hide(request, "true")
		check("hidden", "requests.not_found", 0, 1)
		audience := s.must("requests-get", "viewer", `{"id":"`+request+`"}`)["audience"].(map[string]any)
		if audience["voters"] != 0.0 || audience["askers"] != 1.0 {
			t.Errorf("hidden, the audience is %v", audience)
		}
		s.must("requests-bulk-update", "member", `{"ids":["`+request+`","`+root+`"],"set":{"add_tags":["a"]}}`)
		s.must("requests-bulk-update", "member", `{"filter":{"hidden":true},"expected_count":1,"set":{"hidden":false}}`)
		check("shown again", "ok", 1, 2)

		// What counts is whether the request that it is merged into is hidden.
		s.merge(request, root)
		if seen(otherBrowser) != 1 || similar() != 1 {
			t.Errorf("merged, the voter sees %d requests, and %d are similar", seen(otherBrowser), similar())
		}
		hide(root, "true")
		check("merged into a hidden one", "requests.not_found", 0, 0)
		list := s.must("requests-list", "viewer", `{"hidden":false}`)
		if list["total_count"] != 1.0 {
			t.Errorf("not hidden: %v", list["total_count"])
		}
	})
}

// TestUnmergedHidden: nobody but the submitters is told when a hidden request is unmerged.
func TestUnmergedHidden(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.must("apps-update-settings", "admin", s.filled(`{"id":"{app}","settings":{"sharing":"all"}}`))
		request, root := s.asked("U"), s.submit("V")
		s.must("widget-vote", "key", `{"request_id":"`+request+`","voter":"`+voter+`01","reader":"`+otherBrowser+`"}`)
		s.merge(request, root)
		s.must("requests-update", "member", `{"id":"`+request+`","hidden":true}`)
		s.must("requests-unmerge", "member", `{"id":"`+request+`"}`)
		latest := s.must("requests-history", "viewer", `{"request_id":"`+request+`"}`)["events"].([]any)[0].(map[string]any)
		if after := latest["after"].(map[string]any); after["told"] != 1.0 {
			t.Errorf("logged: %v", latest)
		}
	})
}
