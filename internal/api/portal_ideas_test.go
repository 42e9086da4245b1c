package api

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/store/storetest"
)

// TestSameIdea: of browsers without a cookie behind one address, only a form that the same one repeats counts as one.
// Other people who send the same title have an idea of their own, with their vote, at My ideas.
func TestSameIdea(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.publicPortal()
		const ada, bob = "Mozilla/5.0 (X11; Linux) Firefox/140.0", "Mozilla/5.0 (Macintosh) Safari/605.1"
		for n, one := range []struct {
			agent, name, email string
			ideas              float64 // after it
		}{
			{ada, "", "", 1},
			{ada, "", "", 1},
			{bob, "", "", 2},
			{bob, "Bob", "", 3},
			{bob, "Bob", "", 3},
			{bob, "Bea", "", 4},
			{bob, "Bea", "bea@example.com", 5},
			{bob, "", "bea@example.com", 6},
		} {
			g := s.guest()
			g.header["User-Agent"] = one.agent
			stored := func() float64 { return s.total("live") + s.total("quarantine") } // some are a burst
			before := stored()
			got := g.post("new", url.Values{"title": {"Dark mode"}, "description": {"Please."}, "name": {one.name}, "email": {one.email}})
			if after := stored(); got.status != http.StatusSeeOther || after != one.ideas {
				t.Errorf("form %d: %d, there are %v ideas", n, got.status, after)
			}
			me := string(g.get("me").body)
			if isNew := one.ideas > before; isNew && !strings.Contains(me, "Dark mode") {
				t.Errorf("form %d: My ideas is %s", n, me)
			}
		}
	})
}

// TestSimilarTellsTitles: unless a portal shows descriptions, similar ideas tell nothing of them: neither whether they
// have a word nor in which idea it is. Neither does the widget, unless anybody can open the portal.
func TestSimilarTellsTitles(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.publicPortal()
		const second, first = "Print a report", "Send a report"
		s.must("widget-submit-request", "key", `{"title":"`+second+`","description":"Siemens wants it."}`)
		s.must("widget-submit-request", "key", `{"title":"`+first+`","description":""}`)
		s.index()
		titled := regexp.MustCompile(second + "|" + first)
		similar := func(text string) (page, widget string) {
			body := s.guest().get("new?title=" + url.QueryEscape(text)).body
			if i := bytes.Index(body, []byte(`id="similar"`)); i >= 0 {
				body = body[i:]
			}
			list := func(body []byte) string {
				return strings.Join(slices.Compact(titled.FindAllString(string(body), -1)), ", ")
			}
			return list(body), list(s.call("widget-similar-requests", "key", fmt.Sprintf(`{"text":%q}`, text)).body)
		}
		for _, one := range []struct{ settings, text, want string }{
			{`{"descriptions":true}`, "siemens", second},
			{`{"descriptions":true}`, "report siemens", second + ", " + first},
			{`{"descriptions":false}`, "siemens", ""},
			{`{"descriptions":false}`, "report siemens", first + ", " + second},
			{`{"descriptions":false}`, "reprot", first + ", " + second},
			{`{"access":"signed_in","descriptions":true}`, "siemens", ""},
			{`{"access":"off"}`, "siemens", ""},
		} {
			s.openPortal("all", one.settings)
			page, widget := similar(one.text)
			if strings.Contains(one.settings, "access") { // a guest does not get in
				page = one.want
			}
			if page != one.want || widget != one.want {
				t.Errorf("%s, %q: the page has %q and the widget %q, want %q", one.settings, one.text, page, widget, one.want)
			}
		}
	})
}

// TestPortalParts: the roadmap and the changelog say what visitors have asked and voted for themselves, and when, also
// for a request that was merged. They say nothing of it to others.
func TestPortalParts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.publicPortal()
		_, s.names["program"] = s.token("owner", `{"name":"CI","scope":"admin"}`) // outlives a session
		dark, night, other := s.submit("Dark mode"), s.submit("Night mode"), s.submit("Other")
		named, browser := s.guest(), s.guest()
		named.signIn("ada")
		for _, g := range []*guest{named, browser} {
			form := url.Values{"title": {"Export"}, "description": {fmt.Sprint("For ", g == named)}}
			if got := g.post("new", form); got.status != http.StatusSeeOther {
				t.Fatalf("%d %s", got.status, got.body)
			}
			s.clock.Move(24 * time.Hour)
			g.vote(night)
			s.clock.Move(24 * time.Hour)
		}
		s.must("requests-merge", "program", fmt.Sprintf(`{"id":%q,"into_id":%q}`, night, dark))
		var ids []string // in JSON
		for _, r := range s.must("requests-list", "program", `{"limit":10}`)["requests"].([]any) {
			id := r.(map[string]any)["id"].(string)
			if id != night && id != other {
				ids = append(ids, strconv.Quote(id))
				s.must("requests-update", "program", fmt.Sprintf(`{"id":%q,"status":"planned"}`, id))
			}
		}
		entry := s.must("entries-create", "program", s.filled(
			`{"app_id":"{app}","title":"News","body":"B","request_ids":[`+strings.Join(ids, ",")+`]}`))["entry"].(map[string]any)
		s.must("entries-publish", "program", fmt.Sprintf(`{"id":%q}`, entry["id"]))
		said := regexp.MustCompile(`You (asked|voted) for this on [^<]*|Updated [^<]*`)
		for _, one := range []struct {
			who   *guest
			parts []string
		}{
			{named, []string{"You asked for this on January 1, 2026", "You voted for this on January 2, 2026"}},
			{browser, []string{"You asked for this on January 3, 2026", "You voted for this on January 4, 2026"}},
			{s.guest(), nil},
		} {
			for _, page := range []string{"roadmap", "changelog"} {
				got := said.FindAllString(strings.NewReplacer("\u2068", "", "\u2069", "").Replace(string(one.who.get(page).body)), -1)
				want := slices.Clone(one.parts)
				if page == "roadmap" {
					for range ids {
						want = append(want, "Updated January 5, 2026")
					}
				}
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Errorf("%s says %q, want %q", page, got, want)
				}
			}
		}
	})
}
