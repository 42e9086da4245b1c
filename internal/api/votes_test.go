package api

import (
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

const voter = "0c9f5e9a-6d0c-4f53-9f0a-3b1f0f6f5a"

// TestVoteAtOnce: concurrent votes of sixteen people at two processes, each repeated, count
// once per person. After they withdraw their votes, only the submitter is left.
func TestVoteAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		s.must("apps-update-settings", "owner", s.filled(`{"id":"{app}","settings":{"sharing":"all"}}`))
		id := s.submit("Dark mode")
		const callers, people = 64, 16
		for _, round := range []struct {
			remove string
			want   float64
		}{{"", 1 + people}, {`,"remove":true`, 1}, {"", 1 + people}} {
			clients := make([]func(int), callers)
			for i := range clients {
				clients[i] = func(client int) {
					body := fmt.Sprintf(`{"request_id":%q,"voter":%q%s}`, id, fmt.Sprintf("%s%02x", voter, client%people), round.remove)
					if got := s.at(apis[client/people%2], "widget-vote", s.names["key"], body); got.status != http.StatusOK {
						t.Errorf("%s", got.body)
					}
				}
			}
			together(clients...)
			if got := s.must("requests-get", "viewer", `{"id":"`+id+`"}`)["request"].(map[string]any)["votes"]; got != round.want {
				t.Errorf("%v votes, want %v", got, round.want)
			}
			if got := s.must("votes-list", "viewer", `{"request_id":"`+id+`"}`)["votes"].([]any); len(got) != int(round.want) {
				t.Errorf("%d people, want %v", len(got), round.want)
			}
		}
	})
}

// TestVotesOfAnOldKey: after apps-regenerate-key returns, no vote with the old key is stored.
func TestVotesOfAnOldKey(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		s.must("apps-update-settings", "owner", s.filled(`{"id":"{app}","settings":{"sharing":"all"}}`))
		id := s.submit("Dark mode")
		get := func() float64 {
			return s.must("requests-get", "viewer", `{"id":"`+id+`"}`)["request"].(map[string]any)["votes"].(float64)
		}
		for round := range 10 {
			old, fresh := s.names["key"], ""
			var counted float64
			var answered atomic.Bool
			var voters []func(int)
			for range 8 {
				voters = append(voters, func(client int) {
					for i := range 8 {
						late := answered.Load()
						browser := fmt.Sprintf("%s%02x%x%x", voter[:len(voter)-2], round, client, i)
						got := s.at(apis[client%2], "widget-vote", old, fmt.Sprintf(`{"request_id":%q,"voter":%q}`, id, browser))
						if code := got.code(t); code != "ok" && code != "auth.invalid_api_key" || late && code == "ok" {
							t.Errorf("after the answer %v: %s", late, got.body)
						}
					}
				})
			}
			together(append(voters, func(int) {
				fresh = s.must("apps-regenerate-key", "owner", s.filled(`{"id":"{app}"}`))["app"].(map[string]any)["api_key"].(string)
				answered.Store(true)
				counted = get()
			})...)
			s.names["key"] = fresh
			if now := get(); now != counted {
				t.Fatalf("%v votes, %v when the new key was answered", now, counted)
			}
		}
	})
}

// TestSharing: callers with an API key can only find and vote for requests that the app shares.
func TestSharing(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	shop := s.must("apps-create", "owner", `{"name":"Shop"}`)["app"].(map[string]any)
	s.names["shop_key"] = shop["api_key"].(string)
	s.must("apps-update-settings", "owner", `{"id":"`+shop["id"].(string)+`","settings":{"sharing":"all"}}`)
	byStatus := map[feedback.Status]string{}
	for _, status := range feedback.Settable() {
		byStatus[status] = s.submit("T")
		s.must("requests-update", "member", `{"id":"`+byStatus[status]+`","status":"`+string(status)+`"}`)
	}
	byStatus["duplicate"], byStatus["bin"], byStatus["of a root in the bin"] = s.submit("T"), s.submit("T"), s.submit("T")
	s.must("requests-merge", "member", `{"id":"`+byStatus["duplicate"]+`","into_id":"`+byStatus["planned"]+`"}`)
	s.must("requests-merge", "member", `{"id":"`+byStatus["of a root in the bin"]+`","into_id":"`+byStatus["bin"]+`"}`)
	s.must("requests-delete", "member", `{"id":"`+byStatus["bin"]+`"}`)
	shared := map[string][]feedback.Status{
		"none":    nil,
		"triaged": {"under_review", "planned", "in_progress", "completed"},
		"all":     {"opened", "under_review", "planned", "in_progress", "completed", "declined", "duplicate"},
	}
	for sharing, statuses := range shared {
		s.must("apps-update-settings", "owner", s.filled(`{"id":"{app}","settings":{"sharing":"`+sharing+`"}}`))
		found := s.must("widget-similar-requests", "key", `{"text":"T"}`)["requests"].([]any)
		if len(found) != min(len(statuses), maxWidgetSimilar) {
			t.Errorf("%s: found %v", sharing, found)
		}
		for _, r := range found {
			if status := r.(map[string]any)["status"].(string); !slices.Contains(statuses, feedback.Status(status)) {
				t.Errorf("%s: found one that is %s", sharing, status)
			}
		}
		for status, id := range byStatus {
			want := "requests.not_found"
			for _, allowed := range statuses {
				if allowed == status {
					want = "ok"
				}
			}
			body := `{"request_id":"` + id + `","voter":"` + voter + `00"}`
			if got := s.call("widget-vote", "key", body); got.code(t) != want {
				t.Errorf("%s, %s: %s, want %s", sharing, status, got.body, want)
			}
			if got := s.call("widget-vote", "shop_key", body); got.code(t) != "requests.not_found" {
				t.Errorf("another app's, %s, %s: %s", sharing, status, got.body)
			}
		}
	}
}

// TestVoteLimit: votes have their own limit, which submissions do not use up.
func TestVoteLimit(t *testing.T) {
	s := newService(t, storetest.SQLite(t), func(o *Options) { o.SubmitRate = 2 })
	s.submit("T")
	body := `{"request_id":"` + voter + `00","voter":"` + voter + `00"}`
	for i, want := range []string{"requests.not_found", "requests.not_found", "api.rate_limited"} {
		if got := s.call("widget-vote", "key", body); got.code(t) != want {
			t.Errorf("call %d: %s, want %s", i, got.body, want)
		}
	}
	s.submit("U")
}
