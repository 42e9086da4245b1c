package api

import (
	"bytes"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// idFields returns the parameters of an operation that are an id or a list of ids.
func idFields(o *op) []string {
	var fields []string
	for _, name := range o.params.Names {
		schema := o.params.Schema.Properties[name]
		if name == "voter" { // a browser's, and of no account
			continue
		}
		if schema.Format == "uuid" || schema.Items != nil && schema.Items.Format == "uuid" {
			fields = append(fields, name)
		}
	}
	return fields
}

var requestIDText = regexp.MustCompile(`[0-9a-f-]{36}`)

// TestTenants sends ids of another account, random ids and deleted ids in every field that
// contains an id. The answers for ids of another account must be the same, byte for byte, as
// for ids that do not exist, and nothing in the other account may change.
func TestTenants(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.names["request"], s.names["other_request"] = s.submit("Mine"), s.submit("Mine, too")
		s.names["deleted_request"] = s.submit("Deleted")
		s.must("requests-delete", "owner", s.filled(`{"id":"{deleted_request}"}`))
		doomed := s.must("apps-create", "owner", `{"name":"Doomed"}`)["app"].(map[string]any)["id"].(string)
		s.must("apps-delete", "owner", `{"id":"`+doomed+`"}`)
		s.allowFiles(true)
		s.addRemarks()
		own := map[string]string{
			"app": s.names["app"], "request": s.names["request"], "other_request": s.names["other_request"],
			"comment": s.comment(feedback.RoleOwner), "link": s.issueLink(), "spam": s.submitSpam("Spam"), "session": s.session("owner"),
			"view": s.view("owner"), "template": s.template("owner"), "mention": s.mention("owner"),
			"token":   first(s.token("owner", `{"name":"CI","scope":"viewer"}`)),
			"webhook": s.webhook("owner"), "entry": s.entry("owner", s.names["app"]),
			"held": s.names["held"], "remark": s.names["remark"], "user": s.user("viewer"), "file": s.send("key", "a.txt", "words"),
		}
		theirs := s.strangers()
		ownLink := s.statusLink("owner", s.names["request"])
		random := feedback.NewIDs(s.clock.Now, bytes.NewReader(bytes.Repeat([]byte{7}, 1<<10))).New().String()
		deleted := strings.NewReplacer(
			"{app}", doomed, "{request}", random, "{other_request}", random, "{comment}", random, "{link}", random,
			"{view}", random, "{template}", random, "{mention}", random, "{token}", random, "{webhook}", random, "{entry}", random,
			"{held}", random, "{remark}", random,
			"{status_link}", ownLink, "{receiver}", s.names["receiver"], "{spam}", random, "{session}", random, "{user}", random, "{file}", random,
		)
		before := s.snapshot()

		for _, o := range s.api.order {
			for _, field := range idFields(o) {
				body, status := sample(t, o.name), http.StatusNotFound
				if field == "attachments" {
					body, status = `{"title":"T","description":"","attachments":["{file}"]}`, http.StatusBadRequest
				}
				who := map[guard][2]string{guardPublic: {}, guardBearer: {"stranger", "owner"}, guardWidget: {"stranger_key", "key"}}[o.guard]
				for noun, id := range own {
					if !strings.Contains(body, "{"+noun+"}") {
						continue
					}
					rest := func(id string) string { return theirs.Replace(strings.ReplaceAll(body, "{"+noun+"}", id)) }
					foreign, unknown := s.call(o.name, who[0], rest(id)), s.call(o.name, who[0], rest(random))
					if foreign.status != status || foreign.status != unknown.status || !bytes.Equal(masked(foreign.body), masked(unknown.body)) {
						t.Errorf("%s.%s: another account's: %d %s, nobody's: %d %s",
							o.name, field, foreign.status, foreign.body, unknown.status, unknown.body)
					}
				}
				gone := s.call(o.name, who[1], deleted.Replace(body))
				if gone.status != status {
					t.Errorf("%s.%s: a deleted one: %d %s", o.name, field, gone.status, gone.body)
				}
			}
		}
		if after := s.snapshot(); before != after {
			t.Errorf("another account's call has changed something:\n%s\n%s", before, after)
		}
		requestID(t, s.submitWith(`"`+own["file"]+`"`)) // it is still not attached
	})
}

// strangers creates an app of the other account with shared requests and one in quarantine, and
// returns a replacer of names by their ids.
func (s *service) strangers() *strings.Replacer {
	s.t.Helper()
	app := s.must("apps-create", "stranger", `{"name":"Theirs"}`)["app"].(map[string]any)
	s.names["stranger_key"] = app["api_key"].(string)
	s.must("apps-update-settings", "stranger", portalOf(app["id"].(string)))
	s.must("apps-update-settings", "stranger", `{"id":"`+app["id"].(string)+`","settings":{"widget":{"allow_file_uploads":true}}}`)
	names := []string{"{app}", app["id"].(string), "{file}", s.send("stranger_key", "a.txt", "words")}
	for _, added := range [][2]string{{"{request}", "null"}, {"{other_request}", "null"}, {"{spam}", `{"seconds":0}`}} {
		sent := s.must("widget-submit-request", "stranger_key", `{"title":"T","description":"","form":`+added[1]+`}`)
		names = append(names, added[0], sent["request"].(map[string]any)["id"].(string))
	}
	comment := s.must("comments-create", "stranger", `{"request_id":"`+names[5]+`","body":"B"}`)["comment"].(map[string]any)
	link := s.must("links-add", "stranger", `{"request_id":"`+names[5]+`","url":"https://a.example"}`)["link"].(map[string]any)
	names = append(names, "{comment}", comment["id"].(string), "{link}", link["id"].(string),
		"{view}", s.view("stranger"), "{template}", s.template("stranger"),
		"{token}", first(s.token("stranger", `{"name":"CI","scope":"viewer"}`)),
		"{webhook}", s.webhook("stranger"), "{entry}", s.entry("stranger", app["id"].(string)),
		"{status_link}", s.statusLink("stranger", names[5]), "{receiver}", s.names["receiver"],
		"{remark}", s.remark("stranger", "stranger_key", names[5]), "{held}", s.held("stranger", "stranger_key", names[5]))
	return strings.NewReplacer(names...)
}

// webhook returns the id of a new webhook, which receives everything, of the account of a user.
func (s *service) webhook(who string) string {
	s.t.Helper()
	body := s.filled(`{"name":"All","url":"{receiver}","internal":true}`)
	return s.must("webhooks-create", who, body)["webhook"].(map[string]any)["id"].(string)
}

// view returns the id of a new view of a user.
func (s *service) view(who string) string {
	s.t.Helper()
	return s.must("views-create", who, `{"name":"V"}`)["view"].(map[string]any)["id"].(string)
}

// template returns the id of a new reply template of the account of a user.
func (s *service) template(who string) string {
	s.t.Helper()
	return s.must("templates-create", who, `{"name":"T","body":"B"}`)["template"].(map[string]any)["id"].(string)
}

// issueLink returns the id of a new link of {request}.
func (s *service) issueLink() string {
	s.t.Helper()
	added := s.must("links-add", "owner", s.filled(`{"request_id":"{request}","url":"https://a.example"}`))
	return added["link"].(map[string]any)["id"].(string)
}

// statusLink returns the token of a new link to a request.
func (s *service) statusLink(who, request string) string {
	s.t.Helper()
	link := s.must("requests-status-link", who, `{"id":"`+request+`"}`)["url"].(string)
	_, token, _ := strings.Cut(link, "#")
	return token
}

// mention returns the id of a new mention of a user.
func (s *service) mention(who string) string {
	s.t.Helper()
	by := "member"
	if who == by {
		by = "owner"
	}
	s.must("comments-create", by, s.filled(`{"request_id":"{request}","body":"@[A](user:`+s.user(who)+`)"}`))
	return s.must("mentions-list", who, "")["mentions"].([]any)[0].(map[string]any)["id"].(string)
}

// session returns the id of a user's session.
func (s *service) session(who string) string {
	s.t.Helper()
	return s.must("sessions-list", who, "")["sessions"].([]any)[0].(map[string]any)["id"].(string)
}

// user returns the id of a user.
func (s *service) user(who string) string {
	s.t.Helper()
	return s.must("auth-me", who, "")["user"].(map[string]any)["id"].(string)
}

// masked replaces the ids in an answer.
func masked(body []byte) []byte { return requestIDText.ReplaceAll(body, []byte("id")) }

// entry returns the id of a new entry of an app's changelog.
func (s *service) entry(who, app string) string {
	s.t.Helper()
	return s.must("entries-create", who, `{"app_id":"`+app+`","title":"E"}`)["entry"].(map[string]any)["id"].(string)
}
