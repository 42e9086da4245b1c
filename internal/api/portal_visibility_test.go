package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// rules are the settings that decide what a portal shows.
type rules struct {
	sharing string
	access  feedback.Access
	open    bool // every setting that shows more is on
}

// enters is whether a guest gets in.
func (r rules) enters(guest string) bool {
	return r.access == feedback.AccessPublic || r.access == feedback.AccessLink && guest == "link" ||
		r.access == feedback.AccessSignedIn && guest == "signed in"
}

// shows is whether the portal shows a request to those who get in.
func (r rules) shows(p *plant) bool {
	triaged := []feedback.Status{"under_review", "planned", "in_progress", "completed"}
	return p.root == nil && p.box == feedback.Live && !p.hidden &&
		(r.sharing == "all" || r.sharing == "triaged" && slices.Contains(triaged, p.status))
}

// tells is whether somebody who gets in may read a field of a request, or of the app (then it is nil). mine says that
// they read their own ideas.
func (r rules) tells(field string, p *plant, mine bool) bool {
	switch field {
	case "title":
		return r.shows(p) || mine && p.box != feedback.Bin
	case "description":
		return r.shows(p) && r.open || mine && p.box != feedback.Bin
	case "public", "remark":
		return r.shows(p)
	case "file", "verified":
		return r.shows(p) && r.open
	case "team":
		return r.open
	case "entry":
		return true
	}
	return false
}

// TestPortalVisibility: with all settings, every guest sees at every address what the rules say, and nothing else.
// Except in proof, PostgreSQL has only the settings with which most depends on the request.
func TestPortalVisibility(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		g := newGarden(t, at)
		for _, sharing := range []string{"none", "triaged", "all"} {
			for _, access := range []feedback.Access{feedback.AccessOff, feedback.AccessPublic, feedback.AccessLink, feedback.AccessSignedIn} {
				if sharing == "none" && access != feedback.AccessOff {
					continue // the settings contradict each other
				}
				for _, open := range []bool{false, true} {
					if !storetest.InProof() && (sharing != "triaged" && !open || at.Name == "postgres" && (sharing != "triaged" || !open)) {
						continue
					}
					r := rules{sharing, access, open}
					g.set(r)
					for _, name := range guests {
						g.check(r, name)
					}
					g.checkWidget(r, "a caller", "")
					g.checkWidget(r, "a person", g.proof("ada", ""))
				}
			}
		}
	})
}

func (g *garden) set(r rules) {
	g.t.Helper()
	names, tags := "none", "[]"
	if r.open {
		names, tags = "verified", `["listed"]`
	}
	g.openPortal(r.sharing, fmt.Sprintf(`{"access":%q,"descriptions":%t,"attachments":%t,"team_names":%t,"names":%q,"tags":%s}`,
		r.access, r.open, r.open, r.open, names, tags))
}

// check opens every address as a guest.
func (g *garden) check(r rules, name string) {
	g.t.Helper()
	pages := []string{
		"", "?sort=top", "?sort=new", "?sort=trending", "?q=plan", "?tag=listed", "?tag=" + secret("tag", 1),
		"roadmap", "changelog", "changelog.atom",
		"new", "new?title=Plan", "me", "sign-in", "enter?key=x", "robots.txt", "sitemap.xml", "sitemap-2026-01.xml",
	}
	for _, status := range feedback.Statuses() {
		pages = append(pages, "?status="+string(status))
	}
	for _, id := range g.entries {
		pages = append(pages, "changelog/"+id, "changelog/"+id+"/x")
	}
	for _, page := range pages {
		g.look(r, name, page)
	}
	for _, p := range g.plants {
		g.checkIdea(r, name, p)
	}
	if r.enters(name) {
		g.checkLists(r, name)
	}
	if r.enters(name) && (name == "nobody" || r.access != feedback.AccessPublic) {
		g.checkSearch(r, name)
	}
}

// look opens a page, which must have no secret that the guest may not see, and returns it.
func (g *garden) look(r rules, name, page string) answer {
	g.t.Helper()
	got := g.guests[name].get(page)
	text := string(got.body) + "\n" + got.header.Get("Location")
	g.scan(r, name, page, text, r.enters(name), page == "me" && name == "signed in")
	switch {
	case page == "sign-in" && r.access == feedback.AccessSignedIn: // says where to sign in
	case !r.enters(name) && r.access == feedback.AccessSignedIn && got.status != http.StatusUnauthorized,
		!r.enters(name) && r.access != feedback.AccessSignedIn && got.status != http.StatusNotFound:
		g.t.Errorf("%+v, %s gets %d at %q", r, name, got.status, page)
	case got.status >= http.StatusInternalServerError:
		g.t.Errorf("%+v, %s: %d at %q", r, name, got.status, page)
	}
	return got
}

// scan checks that a text has no secret that the guest may not see. own says that the guest reads their own ideas.
func (g *garden) scan(r rules, name, page, text string, enters, own bool) {
	g.t.Helper()
	for _, found := range plantedText.FindAllStringSubmatch(text, -1) {
		var p *plant
		if n, _ := strconv.Atoi(found[2]); n > 0 {
			p = g.plants[n-1]
		}
		if strings.Contains(page, found[0]) { // what the guest has sent
			continue
		}
		if !enters || !r.tells(found[1], p, own && p != nil && p.signed) {
			g.t.Errorf("%+v, %s sees %s at %q (%+v)", r, name, found[0], page, p)
		}
	}
}

// checkWidget calls the operations that show the portal with the API key, without and with an identity token. No call
// has the link of the portal.
func (g *garden) checkWidget(r rules, name, identity string) {
	g.t.Helper()
	enters := r.access == feedback.AccessPublic || r.access == feedback.AccessSignedIn && identity != ""
	ask := func(operation string, params map[string]any) (string, map[string]any) {
		if identity != "" {
			params["identity_token"] = identity
		}
		body, err := json.Marshal(params)
		if err != nil {
			g.t.Fatal(err)
		}
		got := g.call(operation, "key", string(body))
		g.scan(r, name, string(body), string(got.body), enters, false)
		code, result := resultOf(g.t, got)
		if refused := code == "portal.not_found" || code == "portal.sign_in_needed"; refused == enters {
			g.t.Errorf("%+v, %s: %s of %s", r, name, code, operation)
		}
		return code, result
	}
	for _, sort := range []string{"top", "trending", "new"} {
		var ids, want []string
		for cursor, more := "", enters; more; {
			_, page := ask("widget-board", map[string]any{"sort": sort, "limit": 7, "cursor": cursor})
			for _, idea := range page["requests"].([]any) {
				ids = append(ids, idea.(map[string]any)["id"].(string))
			}
			cursor, more = page["next_cursor"].(string), page["has_more"].(bool)
		}
		for _, p := range g.plants {
			if enters && r.shows(p) {
				want = append(want, p.id)
			}
		}
		slices.Sort(ids)
		slices.Sort(want)
		if !slices.Equal(ids, want) {
			g.t.Errorf("%+v, %s lists %d ideas with the key, want %d", r, name, len(ids), len(want))
		}
	}
	ask("widget-board", map[string]any{})
	ask("widget-board", map[string]any{"query": "plan " + secret("tag", 1)})
	ask("widget-board", map[string]any{"tag": secret("tag", 1)})
	for _, p := range g.plants {
		code, _ := ask("widget-request", map[string]any{"id": p.id})
		if has := code == "ok"; has != (enters && (r.shows(p) || p.root != nil && p.box == feedback.Live && r.shows(p.root))) {
			g.t.Errorf("%+v, %s reads %+v with the key: %s", r, name, p, code)
		}
	}
}

// checkIdea opens the page of an idea, its picture and its file, and takes part in it.
func (g *garden) checkIdea(r rules, name string, p *plant) {
	g.t.Helper()
	shown, root := r.enters(name) && r.shows(p), r.enters(name) && p.root != nil && p.box == feedback.Live && r.shows(p.root)
	got := g.look(r, name, "r/"+p.id+"/plan-"+secret("title", p.n))
	want := http.StatusNotFound
	switch {
	case shown:
		want = http.StatusOK
	case root:
		want = http.StatusMovedPermanently
	}
	switch {
	case r.enters(name) && got.status != want: // look checks the others
		g.t.Errorf("%+v, %s gets %d for %+v", r, name, got.status, p)
	case shown:
		g.checkFields(r, name, p, string(got.body))
	case root:
		if to := got.header.Get("Location"); to != portalHome+"r/"+p.root.id+"/plan-"+secret("title", p.root.n) {
			g.t.Errorf("%+v, %s gets to %s from %+v", r, name, to, p)
		}
	}
	file := g.look(r, name, "r/"+p.id+"/files/"+p.file)
	if gets := strings.HasPrefix(file.header.Get("Location"), attachmentPath); gets != (shown && r.open) {
		g.t.Errorf("%+v, %s gets the file of %+v: %v", r, name, p, gets)
	}
	if name != "nobody" || !r.open { // the pictures take long
		return
	}
	card := g.look(r, name, "card/"+p.id+".png")
	if gets := card.header.Get("Content-Type") == "image/png"; gets != (shown || root) {
		g.t.Errorf("%+v, %s gets the picture of %+v: %v", r, name, p, gets)
	}
	if shown {
		return
	}
	before := g.guests[name].cookies["gatherkit_voter"]
	votes := g.guests[name].vote(p.id)
	talk := g.guests[name].post("r/"+p.id+"/comments", url.Values{"body": {"Me too."}})
	delete(g.guests[name].cookies, "gatherkit_voter")
	if votes.status < http.StatusBadRequest && !root || talk.status < http.StatusBadRequest || before != "" {
		g.t.Errorf("%+v, %s takes part in %+v: %d, %d", r, name, p, votes.status, talk.status)
	}
}

// checkFields checks that the page of an idea has what the guest may see.
func (g *garden) checkFields(r rules, name string, p *plant, page string) {
	g.t.Helper()
	for _, field := range []string{"title", "description", "public", "remark", "file", "verified"} {
		exists := field != "verified" || p.signed
		if want := exists && r.tells(field, p, false); want != strings.Contains(page, secret(field, p.n)) {
			g.t.Errorf("%+v, %s sees %s of %+v: %v", r, name, field, p, !want)
		}
	}
	if listed := strings.Contains(page, "<bdi>Listed</bdi>"); listed != r.open {
		g.t.Errorf("%+v, %s sees the tag: %v", r, name, listed)
	}
}

// checkLists checks that the lists have all ideas that the portal shows.
func (g *garden) checkLists(r rules, name string) {
	g.t.Helper()
	byStatus := map[feedback.Status][]string{}
	var all, roadmap []string
	for _, p := range g.plants {
		if r.shows(p) {
			all, byStatus[p.status] = append(all, p.id), append(byStatus[p.status], p.id)
		}
	}
	for _, status := range []feedback.Status{"planned", "in_progress", "completed"} {
		roadmap = append(roadmap, byStatus[status]...)
	}
	lists := map[string][]string{"": all, "?sort=new": all, "?q=plan": all, "?status=duplicate": all, "roadmap": roadmap}
	if r.open {
		lists["?tag=listed"] = all
	}
	for _, status := range feedback.Settable() {
		lists["?status="+string(status)] = byStatus[status]
		if len(byStatus[status]) == 0 { // no status that the portal shows
			lists["?status="+string(status)] = all
		}
	}
	for page, want := range lists {
		var ids []string
		for next := page; ; {
			got := g.look(r, name, next)
			ids = append(ids, ideasOn(got)...)
			more := regexp.MustCompile(`<a class="button" href="/p/acme/(\?[^"]*after=[^"]*)">`).FindSubmatch(got.body)
			if more == nil {
				break
			}
			next = strings.ReplaceAll(string(more[1]), "&amp;", "&")
		}
		slices.Sort(ids)
		slices.Sort(want)
		if !slices.Equal(ids, want) {
			g.t.Errorf("%+v, %s sees %d ideas at %q, want %d", r, name, len(ids), page, len(want))
		}
	}
	links := map[string]bool{"changelog": true, "sitemap-2026-01.xml": r.access == feedback.AccessPublic}
	for page, has := range links {
		text := string(g.look(r, name, page).body)
		for _, p := range g.plants {
			if want := has && r.shows(p); want != strings.Contains(text, "/r/"+p.id) {
				g.t.Errorf("%+v, %s finds %+v at %q: %v", r, name, p, page, !want)
			}
		}
	}
}

// checkSearch checks that a search for what the portal does not show finds nothing, also among similar ideas.
func (g *garden) checkSearch(r rules, name string) {
	g.t.Helper()
	for _, p := range g.plants[:6] {
		for _, field := range []string{
			"name", "email", "verified", "external", "metadata", "tag", "internal", "reply", "held", "voter", "file", "issue",
		} {
			for _, query := range []string{secret(field, p.n), secret(field, p.n) + "@example.com"} {
				if found := ideasOn(g.look(r, name, "?q="+url.QueryEscape(query))); len(found) > 0 {
					g.t.Fatalf("%+v, %s finds %d ideas by %q", r, name, len(found), query)
				}
			}
		}
		for _, query := range []string{secret("description", p.n), secret("description", p.n)[:8], "plan " + secret("description", p.n)} {
			found := ideasOn(g.look(r, name, "?q="+url.QueryEscape(query)))
			if has := slices.Contains(found, p.id); has != (r.shows(p) && r.tells("description", p, false)) {
				g.t.Errorf("%+v, %s finds %+v by %q: %v", r, name, p, query, has)
			}
		}
		similar := g.look(r, name, "new?title="+secret("description", p.n))
		if !r.open && strings.Contains(string(similar.body), "/r/"+p.id) {
			g.t.Errorf("%+v, %s finds %+v by a similar description", r, name, p)
		}
		if found := ideasOn(g.look(r, name, "?q="+secret("title", p.n))); slices.Contains(found, p.id) != r.shows(p) {
			g.t.Errorf("%+v, %s finds %+v by its title: %v", r, name, p, found)
		}
	}
}
