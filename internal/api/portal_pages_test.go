package api

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"gatherkit/internal/portal"
	"gatherkit/internal/store/storetest"
)

// TestMoreTitles: "Show more" of a search in titles goes on where the page ended, also if its last idea is gone.
func TestMoreTitles(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.openPortal("all", `{"slug":"acme","access":"public","descriptions":false}`)
		const first, all = 30, 35
		ids := map[string]string{}
		for i := range all {
			title := fmt.Sprintf("Idea %02dx", i)
			ids[title] = s.submit(title)
			if i%3 == 0 {
				s.must("votes-add", "member", fmt.Sprintf(`{"request_id":%q,"name":"Ada"}`, ids[title]))
			}
		}
		titles := regexp.MustCompile(`Idea \d\dx</bdi>`)
		list := func(page string) (shown []string, more string) {
			text := string(s.guest().get(page).body)
			for _, title := range titles.FindAllString(text, -1) {
				shown = append(shown, strings.TrimSuffix(title, "</bdi>"))
			}
			if found := regexp.MustCompile(`href="/p/acme/(\?[^"]*after=[^"]*)"`).FindStringSubmatch(text); found != nil {
				more = html.UnescapeString(found[1])
			}
			return shown, more
		}
		for _, order := range []string{"top", "trending", "new"} {
			shown, more := list("?q=ide&sort=" + order)
			if len(shown) != first || more == "" {
				t.Fatalf("%s: %d ideas, then %q", order, len(shown), more)
			}
			last := ids[shown[first-1]]
			s.must("requests-update", "member", fmt.Sprintf(`{"id":%q,"hidden":true}`, last))
			rest, _ := list(more)
			if len(rest) != all-first {
				t.Errorf("%s: %d more ideas, want %d: %v", order, len(rest), all-first, rest)
			}
			for _, title := range rest {
				if strings.Contains(strings.Join(shown, " "), title) {
					t.Errorf("%s shows %s again", order, title)
				}
			}
			s.must("requests-update", "member", fmt.Sprintf(`{"id":%q,"hidden":false}`, last))
		}
	})
}

// TestPagesAtOnce: somebody who opens all pages of a portal at the same time sees all of them, although a few fill
// the share of an address. No page holds memory afterwards.
func TestPagesAtOnce(t *testing.T) {
	s := newService(t, storetest.SQLite(t), func(o *Options) { o.SubmitRate = 0 })
	s.publicPortal()
	id := s.submit("Dark mode")
	var all sync.WaitGroup
	for range 4 {
		for _, page := range []string{
			"", "?q=dark", "new", "me", "changelog", "changelog.atom", "r/" + id + "/" + portal.Slug("Dark mode"), "card/" + id + ".png",
		} {
			all.Go(func() {
				if got := s.guest().get(page, "X-Forwarded-For", "192.0.2.1"); got.status != http.StatusOK {
					t.Errorf("%q: %d %s", page, got.status, got.body)
				}
			})
		}
	}
	all.Wait()
	if n := s.api.portals.Memory.Sessions.Waiting() + s.api.portals.Memory.Accounts.Waiting(); n > 0 {
		t.Errorf("%d calls wait", n)
	}
}

// TestPublicName: people outside read the public name of an app, and nowhere its name.
func TestPublicName(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.publicPortal()
	token := s.asker()
	s.must("comments-create", "member",
		s.filled(`{"request_id":"{request}","body":"Ask @[Ada](user:`+s.user("owner")+`).","visibility":"public"}`))
	read := func(name string) {
		t.Helper()
		g := s.guest()
		pages := map[string]answer{"the page of their requests": s.visit("GET", "", token, "")}
		for _, page := range []string{"", "roadmap", "changelog", "changelog.atom", "new", "me", "r/{request}/dark-mode"} {
			pages[page] = g.get(s.filled(page))
		}
		for page, got := range pages {
			text := string(got.body)
			if got.status != http.StatusOK || !strings.Contains(text, name) || name != "Website" && strings.Contains(text, "Website") {
				t.Errorf("%s: %d, without %s, or with Website: %s", page, got.status, name, text)
			}
		}
		list := s.must("mine-list", "", `{"token":"`+token+`"}`)
		comments := list["requests"].([]any)[0].(map[string]any)["comments"].([]any)
		if got, said := list["app_name"], comments[1].(map[string]any)["body"]; got != name || said != "Ask @"+name+"." {
			t.Errorf("%v, %v", got, said)
		}
	}
	read("Website")
	s.must("apps-update-settings", "admin", s.filled(`{"id":"{app}","settings":{"public_name":" Acme "}}`))
	read("Acme")
	s.must("apps-update-settings", "admin", s.filled(`{"id":"{app}","settings":{"public_name":""}}`))
	read("Website")
}
