package api

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"gatherkit/internal/store/storetest"
)

// signedInGuest returns a browser in which a person is signed in.
func (s *service) signedInGuest(sub string) *guest {
	g := s.guest()
	g.signIn(sub)
	return g
}

// TestPortalOff: what was switched off, rotated or blocked counts for the next call, also for a conditional one.
func TestPortalOff(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.openPortal("all", `{"slug":"acme","access":"public"}`)
		id := s.submit("Idea")
		b := s.guest()
		tag := b.get("").header.Get("ETag")
		s.openPortal("all", `{"slug":"acme","access":"off"}`)
		if got := b.get("", "If-None-Match", tag); got.status != http.StatusNotFound {
			t.Errorf("off: %d", got.status)
		}
		for page, form := range map[string]url.Values{
			"vote": {"add": {id}}, "new": {"title": {"T"}}, "r/" + id + "/comments": {"body": {"B"}},
		} {
			if got := b.post(page, form); got.status != http.StatusNotFound || len(b.cookies) > 0 {
				t.Errorf("off, %s: %d", page, got.status)
			}
		}
		s.openPortal("all", `{"slug":"acme","access":"link"}`)
		b.open(s.enterLink())
		tag = b.get("").header.Get("ETag")
		s.must("portal-rotate-link", "admin", s.filled(`{"id":"{app}"}`))
		if got := b.get("", "If-None-Match", tag); got.status != http.StatusNotFound {
			t.Errorf("another link: %d", got.status)
		}
		s.openPortal("all", `{"slug":"acme","access":"signed_in"}`)
		b = s.signedInGuest("u1")
		tag = b.get("").header.Get("ETag")
		s.must("apps-identity-secret", "admin", s.filled(`{"id":"{app}","rotate":true}`))
		if got := b.get("", "If-None-Match", tag); got.status != http.StatusUnauthorized || !strings.Contains(string(got.body), "Sign in") {
			t.Errorf("another identity secret: %d", got.status)
		}
	})
}

// TestPortalForms: a form of another site is refused, a form that is wrong comes back with what was typed, and
// reading sets no cookie.
func TestPortalForms(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.openPortal("all", `{"slug":"acme","access":"public","comments":"anyone"}`)
		id := s.submit("Idea")
		b := s.guest()
		for _, page := range []string{"", "roadmap", "changelog", "new", "me", "sign-in", "r/" + id + "/idea"} {
			b.get(page)
			if len(b.cookies) > 0 {
				t.Errorf("reading %q sets %v", page, b.cookies)
			}
		}
		r := httptest.NewRequest(http.MethodPost, "/p/acme/vote", strings.NewReader("add="+id))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		w := httptest.NewRecorder()
		s.api.ServeHTTP(w, r)
		if w.Code != http.StatusForbidden {
			t.Errorf("of another site: %d", w.Code)
		}
		long := strings.Repeat("x", 10_001)
		for _, test := range []struct {
			page   string
			form   url.Values
			status int
			shown  string
		}{
			{"new", url.Values{"title": {""}, "description": {"My words"}}, 400, "My words"},
			{"new", url.Values{"title": {strings.Repeat("x", 201)}, "description": {"My words"}}, 400, "My words"},
			{"new", url.Values{"title": {"A title"}, "email": {"no address"}}, 400, `value="A title"`},
			{"r/" + id + "/comments", url.Values{"body": {""}}, 400, "Your comment"},
			{"r/" + id + "/comments", url.Values{"body": {long}}, 400, long[:100]},
			{"r/" + id + "/comments", url.Values{"body": {"Yes"}, "name": {strings.Repeat("n", 201)}}, 400, "Yes"},
			{"r/" + nobodysID + "/comments", url.Values{"body": {"Yes"}}, 404, "Acme"},
			{"vote", url.Values{"add": {"x"}}, 404, ""},
			{"nothing", nil, 404, ""},
		} {
			got := b.post(test.page, test.form)
			if got.status != test.status || test.status == 400 && !strings.Contains(string(got.body), test.shown) {
				t.Errorf("%s, %.60v: %d %.300s", test.page, test.form, got.status, got.body)
			}
		}
		for back, want := range map[string]string{
			"//evil.example/x": "#idea-" + id, "https://evil.example": "#idea-" + id, "?sort=new#x": "?sort=new#idea-" + id,
			"r/" + id + "/dark-mode": "r/" + id + "/dark-mode",
		} {
			got := b.post("vote", url.Values{"add": {id}, "back": {back}}).header.Get("Location")
			if got != "/p/acme/"+want {
				t.Errorf("back to %q leads to %q", back, got)
			}
		}
	})
}

// TestPortalPaging: a visitor who follows "Show more" sees each idea once, in every order.
func TestPortalPaging(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.openPortal("all", `{"slug":"acme","access":"public"}`)
		for i := range 65 {
			id := s.submit(fmt.Sprintf("Idea %02dx", i))
			for v := range i % 4 {
				s.clock.Move(1)
				s.must("votes-add", "member", fmt.Sprintf(`{"request_id":%q,"name":"Voter %d"}`, id, v))
			}
		}
		next := regexp.MustCompile(`href="/p/acme/(\?[^"]*after=[^"]*)"`)
		const inTitles = "?q=ide" // without descriptions
		titles := regexp.MustCompile(`<bdi>Idea \d\dx</bdi>`)
		for _, page := range []string{
			"", "?sort=trending", "?sort=new", "?q=idea", "?status=opened&sort=trending", inTitles, inTitles + "&sort=new",
		} {
			s.openPortal("all", fmt.Sprintf(`{"descriptions":%t}`, !strings.HasPrefix(page, inTitles)))
			seen, order := map[string]bool{}, page
			for pages := 1; ; pages++ {
				text := s.guest().get(page).body
				for _, title := range titles.FindAllString(string(text), -1) {
					if seen[title] {
						t.Errorf("%q repeats %s", order, title)
					}
					seen[title] = true
				}
				found := next.FindSubmatch(text)
				if found == nil {
					break
				}
				if page = html.UnescapeString(string(found[1])); pages > 3 {
					t.Fatalf("%q never ends", order)
				}
			}
			if len(seen) != 65 {
				t.Errorf("%q shows %d ideas", order, len(seen))
			}
		}
	})
}
