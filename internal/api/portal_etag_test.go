package api

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// watched is a portal whose guests remember what they were sent.
type watched struct {
	*service
	t        *rapid.T
	guests   []*guest
	tags     []map[string]string // of each guest: the last ETag of each page
	pages    map[string]string   // what was sent with each ETag, by page
	requests []string
	comments [][2]string // ids with those of their requests
	entries  []string
	done     map[string]int // how often each change has succeeded
}

// TestPortalTags: whatever happens, two answers with the same ETag have the same headers and bytes. So no conditional
// call is answered 304 after something has changed that the page shows.
func TestPortalTags(t *testing.T) {
	storetest.FewerChecks(t)
	most := 10
	if storetest.InProof() {
		most = 30
	}
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		done, unchanged := map[string]int{}, 0
		rapid.Check(t, func(t *rapid.T) {
			w := newWatched(t, s)
			w.done = done
			for range rapid.IntRange(1, most).Draw(t, "changes") {
				w.change()
				for page := w.page(); ; page = w.page() {
					for n := range w.guests {
						unchanged += w.open(n, page)
					}
					if rapid.Bool().Draw(t, "enough") {
						break
					}
				}
			}
		})
		t.Logf("%d calls were answered 304; changes: %v", unchanged, done)
		if unchanged == 0 || len(done) < len(changes)/2 {
			t.Error("too little has happened")
		}
	})
}

func newWatched(t *rapid.T, s *service) *watched {
	s.addApp()
	delete(s.names, "identity_secret")
	slug := "s-" + s.names["app"]
	s.openPortal("all", fmt.Sprintf(`{"slug":%q,"access":"public","comments":"anyone","moderation":"anonymous"}`, slug))
	w := &watched{service: s, t: t, pages: map[string]string{}}
	for n := range 4 {
		g := s.guest()
		g.home = "/p/" + slug + "/"
		g.header["Accept-Language"] = []string{"en", "en-GB", "", "ar,en"}[n]
		w.guests, w.tags = append(w.guests, g), append(w.tags, map[string]string{})
	}
	w.guests[3].header["Accept-Encoding"] = "gzip"
	for n, sub := range []string{"ada", "grace"} { // with the same name
		w.signIn(w.guests[n], sub, "Ada")
	}
	w.requests = []string{s.submit("Dark mode"), s.submit("Night mode")}
	for _, c := range changes {
		if c.name == "entry" || c.name == "comment of the team" {
			c.do(w, w.requests[0])
		}
	}
	return w
}

// open opens a page as a guest, first as a browser that has it, and returns 1 if the service said that it is unchanged.
func (w *watched) open(n int, page string) int {
	g, status := w.guests[n], 0
	if known := w.tags[n][page]; known != "" {
		got := g.get(page, "If-None-Match", `"x", W/`+known)
		if status = got.status; status == http.StatusNotModified && len(got.body) > 0 {
			w.t.Fatalf("%s: 304 with a body", page)
		} else if status != http.StatusNotModified {
			w.sent(n, page, got)
		}
	}
	got := g.get(page)
	if status == http.StatusNotModified && got.header.Get("ETag") != w.tags[n][page] {
		w.t.Fatalf("%s: 304 for %s, and then %s", page, w.tags[n][page], got.header.Get("ETag"))
	}
	w.sent(n, page, got)
	return map[bool]int{status == http.StatusNotModified: 1}[true]
}

// sent compares an answer with those that had the same ETag.
func (w *watched) sent(n int, page string, got answer) {
	tag := got.header.Get("ETag")
	if w.tags[n][page] = tag; tag == "" {
		return
	}
	head := ""
	for _, name := range []string{"Content-Type", "Content-Encoding", "Content-Security-Policy", "X-Robots-Tag", "Vary", "Location"} {
		head += name + ": " + got.header.Get(name) + "\n"
	}
	text := fmt.Sprintf("%d\n%s%x", got.status, head, sha256.Sum256(got.body))
	key := page + " " + tag
	if before, known := w.pages[key]; known && before != text {
		w.t.Fatalf("two answers for %s:\n%s\n%s\n%s", key, before, text, got.body)
	}
	w.pages[key] = text
}

func (w *watched) page() string {
	id := rapid.SampledFrom(w.requests).Draw(w.t, "request")
	pages := []string{
		"", "?sort=new", "?sort=trending", "?status=planned", "?q=mode", "?tag=Fast", "roadmap", "changelog",
		"changelog.atom", "robots.txt", "sitemap.xml",
		"me", "new", "r/" + id + "/" + rapid.SampledFrom([]string{"dark-mode", "night-mode", "light"}).Draw(w.t, "slug"), "card/" + id + ".png",
	}
	if len(w.entries) > 0 {
		pages = append(pages, "changelog/"+rapid.SampledFrom(w.entries).Draw(w.t, "entry")+"/new")
	}
	return rapid.SampledFrom(pages).Draw(w.t, "page")
}

// changes are what can happen. Each returns whether it was accepted.
var changes = []struct {
	name string
	do   func(w *watched, request string) bool
}{
	{"settings", func(w *watched, _ string) bool { return w.try("apps-update-settings", w.settings()) }},
	{"settings of the portal", func(w *watched, _ string) bool { return w.try("apps-update-settings", w.portal()) }},
	{"name of the app", func(w *watched, _ string) bool {
		return w.try("apps-update", `{"id":"{app}","name":"`+w.draw("Website", "Shop")+`"}`)
	}},
	{"name of a user", func(w *watched, _ string) bool {
		return w.try("users-update", `{"id":"`+w.user()+`","name":"`+w.draw("Ada", "Grace")+`"}`)
	}},
	{"new request", func(w *watched, _ string) bool {
		w.requests = append(w.requests, w.submit(w.draw("Light", "Dark mode")))
		return true
	}},
	{"status", func(w *watched, id string) bool {
		return w.try("requests-update", `{"id":"`+id+`","status":"`+string(rapid.SampledFrom(feedback.Settable()).Draw(w.t, "status"))+`"}`)
	}},
	{"texts", func(w *watched, id string) bool {
		return w.try("requests-update", `{"id":"`+id+`","title":"`+w.draw("Light", "Night mode")+`","tags":["`+w.draw("Fast", "slow")+`"]}`)
	}},
	{"hidden", func(w *watched, id string) bool {
		return w.try("requests-update", `{"id":"`+id+`","hidden":`+w.draw("true", "false")+`}`)
	}},
	{"merge", func(w *watched, id string) bool {
		return w.try("requests-merge", `{"id":"`+id+`","into_id":"`+rapid.SampledFrom(w.requests).Draw(w.t, "root")+`"}`)
	}},
	{"unmerge", func(w *watched, id string) bool { return w.try("requests-unmerge", `{"id":"`+id+`"}`) }},
	{"delete", func(w *watched, id string) bool { return w.try("requests-delete", `{"id":"`+id+`"}`) }},
	{"restore", func(w *watched, id string) bool { return w.try("requests-restore", `{"id":"`+id+`"}`) }},
	{"vote of the team", func(w *watched, id string) bool {
		return w.try("votes-"+w.draw("add", "remove"), `{"request_id":"`+id+`","email":"ada@example.com"}`)
	}},
	{"vote of a guest", func(w *watched, id string) bool {
		return w.guest().post("vote", url.Values{w.draw("add", "remove"): {id}}).status == http.StatusSeeOther
	}},
	{"comment of the team", func(w *watched, id string) bool {
		code, result := resultOf(w.service.t, w.call("comments-create", "member",
			fmt.Sprintf(`{"request_id":%q,"body":"Since %d.","visibility":%q}`, id, len(w.comments), w.draw("public", "internal"))))
		if code == "ok" {
			w.comments = append(w.comments, [2]string{result["comment"].(map[string]any)["id"].(string), id})
		}
		return code == "ok"
	}},
	{"changed comment", func(w *watched, _ string) bool {
		return w.ofComment("comments-update", `,"body":"`+w.draw("Soon.", "Never.")+`","visibility":"`+w.draw("public", "internal")+`"`)
	}},
	{"deleted comment", func(w *watched, _ string) bool { return w.ofComment("comments-delete", "") }},
	{"comment of a guest", func(w *watched, id string) bool {
		return w.guest().post("r/"+id+"/comments", url.Values{"body": {"Me too."}, "name": {"Linus"}}).status == http.StatusSeeOther
	}},
	{"held comment", func(w *watched, _ string) bool {
		held := w.must("comments-held", "owner", `{}`)["comments"].([]any)
		if len(held) == 0 {
			return false
		}
		id := rapid.SampledFrom(held).Draw(w.t, "held").(map[string]any)["id"].(string)
		if w.draw("release", "block") == "release" {
			return w.try("comments-release", `{"id":"`+id+`"}`)
		}
		return w.try("comments-block", `{"id":"`+id+`","person":`+w.draw("true", "false")+`}`)
	}},
	{"entry", func(w *watched, id string) bool {
		body := w.filled(`{"app_id":"{app}","title":"New","request_ids":["` + id + `"]}`)
		code, result := resultOf(w.service.t, w.call("entries-create", "member", body))
		if code == "ok" {
			w.entries = append(w.entries, result["entry"].(map[string]any)["id"].(string))
		}
		return code == "ok"
	}},
	{"published entry", func(w *watched, _ string) bool {
		later := `,"at":"` + w.clock.Now().Add(time.Minute).Format(time.RFC3339) + `"`
		return w.ofEntry("entries-publish", `,"complete":`+w.draw("true", "false")+w.draw("", later))
	}},
	{"changed entry", func(w *watched, _ string) bool {
		return w.ofEntry("entries-update", `,"body":"`+w.draw("*Soon.*", "Later.")+`"`)
	}},
	{"unpublished entry", func(w *watched, _ string) bool { return w.ofEntry("entries-unpublish", "") }},
	{"deleted entry", func(w *watched, _ string) bool { return w.ofEntry("entries-delete", "") }},
	{"signed in", func(w *watched, _ string) bool {
		if !w.portalIsOn() {
			return false
		}
		return w.signIn(w.guest(), w.draw("ada", "grace"), w.draw("Ada", "A."))
	}},
	{"signed out", func(w *watched, _ string) bool { return w.guest().post("sign-out", nil).status == http.StatusSeeOther }},
	{"link", func(w *watched, _ string) bool {
		_, key, _ := strings.Cut(w.must("portal-rotate-link", "owner", w.filled(`{"id":"{app}"}`))["url"].(string), "/enter")
		return w.guest().get("enter"+key).status == http.StatusSeeOther
	}},
	{"time", func(w *watched, _ string) bool {
		w.clock.Move(rapid.SampledFrom([]time.Duration{time.Minute, time.Hour, 31 * 24 * time.Hour}).Draw(w.t, "later"))
		for _, who := range []string{"owner", "member"} {
			w.logIn(who)
		}
		return w.work()
	}},
	{"index", func(w *watched, _ string) bool { w.index(); return true }},
}

func (w *watched) signIn(g *guest, sub, name string) bool {
	token := w.proof(sub, fmt.Sprintf(`,"name":%q`, name))
	link := w.must("widget-portal-link", "key", fmt.Sprintf(`{"identity_token":%q}`, token))["url"].(string)
	_, page, _ := strings.Cut(link, g.home)
	return g.get(page).status == http.StatusSeeOther
}

func (w *watched) change() {
	c := rapid.SampledFrom(changes).Draw(w.t, "change")
	if c.do(w, rapid.SampledFrom(w.requests).Draw(w.t, "of")) {
		w.done[c.name]++
	}
}

func (w *watched) try(operation, body string) bool {
	return w.call(operation, "owner", w.filled(body)).status == http.StatusOK
}

func (w *watched) draw(values ...string) string { return rapid.SampledFrom(values).Draw(w.t, "value") }

func (w *watched) guest() *guest { return rapid.SampledFrom(w.guests).Draw(w.t, "who") }

func (w *watched) user() string {
	users := w.must("users-list", "owner", `{}`)["users"].([]any)
	return rapid.SampledFrom(users).Draw(w.t, "user").(map[string]any)["id"].(string)
}

func (w *watched) ofComment(operation, more string) bool {
	if len(w.comments) == 0 {
		return false
	}
	c := rapid.SampledFrom(w.comments).Draw(w.t, "comment")
	return w.call(operation, "member", fmt.Sprintf(`{"id":%q,"request_id":%q%s}`, c[0], c[1], more)).status == http.StatusOK
}

func (w *watched) ofEntry(operation, more string) bool {
	if len(w.entries) == 0 {
		return false
	}
	return w.try(operation, `{"id":"`+rapid.SampledFrom(w.entries).Draw(w.t, "which")+`"`+more+`}`)
}

func (w *watched) portalIsOn() bool {
	app := w.must("apps-get", "owner", w.filled(`{"id":"{app}"}`))["app"].(map[string]any)
	return app["settings"].(map[string]any)["portal"].(map[string]any)["access"] != "off"
}

// work does what the worker does: it publishes entries and removes what has expired.
func (w *watched) work() bool {
	_, err := w.store.PublishDue(w.service.t.Context())
	if err == nil {
		_, err = w.store.Purge(w.service.t.Context())
	}
	if err == nil {
		err = w.store.Sweep(w.service.t.Context())
	}
	return err == nil
}

func (w *watched) settings() string {
	return `{"id":"{app}","settings":{"public_name":"` + w.draw("", "Acme") + `","sharing":"` + w.draw("all", "all", "triaged") +
		`","widget":{"primary_color":"` + w.draw("#112233", "#445566") +
		`"},"statuses":{"planned":{"label":"` + w.draw("", "Next") + `","roadmap":` + w.draw("true", "false") + `}}}}`
}

func (w *watched) portal() string {
	return `{"id":"{app}","settings":{"portal":{` + w.draw(
		`"access":"public"`, `"access":"public"`, `"access":"link"`, `"access":"signed_in"`, `"access":"off"`,
		`"descriptions":false`, `"descriptions":true`, `"names":"verified"`, `"names":"none"`, `"team_names":true`, `"team_names":false`,
		`"tags":["fast"]`, `"tags":[]`, `"theme":"dark"`, `"theme":"auto"`, `"locale":"fr"`, `"locale":""`, `"intro":"Hello"`, `"intro":""`,
		`"logo":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="`, `"logo":""`,
		`"frame_ancestors":["https://example.com"]`, `"frame_ancestors":[]`, `"index":false`, `"index":true`,
		`"voting":"verified"`, `"voting":"anyone"`, `"comments":"off"`, `"comments":"anyone"`, `"submit":"off"`, `"submit":"anyone"`,
		`"sign_in_url":"https://example.com/in"`, `"sign_in_url":""`, `"moderation":"none"`, `"moderation":"anonymous"`,
	) + `}}}`
}

// TestPortalBehind: while the index is so far behind that a search is not complete, its page has no ETag, because the
// next one with the same changes can differ.
func TestPortalBehind(t *testing.T) {
	place := storetest.SQLite(t)
	s := newService(t, place)
	s.publicPortal()
	app, err := s.store.AppByKey(t.Context(), s.names["key"])
	if err != nil {
		t.Fatal(err)
	}
	requests := make([]feedback.Request, 2100)
	for i := range requests {
		requests[i] = feedback.NewRequest("Dark mode", "")
	}
	(&storetest.Rig{Store: s.store, T: t, Clock: s.clock, Raw: place.Raw(t)}).InsertRequests(app, requests)
	tagged := func(page string, want bool) {
		t.Helper()
		if got := s.guest().get(page); got.status != http.StatusOK || (got.header.Get("ETag") != "") != want {
			t.Errorf("%q: %d, ETag %q", page, got.status, got.header.Get("ETag"))
		}
	}
	tagged("?q=mode", false)
	tagged("", true)
	s.index()
	tagged("?q=mode", true)
}
