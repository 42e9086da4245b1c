package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// onlooker is somebody outside the account, and what they have.
type onlooker struct {
	name   string
	key    string // the name of the API key with which they call
	reader string // the secret of their browser
	proof  string // their identity token
	token  string // the name of a link that they hold
}

// marker is a text that is planted in one field.
type marker struct {
	field string
	// seen reports whether an onlooker may see it while an app has the given value of sharing. It is nil
	// if nobody outside may.
	seen func(name, sharing string) bool
}

// planted is a service that has a marker in every field.
type planted struct {
	*service
	markers  map[string]marker // by text
	texts    []string          // the titles
	requests []string          // ids
	user     string            // the id of a user whose name is a marker
	secret   string            // of identity tokens
}

// mark returns a new marker.
func (p *planted) mark(field string, seen func(name, sharing string) bool) string {
	text := fmt.Sprintf("zqx%dy", len(p.markers))
	p.markers[text] = marker{field, seen}
	return text
}

// hide makes a text that is not made by mark a marker that nobody sees.
func (p *planted) hide(field, text string) { p.markers[strings.ToLower(text)] = marker{field, nil} }

// browserOf returns the secret of an onlooker's browser.
func browserOf(n int) string { return fmt.Sprintf("0197a2b3c4d5%052x", n) }

// theirs is a request, and who sees what of it.
type theirs struct {
	name   string   // for messages
	sent   string   // further parameters of the submission, which end with a comma
	status string   // which is set if it is not opened
	texts  []string // the onlookers who see its title and its description
	talk   []string // the onlookers who see its public comments
	hidden bool     // whether the app shares it in no setting
	other  bool     // whether it is in the other app
}

// plant submits a request with a marker in every field, and returns its id.
func (p *planted) plant(r theirs) string {
	p.t.Helper()
	key, in := "key", "other app"
	if r.other {
		key = "other_key"
	}
	shared := func(name, sharing string) bool {
		return !r.hidden && (name == in) == r.other && shares(sharing, r.status)
	}
	of := func(names []string) func(name, sharing string) bool {
		return func(name, sharing string) bool {
			return slices.Contains(names, name) || holdsProof(name, sharing) && shared(name, sharing)
		}
	}
	listed := func(name, sharing string) bool { return slices.Contains(r.texts, name) || shared(name, sharing) }
	field := func(name string) string { return name + " of " + r.name }
	title := "Plan " + p.mark(field("title"), listed)
	p.texts = append(p.texts, title)
	body := fmt.Sprintf(`{%s"title":%q,"description":%q,"metadata":{%q:%q}`, r.sent, title,
		p.mark(field("description"), of(r.texts)), p.mark(field("metadata"), nil), p.mark(field("metadata"), nil))
	if !strings.Contains(r.sent, "identity_token") {
		body += fmt.Sprintf(`,"name":%q,"email":%q,"external_id":%q`, p.mark(field("submitter's name"), nil),
			p.mark(field("submitter's e-mail"), nil)+"@example.com", p.mark(field("submitter's id"), nil))
	}
	id := p.must("widget-submit-request", key, body+"}")["request"].(map[string]any)["id"].(string)
	p.requests = append(p.requests, id)
	p.markers[id] = marker{field("id"), listed}
	eta := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, len(p.requests)).Format(time.DateOnly)
	p.hide(field("ETA"), eta)
	p.must("requests-update", "member", fmt.Sprintf(`{"id":%q,"tags":[%q],"assignee_id":%q,"eta":%q}`,
		id, p.mark(field("tag"), nil), p.user, eta))
	if r.status != "opened" {
		p.must("requests-update", "member", fmt.Sprintf(`{"id":%q,"status":%q}`, id, r.status))
	}
	p.must("votes-add", "member", fmt.Sprintf(`{"request_id":%q,"name":%q,"email":%q,"external_id":%q,"why":%q}`, id,
		p.mark(field("voter's name"), nil), p.mark(field("voter's e-mail"), nil)+"@example.com", p.mark(field("voter's id"), nil),
		p.mark(field("voter's words"), nil)))
	link := p.must("links-add", "member", fmt.Sprintf(`{"request_id":%q,"url":"https://%s.example"}`, id, p.mark(field("issue"), nil)))
	p.hide(field("link's id"), link["link"].(map[string]any)["id"].(string))
	for visibility, seen := range map[string]func(name, sharing string) bool{"internal": nil, "public": of(r.talk)} {
		for _, who := range []string{"member", "program"} { // program is a service token with a marker as its name
			name := field(visibility + " comment")
			text := fmt.Sprintf("Ask @[%s](user:%s), or %s.", p.mark("name in a "+name, nil), p.user, p.mark(name, seen))
			said := p.must("comments-create", who, fmt.Sprintf(`{"request_id":%q,"body":%q,"visibility":%q}`, id, text, visibility))
			p.markers[said["comment"].(map[string]any)["id"].(string)] = marker{name + "'s id", seen}
		}
	}
	return id
}

// plantAccount plants what is not about requests.
func (p *planted) plantAccount() {
	p.t.Helper()
	account, name := p.mark("name of the account, and the names of its users", nil), p.mark("name and e-mail of a user", nil)
	p.anotherAccount(account)
	p.addUser(account, name, feedback.RoleMember)
	p.user = p.service.user(name)
	p.hide("user's id", p.user)
	id, secret := p.token("owner", `{"name":"`+p.mark("name of a token", nil)+`","scope":"member","kind":"service"}`)
	p.names["program"] = secret
	p.hide("token's id", id)
	p.hide("token", secret)
	p.must("views-create", "owner", `{"name":"`+p.mark("name of a view", nil)+`","shared":true}`)
	p.must("webhooks-create", "owner", fmt.Sprintf(`{"name":%q,"url":%q,"internal":true}`,
		p.mark("name of a webhook", nil), p.names["receiver"]+"/"+p.mark("URL of a webhook", nil)))
	p.must("apps-update", "owner", p.filled(fmt.Sprintf(`{"id":"{app}","name":%q}`, p.mark("name of the app", nil))))
	p.must("apps-update-settings", "owner", p.filled(fmt.Sprintf(
		`{"id":"{app}","settings":{"public_name":"Acme","widget":{"allow_file_uploads":true},`+
			`"issue_template":"https://%s.example/new?title={title}","allowed_origins":["https://%s.example"]}}`,
		p.mark("issue template", nil), p.mark("allowed origin", nil))))
	p.must("apps-update-settings", "owner", p.filled(fmt.Sprintf(
		`{"id":"{app}","settings":{"sharing":"all","portal":{"access":"public","slug":%q,"comments":"anyone","tags":[%q],"intro":%q,`+
			`"sign_in_url":"https://%s.example","held_words":[%q]}}}`, p.mark("slug of the portal", holdsProof), p.mark("tag of the portal", nil),
		p.mark("intro of the portal", nil), p.mark("page that signs in", nil), p.mark("held word", nil))))
	p.secret = p.must("apps-identity-secret", "owner", p.filled(`{"id":"{app}"}`))["secret"].(string)
	p.hide("identity secret", p.secret)
	other := p.must("apps-create", "owner", fmt.Sprintf(`{"name":%q}`, p.mark("name of another app", isOtherApp)))["app"].(map[string]any)
	p.names["other_app"], p.names["other_key"] = other["id"].(string), other["api_key"].(string)
	p.markers[p.names["other_app"]] = marker{"other app's id", isOtherApp}
	p.markers[strings.ToLower(p.names["other_key"])] = marker{"other app's key", nil}
	p.addUser(p.mark("name of another account", nil), "outsider", feedback.RoleOwner)
	theirs := p.must("apps-create", "outsider", fmt.Sprintf(`{"name":%q}`, p.mark("app of another account", nil)))["app"].(map[string]any)
	p.names["outsider_key"] = theirs["api_key"].(string)
	p.must("widget-submit-request", "outsider_key", fmt.Sprintf(`{"title":%q,"description":%q,"reader":%q}`,
		p.mark("title in another account", nil), p.mark("description in another account", nil), browserOf(1)))
}

// shares reports whether an app with a setting of sharing shares its requests with a status.
func shares(sharing, status string) bool {
	return feedback.Settings{Sharing: sharing}.Shares(feedback.Request{Box: feedback.Live, Status: feedback.Status(status)})
}

// holdsProof reports whether an onlooker can sign in to the portal.
func holdsProof(name, sharing string) bool { return name == "verified person" && sharing != "none" }

func isOtherApp(name, _ string) bool { return name == "other app" }

// plantEntries plants entries of changelogs, which are about all requests of their app that are not in the bin.
func (p *planted) plantEntries() {
	p.t.Helper()
	for _, app := range []string{"app", "other_app"} {
		own := func(name, sharing string) bool { return isOtherApp(name, sharing) == (app == "other_app") }
		var ids []string
		for _, box := range []string{"live", "quarantine"} {
			list := p.must("requests-list", "owner", fmt.Sprintf(`{"app_id":%q,"box":%q}`, p.names[app], box))["requests"].([]any)
			for _, r := range list {
				ids = append(ids, r.(map[string]any)["id"].(string))
			}
		}
		about, err := json.Marshal(ids)
		if err != nil {
			p.t.Fatal(err)
		}
		for _, state := range []string{"draft", "scheduled", "published", "unpublished"} {
			seen := own
			if state != "published" {
				seen = nil
			}
			field := func(name string) string { return name + " of a " + state + " entry of the " + app }
			made := p.must("entries-create", "program", fmt.Sprintf(`{"app_id":%q,"title":%q,"body":%q,"labels":[%q],"request_ids":%s}`,
				p.names[app], p.mark(field("title"), seen), p.mark(field("body"), seen), p.mark(field("label"), seen), about))
			id := made["entry"].(map[string]any)["id"].(string)
			p.markers[id] = marker{field("id"), seen}
			if state == "scheduled" {
				p.must("entries-publish", "member", `{"id":"`+id+`","at":"2033-03-03T03:03:03Z"}`)
				p.hide("time of a scheduled entry", "2033-03-03")
			} else if state != "draft" {
				p.must("entries-publish", "member", `{"id":"`+id+`"}`)
			}
			if state == "unpublished" {
				p.must("entries-unpublish", "member", `{"id":"`+id+`"}`)
			}
		}
	}
}

// plantRemarks plants comments of visitors of the portal: one is held, one is published, which is shown on the portal,
// and the person who wrote one that was held is blocked.
func (p *planted) plantRemarks(id, status string) {
	p.t.Helper()
	for _, state := range []string{"held", "published", "blocked"} {
		field := func(name string) string { return name + " of a " + state + " comment on a request that is " + status }
		var shown func(name, sharing string) bool
		if state == "published" {
			shown = func(name, sharing string) bool { return holdsProof(name, sharing) && shares(sharing, status) }
		}
		p.must("widget-comment", "key", fmt.Sprintf(`{"request_id":%q,"body":%q,"name":%q,"voter":%q}`,
			id, p.mark(field("body"), shown), p.mark(field("name"), nil), p.api.server.NewID()))
		list := p.must("comments-held", "member", "")["comments"].([]any)
		held := list[len(list)-1].(map[string]any)["id"].(string)
		p.hide(field("id"), held)
		switch state {
		case "published":
			released := p.must("comments-release", "member", `{"id":"`+held+`"}`)
			p.markers[released["comment"].(map[string]any)["id"].(string)] = marker{field("new id"), shown}
		case "blocked":
			p.must("comments-block", "member", `{"id":"`+held+`","person":true}`)
		}
	}
}

// plantRequests plants requests of all kinds.
func (p *planted) plantRequests() {
	p.t.Helper()
	by := func(n int) string { return fmt.Sprintf(`"reader":%q,`, browserOf(n)) }
	asker := []string{"asker", "holder of the asker's link"}
	file := fmt.Sprintf(`"attachments":[%q],`, p.send("key", p.mark("name of a file", nil)+".txt", p.mark("content of a file", nil)))
	own := p.plant(theirs{name: "the asker's request", sent: by(1) + file, status: "planned", texts: asker, talk: asker})
	p.names["own"] = own
	for who, n := range map[string]int{"asker": 1, "somebody else": 5} {
		seen := func(name, _ string) bool { return who == "asker" && slices.Contains(asker, name) }
		id := own
		if who != "asker" {
			id = p.plant(theirs{name: "the target", sent: by(n), status: "opened", talk: asker})
			p.names["target"] = id
		}
		p.names["said by "+who] = p.mark("reply of "+who, seen)
		p.must("widget-reply", "key", fmt.Sprintf(`{"reader":%q,"request_id":%q,"body":%q}`, browserOf(n), id, p.names["said by "+who]))
	}
	merged := p.plant(theirs{name: "the asker's merged request", sent: by(1), status: "opened", texts: asker, talk: asker, hidden: true})
	p.must("requests-merge", "member", p.filled(`{"id":"`+merged+`","into_id":"{target}"}`))
	spam := `"form":{"website":"x"},`
	p.plant(theirs{name: "the asker's request in quarantine", sent: by(1) + spam, status: "planned", texts: asker, hidden: true})
	p.plant(theirs{name: "another one's request in quarantine", sent: by(5) + spam, status: "planned", hidden: true})
	for _, n := range []int{1, 5} {
		binned := p.plant(theirs{name: fmt.Sprint("request in the bin of ", n), sent: by(n), status: "planned", hidden: true})
		p.must("requests-delete", "member", `{"id":"`+binned+`"}`)
	}
	p.plant(theirs{name: "the stranger's request", sent: by(3), status: "declined", texts: []string{"stranger"}, talk: []string{"stranger"}})
	proof := signedToken(p.t, p.secret, fmt.Sprintf(`{"sub":%q,"name":%q,"email":%q,"exp":%d}`, p.mark("id of a verified person", nil),
		p.mark("name of a verified person", nil), p.mark("e-mail of a verified person", nil)+"@example.com", p.clock.Now().Add(time.Hour).Unix()))
	p.names["proof"] = proof
	p.plant(theirs{
		name: "the verified person's request", sent: fmt.Sprintf(`"identity_token":%q,`, proof), status: "opened",
		texts: []string{"verified person"}, talk: []string{"verified person"},
	})
	holder := []string{"holder of a request's link"}
	handed := p.plant(theirs{name: "the linked request", status: "opened", texts: holder, talk: holder})
	p.names["request_link"] = p.statusLink("member", handed)
	app := []string{"other app"}
	p.plant(theirs{name: "the asker's request in another app", sent: by(1), status: "opened", texts: app, talk: app, other: true})
	for _, status := range []string{"opened", "under_review", "completed", "declined"} {
		id := p.plant(theirs{name: "a request that is " + status, sent: by(5), status: status})
		p.must("widget-vote", "key", fmt.Sprintf(`{"request_id":%q,"voter":"%s01","reader":%q}`, id, voter, browserOf(2)))
		p.plantRemarks(id, status)
	}
	p.plantEntries()
	p.clock.Move(time.Minute)
	p.index()
}

// TestMarkers plants a text of its own in every field, and calls everything that needs no login as
// everybody outside, in each setting of sharing. Each of them sees what they may, and no other marker.
func TestMarkers(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		p := &planted{service: newService(t, at), markers: map[string]marker{}}
		p.plantAccount()
		p.plantRequests()
		onlookers := []onlooker{
			{name: "asker", key: "key", reader: browserOf(1)},
			{name: "voter", key: "key", reader: browserOf(2)},
			{name: "stranger", key: "key", reader: browserOf(3)},
			{name: "verified person", key: "key", proof: p.names["proof"]},
			{name: "holder of the asker's link", key: "key", reader: browserOf(4), token: "asker_link"},
			{name: "holder of a request's link", key: "key", reader: browserOf(4), token: "request_link"},
			{name: "other app", key: "other_key", reader: browserOf(1)},
			{name: "nobody", key: "key", reader: browserOf(4)},
		}
		for _, sharing := range []string{"none", "triaged", "all"} {
			access := "signed_in"
			if sharing == "none" {
				access = "off"
			}
			for app, portal := range map[string]string{"app": `{"access":"` + access + `"}`, "other_app": `{}`} {
				p.must("apps-update-settings", "owner", p.filled(`{"id":"{`+app+`}","settings":{"sharing":"`+sharing+`","portal":`+portal+`}}`))
			}
			for _, w := range onlookers {
				// Links of widget-my-link end when the asker makes more of them.
				link := p.must("widget-my-link", "key", `{"reader":"`+browserOf(1)+`"}`)["url"].(string)
				_, p.names["asker_link"], _ = strings.Cut(link, "#")
				p.look(w, sharing)
			}
		}
	})
}

// look makes all calls of an onlooker, and searches the answers for markers.
func (p *planted) look(w onlooker, sharing string) {
	p.t.Helper()
	seen := map[string]bool{}
	read := func(call string, got answer) {
		header, err := json.Marshal(got.header)
		if err != nil {
			p.t.Fatal(err)
		}
		text := strings.ToLower(string(header) + string(got.body))
		for text := range p.markersIn(text) {
			seen[text] = true
			if m := p.markers[text]; m.seen == nil || !m.seen(w.name, sharing) {
				p.t.Errorf("%s, sharing %s: %s shows the %s (%s): %d %s", w.name, sharing, call, m.field, text, got.status, got.body)
			}
		}
	}
	for _, o := range p.api.order {
		if o.guard == guardBearer {
			continue
		}
		bodies, ok := outside[o.name]
		if !ok {
			p.t.Errorf("people outside can call %s: add to outside what they send", o.name)
			continue
		}
		key := ""
		if o.guard == guardWidget {
			key = w.key
		}
		for _, body := range bodies(p, w) {
			read(o.name+" "+body, p.call(o.name, key, body))
		}
	}
	for _, route := range append(p.api.routes, routeOfDocument) {
		calls, ok := outsideRoutes[route.path]
		if !ok {
			p.t.Errorf("people outside can call %s: add to outsideRoutes what they send", route.path)
			continue
		}
		for _, r := range calls(p, w) {
			got := serve(p.api, r)
			if id := r.PathValue("echoed"); id != "" {
				got.body = bytes.ReplaceAll(got.body, []byte(id), nil)
				got.header.Set("Location", strings.ReplaceAll(got.header.Get("Location"), id, ""))
			}
			read(r.Method+" "+r.URL.Path, got)
		}
	}
	for text, m := range p.markers {
		if m.seen != nil && m.seen(w.name, sharing) && !seen[text] {
			p.t.Errorf("%s, sharing %s: nothing shows the %s (%s), and so the test shows nothing of it", w.name, sharing, m.field, text)
		}
	}
}
