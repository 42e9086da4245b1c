package api

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gatherkit/internal/feedback"
	"gatherkit/internal/limits"
	"gatherkit/internal/store/storetest"
)

// TestPortalVoter: reading sets no cookie. The first vote sets one, and the browser then sees its votes and what it has
// sent, also what is held. They are those of the person who signs in.
func TestPortalVoter(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.publicPortal()
		dark, night := s.submit("Dark mode"), s.submit("Night mode")
		s.openPortal("all", `{"moderation":"anonymous"}`)
		g := s.guest()
		for _, page := range []string{"", "roadmap", "changelog", "new?title=Dark", "me", "r/" + dark + "/dark-mode"} {
			if got := g.get(page); got.status != http.StatusOK || len(got.header.Values("Set-Cookie")) > 0 {
				t.Errorf("%s: %d, sets %q", page, got.status, got.header.Values("Set-Cookie"))
			}
		}
		got := g.post("vote", url.Values{"add": {dark}, "back": {"?sort=new"}})
		if to := got.header.Get("Location"); got.status != http.StatusSeeOther || to != portalHome+"?sort=new#idea-"+dark {
			t.Errorf("a vote: %d to %q", got.status, to)
		}
		cookie := got.cookie(t)
		if !cookie.HttpOnly || !cookie.Secure || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != portalHome {
			t.Errorf("the cookie is %v", cookie)
		}
		if got := g.vote(night); len(got.header.Values("Set-Cookie")) > 0 || s.votesOf(night) != 2 {
			t.Errorf("the second vote sets %q; %v votes", got.header.Values("Set-Cookie"), s.votesOf(night))
		}
		sent := g.post("new", url.Values{"title": {"Sepia mode"}, "description": {"For old eyes."}})
		if to := sent.header.Get("Location"); to != portalHome+"me" {
			t.Errorf("what is held leads to %q", to)
		}
		mine := func(g *guest, want ...string) {
			t.Helper()
			page := string(g.get("me").body)
			for _, title := range []string{"Dark mode", "Night mode", "Sepia mode"} {
				if strings.Contains(page, title) != strings.Contains(strings.Join(want, ","), title) {
					t.Errorf("want %q on the page: %s", want, page)
				}
			}
		}
		mine(g, "Dark mode", "Night mode", "Sepia mode")
		// Others do not see what is held, so there is no page of it.
		if page := string(g.get("me").body); strings.Count(page, "Not visible to others") != 1 || strings.Contains(page, "/sepia-mode") {
			t.Errorf("what is held: %s", page)
		}
		mine(s.guest())
		if board := string(g.get("").body); strings.Contains(board, "Sepia mode") || strings.Count(board, `aria-pressed="true"`) != 2 {
			t.Errorf("the board is %s", board)
		}
		other := s.guest()
		other.signIn("ada")
		other.vote(dark)
		g.signIn("ada")
		if g.cookies["gatherkit_voter"] != "" || s.votesOf(dark) != 2 || s.votesOf(night) != 2 {
			t.Errorf("signed in: cookie %q, %v and %v votes", g.cookies["gatherkit_voter"], s.votesOf(dark), s.votesOf(night))
		}
		mine(g, "Dark mode", "Night mode")
		g.post("vote", url.Values{"remove": {night}})
		g.post("sign-out", nil)
		if g.cookies["gatherkit_session"] != "" || s.votesOf(night) != 1 {
			t.Errorf("signed out: %v, %v votes", g.cookies, s.votesOf(night))
		}
		mine(g)
		mine(other, "Dark mode")
	})
}

// TestSignInElsewhere: a one-time address that the visitor did not ask for on this portal signs them in, but the votes of
// their browser stay its own. Otherwise, the person who made the address could take these votes back.
func TestSignInElsewhere(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.publicPortal()
	dark := s.submit("Dark mode")
	victim, mallory := s.guest(), s.guest()
	mallory.vote(dark)
	victim.vote(dark)
	kept := victim.cookies["gatherkit_voter"]
	for _, to := range []string{"", "me", "me?claim=x", mallory.returnTo(""), serviceURL + portalHome + "me"} {
		victim.open(s.signInPage("mallory", to))
		if victim.cookies["gatherkit_voter"] != kept {
			t.Fatalf("%s: the browser has lost its votes", to)
		}
		victim.post("vote", url.Values{"remove": {dark}})
		if n := s.votesOf(dark); n != 3 {
			t.Errorf("%s: %v votes", to, n)
		}
	}
	victim.post("sign-out", nil)
	victim.signIn("ada")
	if victim.cookies["gatherkit_voter"] != "" || s.votesOf(dark) != 3 {
		t.Errorf("cookie %q, %v votes", victim.cookies["gatherkit_voter"], s.votesOf(dark))
	}
	victim.post("vote", url.Values{"remove": {dark}})
	if n := s.votesOf(dark); n != 2 {
		t.Errorf("%v votes are left", n)
	}
}

// TestReturn: a visitor who signs in comes back to the page that they left, and to none outside the portal.
func TestReturn(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.publicPortal()
	dark := s.submit("Dark mode")
	g := s.guest()
	want := func(to, want string) {
		t.Helper()
		g.post("sign-out", nil)
		if got := g.get(s.signInPage("ada", to)).header.Get("Location"); got != portalHome+want {
			t.Errorf("%q leads to %q", to, got)
		}
	}
	page := "r/" + dark + "/dark-mode?after=1#new"
	g.vote(dark)
	want(g.returnTo(page), page)
	long := "roadmap?x=" + strings.Repeat("%D8%A7", 200)
	want(g.returnTo(long), "roadmap") // a longer address is refused
	for to, page := range map[string]string{
		"": "", "roadmap": "roadmap", serviceURL + portalHome: "", serviceURL + portalHome + "?q=a+b": "?q=a+b",
		serviceURL: "", serviceURL + "/p/other/me": "", serviceURL + portalHome + "/example.com": "", "//example.com": "",
		"https://example.com/": "", "/me": "", `\\example.com`: "", "../admin": "admin",
	} {
		want(to, page)
	}
}

// TestPortalOwnIdea: the vote of a browser without a name for its own idea is shown as given, and cannot be taken back
// or given again. Somebody who is signed in can take it back.
func TestPortalOwnIdea(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.publicPortal()
	g := s.guest()
	path := strings.TrimPrefix(g.post("new", url.Values{"title": {"Sepia mode"}, "description": {""}}).header.Get("Location"), portalHome)
	for _, page := range []string{"", path, "me"} {
		body := string(g.get(page).body)
		if !strings.Contains(body, `<p class="vote given">`) || strings.Contains(body, `form="ballot"`) {
			t.Errorf("%s: %s", page, body)
		}
	}
	if body := string(s.guest().get("").body); strings.Contains(body, "given") || !strings.Contains(body, `aria-pressed="false"`) {
		t.Errorf("others see %s", body)
	}
	g.signIn("ada")
	g.post("new", url.Values{"title": {"Dark mode"}, "description": {""}})
	if body := string(g.get("?q=Dark").body); strings.Contains(body, "given") || !strings.Contains(body, `aria-pressed="true"`) {
		t.Errorf("signed in: %s", body)
	}
}

// TestStuffing: a program that sends 10,000 votes in a day from the addresses of one IPv6 /64 is at most 200 people, and
// adds at most 30 votes for a request in an hour. It keeps cookies, forges them, and brings one of another portal.
func TestStuffing(t *testing.T) {
	t.Parallel()
	const votes, perHour = 10_000, 440
	place := storetest.SQLite(t)
	s := newService(t, place, func(o *Options) { o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} })
	s.publicPortal()
	var requests []string
	for _, title := range []string{"Dark mode", "Maps", "Export", "Search"} {
		requests = append(requests, s.submit(title))
	}
	s.addApp()
	s.openPortal("all", `{"slug":"theirs","access":"public"}`)
	elsewhere := s.guest()
	elsewhere.home = "/p/theirs/"
	elsewhere.vote(s.submit("Theirs"))
	foreign := elsewhere.cookies["gatherkit_voter"]

	var kept []string // cookies
	counts := func() (list []float64) {
		for _, id := range requests {
			list = append(list, s.votesOf(id))
		}
		return list
	}
	refused, before := 0, counts()
	for n := range votes {
		if n%perHour == 0 {
			for i, now := range counts() {
				if now-before[i] > limits.StrangersOnRequest {
					t.Fatalf("a request got %v votes in an hour", now-before[i])
				}
			}
			before = counts()
			s.clock.Move(time.Hour)
			s.renew("owner")
		}
		g, isNew := s.guest(), true
		g.header["X-Forwarded-For"] = fmt.Sprintf("2001:db8:1:2:%x:%x::1", n%65536, n/7)
		switch {
		case n%5 == 0:
			g.cookies["gatherkit_voter"] = foreign
		case n%5 == 1:
			g.cookies["gatherkit_voter"] = strings.Repeat("A", len(foreign))
		case n%5 == 2 && len(kept) > 0: // a known one with another secret
			g.cookies["gatherkit_voter"] = "AAAAAAAA" + kept[n%len(kept)][8:]
		case n%5 == 3 && len(kept) > 0:
			g.cookies["gatherkit_voter"], isNew = kept[n%len(kept)], false
		}
		id := requests[n%len(requests)]
		if n > votes/2 { // from now on, all votes are for one request
			id = requests[0]
		}
		switch got := g.vote(id); got.status {
		case http.StatusSeeOther:
			if isNew != (len(got.header.Values("Set-Cookie")) > 0) {
				t.Fatalf("vote %d sets %q", n, got.header.Values("Set-Cookie"))
			} else if isNew {
				kept = append(kept, g.cookies["gatherkit_voter"])
			}
		case http.StatusTooManyRequests:
			refused++
			if got.header.Get("Retry-After") == "" || !strings.Contains(string(got.body), `role="alert"`) {
				t.Fatalf("refused with %s", got.body)
			}
		default:
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	t.Logf("%d of %d votes were refused; the program was %d people; the requests have %v votes", refused, votes, len(kept), counts())
	if len(kept) != limits.NewStrangersInApp {
		t.Errorf("the program was %d people", len(kept))
	}
}

// TestColleaguesVote: of 300 people who are signed in and share an address, everybody can vote within 75 seconds, with
// the usual limits.
func TestColleaguesVote(t *testing.T) {
	s := newService(t, storetest.SQLite(t), func(o *Options) { o.SubmitRate = 60 })
	s.publicPortal()
	id := s.submit("Dark mode")
	people := make([]*guest, 300)
	for n := range people {
		people[n] = s.guest()
		people[n].signIn(fmt.Sprint("person ", n))
		s.clock.Move(2 * time.Second)
	}
	for n, g := range people {
		if got := g.vote(id); got.status != http.StatusSeeOther {
			t.Fatalf("vote %d: %d %s", n+1, got.status, got.body)
		}
		s.clock.Move(250 * time.Millisecond)
	}
	if got := s.votesOf(id); got != float64(len(people)+1) {
		t.Errorf("%v votes", got)
	}
}

// TestPortalWhy: what somebody has typed is kept with their vote for an idea that was found with it, on one line and not
// at any length. It stays theirs when they sign in, and is not lost to an earlier vote without a word.
func TestPortalWhy(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.publicPortal()
		dark, night := s.submit("Dark mode"), s.submit("Night mode")
		g := s.guest()
		for _, page := range []string{"?q=dark+%22mode", "new?title=dark+%22mode"} {
			if body := string(g.get(page).body); !strings.Contains(body, `name="why" value="dark &#34;mode"`) {
				t.Errorf("%s: %s", page, body)
			}
		}
		if body := string(g.get("").body); strings.Contains(body, `name="why"`) {
			t.Errorf("nothing was typed: %s", body)
		}
		give := func(g *guest, id, why string) {
			t.Helper()
			if got := g.post("vote", url.Values{"add": {id}, "why": {why}}); got.status != http.StatusSeeOther {
				t.Fatalf("%d %s", got.status, got.body)
			}
		}
		give(g, dark, " I read\r\nat night\xff, in bed. "+strings.Repeat("é", 600))
		give(g, night, "")
		g.signIn("ada")
		said := func(id string) (why []any) {
			t.Helper()
			for _, vote := range s.must("votes-list", "member", `{"request_id":"`+id+`"}`)["votes"].([]any) {
				why = append(why, vote.(map[string]any)["why"])
			}
			return why
		}
		const start = "I read at night\ufffd, in bed. "
		if got := said(dark); len(got) != 2 || got[1] != start+strings.Repeat("é", feedback.MaxWhy-utf8.RuneCountInString(start)) {
			t.Errorf("they said %q", got)
		}
		give(g, night, "My eyes hurt.")
		give(g, night, "Too bright.")
		if got := said(night); len(got) != 2 || got[1] != "My eyes hurt." {
			t.Errorf("they said %q", got)
		}

		// Where requests are merged, votes for them become one vote with the first words.
		for _, words := range [][3]string{{"First.", "", "First."}, {"", "Second.", "Second."}, {"First.", "Second.", "First."}} {
			old, late, g := s.submit("Old"), s.submit("Late"), s.guest()
			give(g, old, words[0])
			give(g, late, words[1])
			s.must("requests-merge", "member", fmt.Sprintf(`{"id":%q,"into_id":%q}`, old, late))
			g.signIn("grace")
			if got := said(late); len(got) != 3 || !slices.Contains(got, any(words[2])) {
				t.Errorf("%q: they said %q", words, got)
			}
		}

		// A refused vote does not lose it either.
		var got answer
		for range limits.StrangersOnRequest + 1 {
			got = s.guest().post("vote", url.Values{"add": {night}, "why": {"I read at night."}})
		}
		if !strings.Contains(string(got.body), `name="why" value="I read at night."`) {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
}
