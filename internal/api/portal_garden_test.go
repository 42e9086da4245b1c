package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// plant is a request with a secret in each of its fields. Secrets are zq, the field, the number and q.
type plant struct {
	n      int
	id     string
	file   string // id of its attached file
	status feedback.Status
	box    feedback.Box
	hidden bool
	root   *plant // that it is merged into, or nil
	signed bool   // by the person who is signed in
}

// The guests of a portal.
var guests = []string{"nobody", "wrong link", "link", "signed in", "voter"}

// garden is a portal with requests of every kind.
type garden struct {
	*service
	plants  []*plant
	entries []string // ids
	guests  map[string]*guest
}

func secret(field string, n int) string { return fmt.Sprintf("zq%s%dq", field, n) }

var plantedText = regexp.MustCompile(`zq([a-z]+)(\d+)q`)

// newGarden plants a request for each status, box, and whether it is hidden and merged. One that is suspected to be
// spam cannot be merged.
func newGarden(t *testing.T, at storetest.Place) *garden {
	t.Helper()
	g := &garden{service: newService(t, at), guests: map[string]*guest{}}
	g.allowFiles(true)
	g.publicPortal()
	for _, name := range guests {
		g.guests[name] = g.guest()
	}
	g.guests["signed in"].signIn("ada")
	noise := strings.NewReader(strings.Repeat("no", 99))
	g.guests["wrong link"].cookies["gatherkit_link"] = feedback.NewToken(feedback.PortalToken, testID(t, g.names["account"]), noise)
	for _, user := range g.must("users-list", "owner", `{}`)["users"].([]any) {
		for field, email := range map[string]string{"team": "member@example.com", "assignee": "admin@example.com"} {
			if u := user.(map[string]any); u["email"] == email {
				g.names[field] = u["id"].(string)
				g.must("users-update", "owner", fmt.Sprintf(`{"id":%q,"name":%q}`, u["id"], secret(field, 0)))
			}
		}
	}
	for _, status := range feedback.Settable() {
		for _, box := range []feedback.Box{feedback.Live, feedback.Bin, feedback.Quarantine} {
			for _, hidden := range []bool{false, true} {
				g.plant(&plant{status: status, box: box, hidden: hidden})
				if box != feedback.Quarantine {
					root := g.plant(&plant{status: status, box: feedback.Live})
					g.plant(&plant{status: status, box: box, hidden: hidden, root: root})
				}
			}
		}
	}
	g.plantEntries()
	for _, p := range g.plants {
		g.grow(p)
	}
	g.index()
	g.openPortal("all", `{"access":"link"}`)
	g.guests["link"].open(g.enterLink())
	return g
}

// plant submits a request and writes into each of its fields.
func (g *garden) plant(p *plant) *plant {
	g.t.Helper()
	p.n = len(g.plants) + 1
	p.signed = p.n%3 == 0
	g.plants = append(g.plants, p)
	mark := func(field string) string { return secret(field, p.n) }
	p.file = g.send("key", mark("file")+".txt", "hello")
	sent := map[string]any{
		"title": "Plan " + mark("title"), "description": mark("description"), "attachments": []string{p.file},
		"metadata": map[string]string{"page": mark("metadata")},
	}
	if p.signed {
		sent["identity_token"] = g.proof("ada", fmt.Sprintf(`,"name":%q`, mark("verified")))
	} else {
		sent["name"], sent["email"], sent["external_id"] = mark("name"), mark("email")+"@example.com", mark("external")
		sent["reader"] = browserOf(p.n)
	}
	if p.box == feedback.Quarantine {
		sent["form"] = map[string]string{"website": "x"}
	}
	p.id = g.do("widget-submit-request", "key", sent)["request"].(map[string]any)["id"].(string)
	say := func(field, visibility string) {
		g.do("comments-create", "member", map[string]any{"request_id": p.id, "body": mark(field), "visibility": visibility})
	}
	say("public", "public")
	say("internal", "internal")
	g.do("requests-update", "member", map[string]any{"id": p.id, "tags": []string{"Listed", mark("tag")}, "assignee_id": g.names["assignee"]})
	g.do("links-add", "member", map[string]any{"request_id": p.id, "url": "https://" + mark("issue") + ".example"})
	g.do("votes-add", "member", map[string]any{"request_id": p.id, "name": mark("voter"), "email": mark("voter") + "@example.com"})
	if p.box == feedback.Quarantine {
		return p
	}
	if !p.signed {
		g.do("widget-reply", "key", map[string]any{"request_id": p.id, "reader": browserOf(p.n), "body": mark("reply")})
	}
	for field, moderation := range map[string]string{"remark": "none", "held": "all"} {
		g.openPortal("all", fmt.Sprintf(`{"moderation":%q}`, moderation))
		g.do("widget-comment", "key", map[string]any{
			"request_id": p.id, "body": mark(field), "name": mark("commenter"), "voter": "0c9f5e9a-6d0c-4f53-9f0a-3b1f0f6f5a11",
		})
	}
	for _, voter := range []string{"voter", "signed in"} {
		if got := g.guests[voter].vote(p.id); got.status != http.StatusSeeOther {
			g.t.Fatalf("a vote: %d %s", got.status, got.body)
		}
	}
	return p
}

// grow brings a request into its state.
func (g *garden) grow(p *plant) {
	g.t.Helper()
	if p.status != feedback.Opened {
		g.do("requests-update", "member", map[string]any{"id": p.id, "status": p.status})
	}
	if p.root != nil {
		g.merge(p.id, p.root.id)
	}
	if p.hidden {
		g.do("requests-update", "member", map[string]any{"id": p.id, "hidden": true})
	}
	if p.box == feedback.Bin {
		g.do("requests-delete", "member", map[string]any{"id": p.id})
	}
}

// plantEntries writes entries about all requests: two that are published, and others that are not.
func (g *garden) plantEntries() {
	g.t.Helper()
	var all []string
	for _, p := range g.plants {
		all = append(all, p.id)
	}
	add := func(field string, about []string) string {
		entry := g.do("entries-create", "member", map[string]any{
			"app_id": g.names["app"], "title": secret(field, 0), "body": secret(field, 0), "labels": []string{secret(field, 0)},
			"request_ids": about,
		})["entry"].(map[string]any)["id"].(string)
		g.entries = append(g.entries, entry)
		return entry
	}
	for part := range slices.Chunk(all, 50) {
		g.do("entries-publish", "member", map[string]any{"id": add("entry", part)})
	}
	add("draft", nil)
	g.do("entries-publish", "member", map[string]any{"id": add("scheduled", nil), "at": g.clock.Now().Add(time.Hour)})
	back := add("unpublished", nil)
	g.do("entries-publish", "member", map[string]any{"id": back})
	g.do("entries-unpublish", "member", map[string]any{"id": back})
	gone := add("deleted", nil)
	g.do("entries-publish", "member", map[string]any{"id": gone})
	g.do("entries-delete", "member", map[string]any{"id": gone})
}

// do is must with parameters that it encodes.
func (s *service) do(operation, who string, params map[string]any) map[string]any {
	s.t.Helper()
	text, err := json.Marshal(params)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.must(operation, who, string(text))
}
