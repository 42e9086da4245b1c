package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// comment creates a comment on {request} and returns its id. The author is the user with the
// given role, or the owner if the role may not write comments.
func (s *service) comment(role feedback.Role) string {
	s.t.Helper()
	if !role.Allows(feedback.RoleMember) {
		role = feedback.RoleOwner
	}
	return s.commentBy(string(role))
}

func (s *service) commentBy(who string) string {
	s.t.Helper()
	made := s.must("comments-create", who, s.filled(`{"request_id":"{request}","body":"B"}`))
	return made["comment"].(map[string]any)["id"].(string)
}

// TestInternalCommentsStayInside calls every operation that accepts an API key with bodies
// that refer to a request. No answer may contain the text of an internal comment or the
// name of its author.
func TestInternalCommentsStayInside(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		const marker, author = "zanzibar", "Member"
		s.switchOnPortal()
		first := `{"title":"Dark mode","description":"D","idempotency_key":"key","reader":"` + browser + `"}`
		s.names["request"] = s.must("widget-submit-request", "key", first)["request"].(map[string]any)["id"].(string)
		s.names["other_request"] = s.submit("Dark mode, too")
		for _, name := range []string{"{request}", "{other_request}"} {
			s.must("comments-create", "member", s.filled(`{"request_id":"`+name+`","body":"`+marker+`"}`))
		}
		s.must("comments-create", "member", s.filled(`{"request_id":"{request}","body":"`+marker+`","visibility":"public"}`))
		id := s.must("comments-list", "viewer", s.filled(`{"request_id":"{request}"}`))["comments"].([]any)[1].(map[string]any)["id"].(string)
		s.must("comments-update", "member", s.filled(`{"request_id":"{request}","id":"`+id+`","visibility":"internal"}`))
		s.must("requests-merge", "member", s.filled(`{"id":"{other_request}","into_id":"{request}"}`))
		entry := s.must("entries-create", "member", s.filled(`{"app_id":"{app}","title":"E","request_ids":["{request}","{other_request}"]}`))
		s.must("entries-publish", "member", `{"id":"`+entry["entry"].(map[string]any)["id"].(string)+`"}`)
		s.index()

		bodies := map[string][]string{
			"widget-entries":          {`{}`},
			"widget-submit-request":   {first, `{"title":"Other","description":"","idempotency_key":"key"}`},
			"widget-create-upload":    {sample(t, "widget-create-upload")}, // does not refer to requests
			"widget-similar-requests": {`{"text":"` + marker + `"}`, `{"text":"Dark mode"}`, `{"text":"` + author + `"}`},
			"widget-vote": {
				s.filled(`{"request_id":"{request}","voter":"` + voter + `00"}`),
				s.filled(`{"request_id":"{other_request}","voter":"` + voter + `00"}`),
				s.filled(`{"request_id":"{request}","voter":"` + voter + `00","remove":true}`), `{"request_id":"` + id + `","voter":"` + voter + `00"}`,
			},
		}
		for _, name := range []string{
			"widget-news", "widget-my-requests", "widget-my-link", "widget-reply", "widget-comment", "widget-portal-link", "widget-entries",
			"widget-board", "widget-request",
		} {
			bodies[name] = []string{s.filled(samples[name])}
		}
		called := 0
		for _, o := range s.api.order {
			calls := slices.Concat(bodies[o.name], []string{s.filled(sample(t, o.name)), `{}`})
			if o.guard != guardWidget { // does not accept an API key
				got := s.call(o.name, "key", calls[0])
				calls = nil
				if o.guard == guardBearer && got.status != http.StatusUnauthorized || strings.Contains(string(got.body), marker) {
					t.Errorf("%s: %d %s", o.name, got.status, got.body)
				}
			}
			for _, body := range calls {
				called++
				got := s.call(o.name, "key", body)
				if got.status >= http.StatusInternalServerError || strings.Contains(string(got.body), marker) ||
					strings.Contains(string(got.body), author) {
					t.Errorf("%s %s: %d %s", o.name, body, got.status, got.body)
				}
			}
			if o.guard == guardWidget && bodies[o.name] == nil {
				t.Errorf("%s: add bodies that refer to a request with comments", o.name)
			}
		}
		if called < 9 {
			t.Errorf("%d calls were made", called)
		}
	})
}

// TestCommentsAtOnce: when sixteen callers write comments at once through two processes, no
// comment is lost, and all are counted.
func TestCommentsAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		s.names["request"] = s.submit("Dark mode")
		const callers, each = 16, 3
		clients := make([]func(int), callers)
		for i := range clients {
			clients[i] = func(client int) {
				for n := range each {
					call := s.filled(fmt.Sprintf(`{"request_id":"{request}","body":"%d.%d"}`, client, n))
					got := s.at(apis[client%2], "comments-create", s.names["member"], call)
					var made struct {
						Result struct{ Comment feedback.Comment }
					}
					if err := json.Unmarshal(got.body, &made); err != nil || got.status != http.StatusOK {
						t.Errorf("%s, %v", got.body, err)
					}
					if n > 0 {
						continue
					}
					body := s.filled(`{"request_id":"{request}","id":"` + made.Result.Comment.ID.String() + `"}`)
					if got := s.at(apis[1-client%2], "comments-delete", s.names["member"], body); got.status != http.StatusOK {
						t.Errorf("%s", got.body)
					}
				}
			}
		}
		together(clients...)
		list := s.must("comments-list", "viewer", s.filled(`{"request_id":"{request}","limit":200}`))
		request := s.must("requests-get", "viewer", s.filled(`{"id":"{request}"}`))["request"].(map[string]any)
		const left = float64(callers * (each - 1))
		if n := float64(len(list["comments"].([]any))); n != left || list["total_count"] != left ||
			request["comments"] != left || request["version"] != float64(1+callers*(each+1)) {
			t.Errorf("%v comments, %v in all, %v counted, version %v", n, list["total_count"], request["comments"], request["version"])
		}
		if wrong, err := s.store.Recount(t.Context()); err != nil || len(wrong) > 0 {
			t.Errorf("%+v, %v", wrong, err)
		}
	})
}

// TestLongConversation: each page of comments continues where the previous one ended, even if
// comments are added and deleted meanwhile.
func TestLongConversation(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.names["request"] = s.submit("Dark mode")
	var ids []string
	for range 7 {
		ids = append(ids, s.comment(feedback.RoleMember))
	}
	var seen []string
	cursor := ""
	for more := true; more; {
		page := s.must("comments-list", "viewer", s.filled(`{"request_id":"{request}","limit":2,"cursor":"`+cursor+`"}`))
		for _, c := range page["comments"].([]any) {
			seen = append(seen, c.(map[string]any)["id"].(string))
		}
		if len(seen) == 2 {
			s.must("comments-delete", "member", s.filled(`{"request_id":"{request}","id":"`+ids[1]+`"}`))
			s.must("comments-delete", "member", s.filled(`{"request_id":"{request}","id":"`+ids[3]+`"}`))
			ids = append(ids, s.comment(feedback.RoleMember))
		}
		cursor, more = page["next_cursor"].(string), page["has_more"].(bool)
	}
	if want := append(append([]string{}, ids[:3]...), ids[4:]...); strings.Join(seen, " ") != strings.Join(want, " ") {
		t.Errorf("%v, want %v", seen, want)
	}
	other := s.submit("Other")
	first := s.must("comments-list", "viewer", s.filled(`{"request_id":"{request}","limit":1}`))["next_cursor"].(string)
	if got := s.call("comments-list", "viewer", `{"request_id":"`+other+`","cursor":"`+first+`"}`); got.code(t) != "comments.invalid_cursor" {
		t.Errorf("another request's cursor: %s", got.body)
	}
}
