package api

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"gatherkit/internal/store/storetest"
)

const otherBrowser = "0197a2b3c4d5" + "1122334455667788990011223344556677889900112233445566"

// mine returns the only request of a reader.
func (s *service) mine() map[string]any {
	s.t.Helper()
	list := s.must("widget-my-requests", "key", `{"reader":"`+browser+`"}`)["requests"].([]any)
	if len(list) != 1 {
		s.t.Fatalf("%d requests: %v", len(list), list)
	}
	return list[0].(map[string]any)
}

// reply answers as the submitter of a request, and returns the code.
func (s *service) reply(id string, n int) string {
	s.t.Helper()
	return s.call("widget-reply", "key", fmt.Sprintf(`{"reader":%q,"request_id":%q,"body":"Reply %d"}`, browser, id, n)).code(s.t)
}

func (s *service) merge(id, into string) {
	s.t.Helper()
	s.must("requests-merge", "member", `{"id":"`+id+`","into_id":"`+into+`"}`)
}

func (s *service) say(id string) {
	s.t.Helper()
	s.must("comments-create", "member", `{"request_id":"`+id+`","body":"Why?","visibility":"public"}`)
}

// TestNobodySees: while a request is in quarantine, or what it is merged into is in the bin, its submitter does
// not see what the team does. So nobody is counted as told.
func TestNobodySees(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		spam := s.must("widget-submit-request", "key",
			`{"title":"T","description":"","reader":"`+browser+`","form":{"website":"x"}}`)["request"].(map[string]any)["id"].(string)
		s.say(spam)
		merged, root := s.asked("U"), s.submit("V")
		s.merge(merged, root)
		s.must("requests-delete", "member", `{"id":"`+root+`"}`)
		s.say(merged)
		for _, id := range []string{spam, merged} {
			got := s.must("requests-get", "viewer", `{"id":"`+id+`"}`)["audience"].(map[string]any)
			if got["askers"] != 0.0 || got["voters"] != 0.0 {
				t.Errorf("audience: %v", got)
			}
			latest := s.must("requests-history", "viewer", `{"request_id":"`+id+`"}`)["events"].([]any)[0].(map[string]any)
			if after := latest["after"].(map[string]any); after["told"] != nil || after["body"] != "Why?" {
				t.Errorf("logged: %v", latest)
			}
		}
		if code := s.reply(merged, 0); code != "requests.not_found" {
			t.Errorf("a reply to a request that the person does not see: %q", code)
		}
	})
}

// TestOneReaderOfTwoVoters: a request is listed and counted once, also if a reader has voted for it as two voters.
func TestOneReaderOfTwoVoters(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.must("apps-update-settings", "owner", s.filled(`{"id":"{app}","settings":{"sharing":"all"}}`))
		id := s.submit("T")
		for _, last := range []string{"00", "01"} {
			s.must("widget-vote", "key", `{"request_id":"`+id+`","voter":"`+voter+last+`","reader":"`+browser+`"}`)
		}
		s.clock.Move(time.Second)
		s.must("requests-update", "member", `{"id":"`+id+`","status":"planned"}`)
		if got := s.mine(); got["unread"] != true {
			t.Errorf("%v", got)
		}
		if got := s.must("widget-news", "key", `{"reader":"`+browser+`"}`)["unread"]; got != 1.0 {
			t.Errorf("%v are unread", got)
		}
	})
}

// TestRepliesOfMerged: the submitter of a merged request can reply exactly if can_reply says so. Comments of the
// team on the request that it is merged into count, whatever others have written there.
func TestRepliesOfMerged(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		id, root := s.asked("T"), s.must("widget-submit-request", "key",
			`{"title":"U","description":"","reader":"`+otherBrowser+`"}`)["request"].(map[string]any)["id"].(string)
		n := 0
		agree := func(want bool) {
			t.Helper()
			n++
			if got := s.mine()["can_reply"]; got != want {
				t.Errorf("before reply %d: can_reply is %v", n, got)
			}
			if code := s.reply(id, n); (code == "ok") != want {
				t.Errorf("reply %d: %q", n, code)
			}
		}
		for range 10 {
			agree(true)
		}
		agree(false)
		s.merge(id, root)
		agree(false)
		s.say(root)
		for n := range 10 { // others' replies, which the person does not see
			body := fmt.Sprintf(`{"reader":%q,"request_id":%q,"body":"Reply %d"}`, otherBrowser, root, n)
			if got := s.call("widget-reply", "key", body); got.status != http.StatusOK {
				t.Fatalf("%s", got.body)
			}
		}
		agree(true)
	})
}

// TestReplyLeft: a reply waits for an answer, also after the submitter's later reply was deleted.
func TestReplyLeft(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		id := s.asked("T")
		var replies []map[string]any
		for n := range 2 {
			s.clock.Move(time.Second)
			body := fmt.Sprintf(`{"reader":%q,"request_id":%q,"body":"Reply %d"}`, browser, id, n)
			replies = append(replies, s.must("widget-reply", "key", body)["comment"].(map[string]any))
		}
		for _, want := range []any{replies[0]["at"], nil} {
			last := replies[len(replies)-1]
			replies = replies[:len(replies)-1]
			s.must("comments-delete", "admin", fmt.Sprintf(`{"request_id":%q,"id":%q}`, id, last["id"]))
			if got := s.must("requests-get", "viewer", `{"id":"`+id+`"}`)["request"].(map[string]any)["reply_at"]; got != want {
				t.Errorf("reply_at is %v, want %v", got, want)
			}
		}
	})
}
