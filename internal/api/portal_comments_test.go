package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/limits"
	"gatherkit/internal/store/storetest"
)

// commenting comments by widget-comment or by the form on the page, as somebody new or signed in.
func (s *service) commenting(id, body, how string) answer {
	s.t.Helper()
	switch how {
	case "widget-comment":
		return s.call(how, "key", fmt.Sprintf(`{"request_id":%q,"body":%q,"voter":%q}`, id, body, s.api.server.NewID()))
	case "widget-comment, signed in":
		return s.call("widget-comment", "key", fmt.Sprintf(`{"request_id":%q,"body":%q,"identity_token":%q}`, id, body, s.proof(body, "")))
	}
	return s.guest().post("r/"+id+"/comments", url.Values{"body": {body}})
}

// TestStrangersComment: an address can be so many people who comment, at one request in an hour and in all in a day,
// whether they use the page or the operation. People who are signed in do not count.
func TestStrangersComment(t *testing.T) {
	for _, how := range []string{"widget-comment", "page"} {
		t.Run(how, func(t *testing.T) {
			s := newService(t, storetest.SQLite(t))
			s.publicPortal()
			for n := range limits.NewStrangersInApp {
				if n%limits.StrangersOnRequest == 0 {
					s.names["idea"] = s.submit(fmt.Sprint("Idea ", n))
				}
				if got := s.commenting(s.names["idea"], fmt.Sprint("Comment ", n), how); got.status >= http.StatusBadRequest {
					t.Fatalf("comment %d: %d %s", n, got.status, got.body)
				}
				if n%limits.StrangersOnRequest < limits.StrangersOnRequest-1 {
					continue
				}
				for _, other := range []string{"widget-comment", "page"} {
					got := s.commenting(s.names["idea"], "One more", other)
					if got.status != http.StatusTooManyRequests || len(got.header.Values("Set-Cookie")) > 0 {
						t.Fatalf("after comment %d, %s: %d %s", n, other, got.status, got.body)
					}
				}
			}
			other := s.submit("Something else")
			if got := s.commenting(other, "One more", "widget-comment"); got.code(t) != "api.rate_limited" || got.header.Get("Retry-After") == "" {
				t.Errorf("one person too many: %d %s", got.status, got.body)
			}
			if got := s.commenting(other, "One more", "widget-comment, signed in"); got.status != http.StatusOK {
				t.Errorf("signed in: %d %s", got.status, got.body)
			}
			s.clock.Move(25 * time.Hour)
			if got := s.commenting(other, "One more", how); got.status >= http.StatusBadRequest {
				t.Errorf("a day later: %d %s", got.status, got.body)
			}
		})
	}
}

// TestBurstOfComments: nearly the same comment waits from the fifth on, although comments are not moderated. This holds for
// every sender and every way of sending.
func TestBurstOfComments(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.publicPortal()
	id := s.submit("Dark mode")
	const text = "Buy our cheap pills at pills.example, today only, and tell your friends about them"
	ways := []string{"widget-comment", "page", "widget-comment, signed in"}
	for n := range 9 {
		how := ways[n%len(ways)]
		got := s.commenting(id, fmt.Sprint(text, n), how)
		held := strings.Contains(strings.Join(got.header.Values("Set-Cookie"), " "), "comment-held-"+id)
		if how != "page" {
			_, result := resultOf(t, got)
			held, _ = result["held"].(bool)
		}
		if got.status >= http.StatusBadRequest || held != (n >= 4) {
			t.Errorf("comment %d, %s: held: %v, %d %s", n+1, how, held, got.status, got.body)
		}
	}
	if list, _ := s.must("comments-held", "owner", "")["comments"].([]any); len(list) != 5 {
		t.Errorf("%d comments are held", len(list))
	}
}

// TestThanks: a page thanks once, only the visitor who has sent something, and only for that.
func TestThanks(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.publicPortal()
	dark, night := s.submit("Dark mode"), s.submit("Night mode")
	const held, ideas = "once the team approves it", "We have your idea."
	g := s.guest()
	thanks := func(page, text string, headers ...string) (tag string, thanked bool) {
		got := g.get(page, headers...)
		return got.header.Get("ETag"), strings.Contains(string(got.body), text)
	}
	want := func(page, text string, want bool) {
		t.Helper()
		if _, got := thanks(page, text); got != want {
			t.Errorf("%s: %q: %v", page, text, got)
		}
	}
	page := "r/" + dark + "/dark-mode"
	tag, _ := thanks(page, held)
	s.openPortal("all", `{"moderation":"all"}`)
	want(page+"?comment=held", held, false)
	g.post("r/"+dark+"/comments", url.Values{"body": {"Yes, please."}})
	want("r/"+night+"/night-mode", held, false)
	tag, thanked := thanks(page, held, "If-None-Match", tag)
	if !thanked {
		t.Error("nobody thanks")
	}
	if _, again := thanks(page, held, "If-None-Match", tag); again || g.get(page).status != http.StatusOK {
		t.Error("the page thanks twice")
	}
	g.post("new", url.Values{"title": {"Sepia mode"}})
	want("me", ideas, true)
	want("me", ideas, false)
	want("me?idea=sent", ideas, false)
}

// TestNowhere: a page that does not exist leads to the others, but only where a portal is open to the visitor.
func TestNowhere(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.publicPortal()
	for _, page := range []string{"nowhere", "r/1", "r/" + s.submit("Dark mode") + "/a/b/c"} {
		got := s.guest().get(page)
		if got.status != http.StatusNotFound || !strings.Contains(string(got.body), `href="`+portalHome+`roadmap"`) &&
			!strings.Contains(string(got.body), `class="app" href="`+portalHome+`"`) {
			t.Errorf("%s: %d %s", page, got.status, got.body)
		}
	}
	s.openPortal("all", `{"access":"off"}`)
	if got := s.guest().get("nowhere"); got.status != http.StatusNotFound || strings.Contains(string(got.body), "<header>") {
		t.Errorf("without a portal: %d %s", got.status, got.body)
	}
}
