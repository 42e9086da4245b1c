package api

import (
	"bytes"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// submitSpam makes a submission that goes to quarantine, and returns the id of the request.
func (s *service) submitSpam(title string) string {
	s.t.Helper()
	sent := s.must("widget-submit-request", "key", fmt.Sprintf(`{"title":%q,"description":"","form":{"website":"x"}}`, title))
	return sent["request"].(map[string]any)["id"].(string)
}

// total returns the number of requests in a box.
func (s *service) total(box string) float64 {
	s.t.Helper()
	return s.must("requests-list", "viewer", `{"box":"`+box+`"}`)["total_count"].(float64)
}

// checkCounters fails if a counter is wrong.
func (s *service) checkCounters() {
	s.t.Helper()
	if wrong, err := s.store.Recount(s.t.Context()); err != nil || len(wrong) > 0 {
		s.t.Fatalf("wrong counters: %+v, %v", wrong, err)
	}
}

// lastEvent returns the kind and the summary of the last change of a request. It restores a
// request in the bin, because its history cannot be read there.
func (s *service) lastEvent(id string) string {
	s.t.Helper()
	binned := s.call("requests-get", "viewer", `{"id":"`+id+`"}`).status == http.StatusNotFound
	s.must("requests-restore", "member", `{"id":"`+id+`"}`)
	events := s.must("requests-history", "viewer", `{"request_id":"`+id+`"}`)["events"].([]any)
	if binned {
		events = events[1:]
	}
	e := events[0].(map[string]any)
	return fmt.Sprint(e["kind"], ": ", e["summary"])
}

// reads are calls of all operations that show requests, for an app that shares all of them.
var reads = map[string][]string{
	"widget-submit-request":   {`{"title":"Dark mode","description":"","idempotency_key":"key"}`},
	"widget-similar-requests": {`{"text":"Dark mode"}`, `{"text":"Watches"}`},
	"widget-vote":             {`{"request_id":"{request}","voter":"` + voter + `00","reader":"` + browser + `"}`}, // repeated
	"widget-board":            {`{}`, `{"query":"dark"}`, `{"sort":"new","status":"opened"}`},
	"widget-request":          {`{"id":"{request}"}`},
	"widget-news":             {`{"reader":"` + browser + `"}`},
	"widget-my-requests":      {`{"reader":"` + browser + `"}`},
	// These show no requests.
	"widget-create-upload": nil, "widget-my-link": nil, "widget-reply": nil, "widget-comment": nil, "widget-portal-link": nil,
	"people-blocked": nil, "templates-list": nil, "templates-create": nil, "templates-update": nil, "templates-delete": nil,
	"views-create": nil, "views-update": nil, "views-delete": nil, "mentions-read": nil,
	"webhooks-create": nil, "webhooks-list": nil, "webhooks-get": nil, "webhooks-update": nil, "webhooks-delete": nil, "webhooks-secret": nil,
	"webhooks-test": nil, "webhooks-attempts": nil, "webhooks-rewind": nil, "webhooks-resend": nil, // see TestQuarantine of package webhook
	"tokens-create": nil, "tokens-list": nil, "tokens-revoke": nil, "digest-get": nil, "digest-set": nil,
	"events-list": nil, // it has an event for the submission, but nothing of the request: see TestEventsOfQuarantine
	"requests-list": {
		`{}`, `{"app_id":"{app}"}`, `{"status":"opened"}`, `{"status":["opened","planned"],"app_id":"{app}"}`,
		`{"query":"dark"}`, `{"tag":"night"}`, `{"source":"widget"}`, `{"assignee_id":"none"}`,
		`{"person":{"email":"ada@example.com"}}`, `{"sort":"oldest"}`, `{"sort":"most_voted"}`, `{"sort":"recently_updated"}`,
		`{"created_after":"2020-01-01T00:00:00Z"}`, `{"box":"bin"}`,
		`{"query":"dark","sort":"relevance"}`, `{"box":"live","query":"watches","sort":"relevance"}`, `{"box":"live","query":"wacthes"}`,
	},
	"requests-facets":  {`{}`, `{"query":"dark"}`, `{"tag":"night","assignee_id":"none"}`, `{"box":"bin"}`},
	"requests-get":     {`{"id":"{request}"}`},
	"requests-history": {`{"request_id":"{request}"}`},
	"requests-export":  {`{"format":"csv"}`, `{"format":"jsonl","tag":"night"}`},
	"requests-similar": {`{"id":"{request}"}`, `{"app_id":"{app}","text":"Watches"}`},
	"requests-stats":   {`{}`, `{"app_id":"{app}"}`},
	"votes-list":       {`{"request_id":"{request}"}`},
	"comments-held":    {`{}`},
	"entries-list":     {`{"app_id":"{app}"}`},
	"entries-get":      {`{"id":"{entry}"}`},
	"widget-entries":   {`{}`},
	"comments-list":    {`{"request_id":"{request}"}`},
	"tags-list":        {`{}`},
	"users-list":       {`{}`},
	"apps-list":        {`{}`},
	"apps-get":         {`{"id":"{app}"}`},
	"views-list":       {`{}`},
	"mentions-list":    {`{}`},
}

// read makes all calls of reads and returns the answers by operation and body.
func (s *service) read() map[string]string {
	s.t.Helper()
	answers := map[string]string{}
	for _, o := range s.api.order {
		shows := o.guard == guardWidget ||
			o.guard == guardBearer && o.role == feedback.RoleViewer && o.params.Area != "auth" && o.params.Area != "sessions"
		if _, known := reads[o.name]; shows && !known {
			s.t.Errorf("%s: add calls that show requests to reads", o.name)
		}
		for _, body := range reads[o.name] {
			var said string
			if o.name == "requests-export" {
				said = s.exported(body)
			} else {
				got := s.call(o.name, credentialsOf(o), s.filled(body))
				if got.status != http.StatusOK {
					s.t.Fatalf("%s %s: %s", o.name, body, got.body)
				}
				said = boxesText.ReplaceAllString(string(got.body), "") // the number of requests in quarantine is expected to change
			}
			answers[o.name+" "+body] = said
		}
	}
	return answers
}

var boxesText = regexp.MustCompile(`"boxes":\[[^]]*\],`)

// TestQuarantineIsHidden: requests in quarantine do not change the answers of operations that
// show requests, even after users have changed them. Released requests appear.
func TestQuarantineIsHidden(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.must("apps-update-settings", "owner", s.filled(
			`{"id":"{app}","settings":{"sharing":"all","portal":{"access":"public","slug":"acme"}}}`))
		s.names["request"] = s.must("widget-submit-request", "key", reads["widget-submit-request"][0])["request"].(map[string]any)["id"].(string)
		s.must("requests-update", "member", s.filled(`{"id":"{request}","tags":["night"]}`))
		entry := s.must("entries-create", "member", s.filled(`{"app_id":"{app}","title":"E","request_ids":["{request}"]}`))["entry"]
		s.names["entry"] = entry.(map[string]any)["id"].(string)
		s.must("entries-publish", "member", s.filled(`{"id":"{entry}"}`))
		s.read() // votes for the first time
		s.index()
		before := s.read()

		spam := s.submitSpam("Dark mode")
		s.submitSpam("Watches")
		s.must("requests-update", "member", `{"id":"`+spam+`","tags":["night","cheap"]}`)
		s.must("requests-update", "member", `{"id":"`+spam+`","status":"planned"}`)
		s.must("requests-update", "member", `{"id":"`+spam+`","status":"opened"}`)
		s.must("votes-add", "member", `{"request_id":"`+spam+`","email":"ada@example.com"}`)
		s.must("comments-create", "member", `{"request_id":"`+spam+`","body":"Is it?"}`)
		for _, into := range []string{`{"id":"` + spam + `","into_id":"{request}"}`, `{"id":"{request}","into_id":"` + spam + `"}`} {
			if got := s.call("requests-merge", "member", s.filled(into)); got.code(t) != "requests.quarantined" {
				t.Errorf("%s: %s", into, got.body)
			}
		}
		vote := func(id string) answer {
			return s.call("widget-vote", "key", `{"request_id":"`+id+`","voter":"`+voter+`00"}`)
		}
		if got, nobodys := vote(spam), vote(nobodysID); nobodys.status != http.StatusNotFound || !bytes.Equal(got.body, nobodys.body) {
			t.Errorf("a vote for it: %s", got.body)
		}
		for range 2 {
			for call, said := range s.read() {
				if said != before[call] {
					t.Errorf("%s is\n%s\nand was\n%s", call, said, before[call])
				}
			}
			s.index() // and the second time, with the words that the index has
			s.clock.Move(time.Minute)
		}
		s.checkCounters()

		s.must("requests-release", "member", `{"id":"`+spam+`"}`)
		shown := 0
		for call, said := range s.read() {
			for _, should := range []string{
				`widget-similar-requests {"text":"D`, "requests-list {}", `requests-list {"query`, `requests-list {"tag`,
				`requests-list {"sort":"m`, `requests-list {"app`, "requests-export", `requests-similar {"id`,
				"requests-stats", "tags-list", "requests-facets {}", `requests-facets {"t`,
			} {
				if strings.HasPrefix(call, should) {
					shown++
					if said == before[call] || !strings.Contains(said, spam) && !strings.Contains(said, "cheap") {
						t.Errorf("%s does not show what was released: %s", call, said)
					}
				}
			}
		}
		if shown != 15 {
			t.Errorf("%d calls should show it", shown)
		}
		if got := vote(spam); got.code(t) != "ok" {
			t.Errorf("a vote for what was released: %s", got.body)
		}
		s.checkCounters()
	})
}

// TestQuarantined: a submission that looks like spam gets the same answer as any other, also if
// it is repeated after the request was moved to another box.
func TestQuarantined(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		submit := func(key, form string) answer {
			return s.call("widget-submit-request", "key", `{"title":"Dark mode","description":"D","idempotency_key":"`+key+`","form":`+form+`}`)
		}
		live, spam := submit("a", `{"website":"","seconds":30}`), submit("b", `{"website":"x","seconds":30}`)
		if !bytes.Equal(masked(live.body), masked(spam.body)) || spam.status != http.StatusOK {
			t.Fatalf("%s\n%s", live.body, spam.body)
		}
		s.names["spam"] = uuidText.FindString(string(spam.body))
		again := func(where string) {
			t.Helper()
			for _, form := range []string{`null`, `{"seconds":30}`, `{"website":"y"}`} {
				if got := submit("b", form); !bytes.Equal(got.body, spam.body) {
					t.Errorf("sent again with %s %s: %s", form, where, got.body)
				}
			}
			other := `{"title":"U","description":"","idempotency_key":"b","form":{"website":"x"}}`
			if got := s.call("widget-submit-request", "key", other); got.code(t) != "widget.idempotency_mismatch" {
				t.Errorf("other content %s: %s", where, got.body)
			}
		}
		boxes := func(live, quarantine, bin float64) {
			t.Helper()
			if a, b, c := s.total("live"), s.total("quarantine"), s.total("bin"); a != live || b != quarantine || c != bin {
				t.Errorf("%v live, %v in quarantine, %v in the bin", a, b, c)
			}
			s.checkCounters()
		}
		expect := func(operation, body, want string) {
			t.Helper()
			if got := s.call(operation, "member", s.filled(body)); got.code(t) != want {
				t.Errorf("%s %s: %s, want %s", operation, body, got.body, want)
			}
		}
		last := func(want string) {
			t.Helper()
			if got := s.lastEvent(s.names["spam"]); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		const one, it = `{"id":"{spam}"}`, `{"ids":["{spam}"],"set":{"box":"`
		boxes(1, 1, 0)
		again("in quarantine")
		last("request.created: A visitor created the request.")
		expect("requests-restore", one, "ok") // changes nothing
		boxes(1, 1, 0)
		expect("requests-block", one, "ok")
		boxes(1, 0, 1)
		again("in the bin")
		expect("requests-block", one, "requests.not_found")
		expect("requests-release", one, "requests.not_found")
		expect("requests-restore", one, "ok")
		last("request.restored: Member restored the request from the bin.")
		boxes(2, 0, 0)
		expect("requests-block", one, "requests.not_quarantined")
		again("that is live")

		for _, c := range []struct{ operation, body, want string }{
			{"requests-release", one, "request.released: Member released the request from quarantine."},
			{"requests-block", one, "request.blocked: Member moved the request to the bin as spam."},
			{"requests-delete", one, "request.blocked: Member moved the request to the bin as spam."},
			{"requests-bulk-update", it + `live"}}`, "request.released: Member released the request from quarantine."},
			{"requests-bulk-update", it + `bin"}}`, "request.blocked: Member moved the request to the bin as spam."},
			{
				"requests-bulk-update", `{"filter":{"box":"quarantine"},"expected_count":1,"set":{"box":"live","status":"declined"}}`,
				"request.released: Member released the request from quarantine.",
			},
			{
				"requests-bulk-update", it[:len(it)-len(`"box":"`)] + `"status":"planned"}}`,
				"request.updated: Member changed the status from Open to Planned.",
			},
		} {
			s.names["spam"] = s.submitSpam("Watches")
			expect(c.operation, c.body, "ok")
			last(c.want)
			s.checkCounters()
		}
		boxes(8, 1, 0)
		version := func() any {
			return s.must("requests-release", "member", s.filled(one))["request"].(map[string]any)["version"]
		}
		if first := version(); first != version() {
			t.Error("releasing a live request changes it")
		}
	})
}

// TestQuarantineAtOnce: of concurrent submissions with the same text from one address, four
// become live. After concurrent moves between boxes, the counters agree with the rows.
func TestQuarantineAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s, apis := replicas(t, at)
		ids := make([]string, 24)
		clients := make([]func(int), len(ids))
		for i := range clients {
			clients[i] = func(client int) {
				body := `{"title":"Cheap watches","description":"","form":{"seconds":9}}`
				code, result := resultOf(t, s.at(apis[0], "widget-submit-request", s.names["key"], body))
				if code != "ok" {
					t.Error(code)
					return
				}
				ids[client] = result["request"].(map[string]any)["id"].(string)
			}
		}
		together(clients...)
		if live, spam := s.total("live"), s.total("quarantine"); live != 4 || spam != 20 {
			t.Errorf("%v are live, %v in quarantine", live, spam)
		}
		operations := []string{"requests-release", "requests-block", "requests-restore", "requests-delete"}
		for i := range clients {
			clients[i] = func(client int) {
				for n := range 12 {
					s.at(apis[client%2], operations[(client+n)%len(operations)], s.names["member"], `{"id":"`+ids[(client/3+n)%len(ids)]+`"}`)
				}
			}
		}
		together(clients...)
		if left := s.total("live") + s.total("bin") + s.total("quarantine"); left != float64(len(ids)) {
			t.Errorf("%v are left", left)
		}
		s.checkCounters()
	})
}
