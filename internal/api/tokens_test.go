package api

import (
	"bytes"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/limits"
	"gatherkit/internal/rate"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/tokens"
)

// token creates a token, and returns its id and its secret.
func (s *service) token(who, body string) (id, secret string) {
	s.t.Helper()
	made := s.must("tokens-create", who, s.filled(body))
	return made["token"].(map[string]any)["id"].(string), made["secret"].(string)
}

func first(a, _ string) string { return a }

// scopes are the roles that a token can have.
var scopes = []feedback.Role{feedback.RoleViewer, feedback.RoleMember, feedback.RoleAdmin}

// onlyForSessions and onlyForUsers are the operations that no token may call, and no service token.
var (
	onlyForSessions = []string{
		"auth-logout", "auth-change-password", "sessions-list", "sessions-revoke", "tokens-create", "tokens-list", "tokens-revoke",
		"apps-identity-secret", "portal-rotate-link", "requests-status-link", "webhooks-create", "webhooks-update", "webhooks-secret",
		"users-invite", "users-recover", "users-update", "users-remove",
		"digest-get", "digest-set",
	}
	onlyForUsers = []string{"views-list", "views-create", "views-update", "views-delete", "mentions-list", "mentions-read"}
)

// TestTokenRoles calls every operation with a token of each kind and scope. A token may call what its
// role may, but not what hands out credentials.
func TestTokenRoles(t *testing.T) {
	t.Parallel()
	s := newService(t, storetest.SQLite(t))
	for _, scope := range scopes {
		for _, kind := range []tokens.Kind{tokens.Personal, tokens.Service} {
			changed := true
			for _, o := range s.api.order {
				if o.guard != guardBearer {
					continue
				}
				t.Run(o.name+"/"+string(kind)+"/"+string(scope), func(t *testing.T) {
					if changed {
						s.anotherAccount(o.name + string(kind) + string(scope))
						s.names["request"], s.names["other_request"], s.names["spam"] = s.submit("T"), s.submit("U"), s.submitSpam("S")
						id, secret := s.token("owner", fmt.Sprintf(`{"name":"CI","scope":%q,"kind":%q}`, scope, kind))
						s.names["program"], s.names["token"], s.names["webhook"] = secret, id, s.webhook("owner")
						s.names["comment"], s.names["session"], s.names["link"] = s.comment(feedback.RoleOwner), s.session("owner"), s.issueLink()
						s.names["user"], s.names["view"], s.names["mention"] = s.user("viewer"), s.view("owner"), s.mention("owner")
						if kind == tokens.Service && scope != feedback.RoleViewer { // it may change only its own
							s.names["comment"] = s.commentBy("program")
						}
						s.names["entry"], s.names["template"] = s.entry("owner", s.names["app"]), s.template("owner")
						s.addRemarks()
					}
					got := s.call(o.name, "program", s.filled(sample(t, o.name)))
					allowed := scope.Allows(o.role) && !slices.Contains(onlyForSessions, o.name) &&
						(kind == tokens.Personal || !slices.Contains(onlyForUsers, o.name))
					if allowed != (got.status == http.StatusOK) || !allowed && got.code(t) != "auth.forbidden" {
						t.Errorf("%d %s", got.status, got.body)
					}
					changed = got.status == http.StatusOK && !onlyReads.MatchString(o.name)
				})
			}
		}
	}
}

// aboutApps are the operations that a token for one app may call.
var aboutApps = []string{
	"apps-list", "apps-get", "apps-update", "apps-update-settings", "apps-regenerate-key", "apps-delete",
	"requests-list", "requests-facets", "requests-get", "requests-create", "requests-update", "requests-bulk-update", "requests-delete",
	"requests-restore", "requests-release", "requests-block", "requests-merge", "requests-unmerge", "votes-add", "votes-remove", "votes-list",
	"comments-list", "comments-create", "comments-update", "comments-delete", "links-add", "links-remove", "requests-history",
	"requests-export", "requests-similar", "requests-stats", "requests-status-link", "requests-revoke-links", "events-list",
	"entries-list", "entries-get", "entries-create", "entries-update", "entries-publish", "entries-unpublish", "entries-delete",
	"portal-check", "comments-held", "comments-release", "comments-block", "people-block", "people-unblock", "people-blocked", "votes-discard",
}

// TestTokenOfOneApp: a token that is limited to an app can do with its data what others can. For data of
// other apps, it gets the same answers as for data that does not exist, and changes nothing.
func TestTokenOfOneApp(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		other := s.must("apps-create", "owner", `{"name":"Other"}`)["app"].(map[string]any)
		fill := func() {
			s.names["request"], s.names["other_request"], s.names["spam"] = s.submit("T"), s.submit("U"), s.submitSpam("S")
			s.names["comment"], s.names["link"] = s.comment(feedback.RoleOwner), s.issueLink()
			s.names["entry"] = s.entry("owner", s.names["app"])
			s.addRemarks()
		}
		fill()
		s.names["view"], s.names["mention"], s.names["webhook"] = s.view("owner"), s.mention("owner"), s.webhook("owner")
		s.names["template"] = s.template("owner")
		_, s.names["program"] = s.token("owner", `{"name":"CI","scope":"admin","app_id":"{app}"}`)
		_, s.names["others_program"] = s.token("owner", `{"name":"CI","scope":"admin","app_id":"`+other["id"].(string)+`"}`)
		random := feedback.NewIDs(s.clock.Now, strings.NewReader(strings.Repeat("r", 1<<10))).New().String()
		for _, o := range s.api.order {
			if o.guard != guardBearer || slices.Contains(onlyForSessions, o.name) || o.name == "apps-delete" || o.name == "auth-me" {
				continue // auth-me is about the token itself
			}
			body := s.filled(sample(t, o.name))
			if !slices.Contains(aboutApps, o.name) {
				if got := s.call(o.name, "program", body); got.code(t) != "auth.forbidden" {
					t.Errorf("%s: %d %s", o.name, got.status, got.body)
				}
				continue
			}
			before := s.snapshot()
			nothing := sample(t, o.name)
			for _, noun := range []string{"app", "request", "other_request", "spam", "comment", "link", "entry", "held", "remark"} {
				nothing = strings.ReplaceAll(nothing, "{"+noun+"}", random)
			}
			if o.name != "apps-list" {
				foreign, unknown := s.call(o.name, "others_program", body), s.call(o.name, "others_program", nothing)
				if foreign.status != http.StatusNotFound || !bytes.Equal(masked(foreign.body), masked(unknown.body)) {
					t.Errorf("%s of another app: %d %s, and of none: %s", o.name, foreign.status, foreign.body, unknown.body)
				}
			}
			if after := s.snapshot(); before != after {
				t.Errorf("%s has changed another app", o.name)
			}
			if got := s.call(o.name, "program", body); got.status != http.StatusOK {
				t.Errorf("%s: %d %s", o.name, got.status, got.body)
			}
			s.names["key"] = s.must("apps-get", "owner", s.filled(`{"id":"{app}"}`))["app"].(map[string]any)["api_key"].(string)
			fill()
		}
		// What lists and filters without an app return.
		for name, body := range map[string]string{
			"requests-list": `{}`, "requests-stats": `{"from":"2026-01-01"}`, "requests-facets": `{}`, "requests-similar": `{"text":"T"}`,
		} {
			inApp := strings.Replace(strings.Replace(body, "{", `{"app_id":"`+s.names["app"]+`",`, 1), ",}", "}", 1)
			got, want := s.must(name, "program", body), s.must(name, "owner", inApp)
			if name != "requests-list" && fmt.Sprint(got) != fmt.Sprint(want) || fmt.Sprint(got["total_count"]) != fmt.Sprint(want["total_count"]) {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
			none := s.must(name, "others_program", body)
			apps, counted := none["apps"].([]any)
			if none["requests"] != nil && len(none["requests"].([]any)) > 0 ||
				counted && (len(apps) != 1 || apps[0].(map[string]any)["app_id"] != other["id"]) {
				t.Errorf("%s shows another app: %v", name, none)
			}
		}
		list := `{"filter":{},"expected_count":0,"set":{"status":"planned"}}`
		if got := s.must("requests-bulk-update", "others_program", list); fmt.Sprint(got) != "map[updated:0]" {
			t.Errorf("a change of all requests: %v", got)
		}
		apps := s.must("apps-list", "others_program", `{"limit":1}`)
		if fmt.Sprint(apps["total_count"]) != "1" || apps["apps"].([]any)[0].(map[string]any)["name"] != "Other" {
			t.Errorf("apps: %v", apps)
		}
		// The cursor of another page does not lead out of the app.
		page := s.must("requests-list", "owner", `{"limit":1}`)
		got := s.call("requests-list", "others_program", `{"limit":1,"cursor":"`+page["next_cursor"].(string)+`"}`)
		if got.code(t) != "requests.invalid_cursor" {
			t.Errorf("a cursor of all apps: %d %s", got.status, got.body)
		}
		s.must("apps-delete", "others_program", `{"id":"`+other["id"].(string)+`"}`)
		if got := s.call("apps-list", "others_program", ""); got.code(t) != "auth.invalid_token" {
			t.Errorf("after the app was deleted: %s", got.body)
		}
	})
}

// TestTokenLife: a token works until it expires or is revoked, or until its user is removed. It has
// never more rights than its user.
func TestTokenLife(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.names["request"] = s.submit("T")
		check := func(who, want string) {
			t.Helper()
			if got := s.call("requests-get", who, s.filled(`{"id":"{request}"}`)); got.code(t) != want {
				t.Errorf("%s: %d %s, want %s", who, got.status, got.body, want)
			}
		}
		_, s.names["short"] = s.token("viewer", fmt.Sprintf(`{"name":"Short","scope":"viewer","expires_at":%q}`,
			s.clock.Now().Add(time.Hour).Format(time.RFC3339)))
		revoked, secret := s.token("viewer", `{"name":"Revoked","scope":"viewer"}`)
		s.names["revoked"] = secret
		_, s.names["lowered"] = s.token("admin", `{"name":"Lowered","scope":"admin"}`)
		_, s.names["kept"] = s.token("admin", `{"name":"Kept","scope":"admin","kind":"service"}`)
		check("short", "ok")
		check("revoked", "ok")
		if used := s.must("tokens-list", "viewer", "")["tokens"].([]any)[0].(map[string]any)["used_at"]; used == nil {
			t.Error("the use of a token is not stored")
		}
		s.must("tokens-revoke", "viewer", `{"id":"`+revoked+`"}`)
		check("revoked", "auth.invalid_token")
		if got := s.call("tokens-revoke", "viewer", `{"id":"`+revoked+`"}`); got.code(t) != "tokens.not_found" {
			t.Errorf("revoked again: %s", got.body)
		}
		s.must("users-update", "owner", `{"id":"`+s.user("admin")+`","role":"viewer"}`)
		if got := s.call("requests-update", "lowered", s.filled(`{"id":"{request}","title":"U"}`)); got.code(t) != "auth.forbidden" {
			t.Errorf("a token of a user who became a viewer: %s", got.body)
		}
		check("lowered", "ok")
		link := s.linkOf("lowered", `{"format":"jsonl"}`)
		s.must("users-remove", "owner", `{"id":"`+s.user("admin")+`"}`)
		check("lowered", "auth.invalid_token")
		check("kept", "ok")
		if got := s.open(http.MethodGet, link); got.status != http.StatusNotFound {
			t.Errorf("a link of a removed user's token: %d", got.status)
		}
		s.clock.Move(time.Hour)
		check("short", "auth.token_expired")
		if got := s.open(http.MethodGet, s.linkOf("kept", `{"format":"jsonl"}`)); got.status != http.StatusOK {
			t.Errorf("a token's link: %d %s", got.status, got.body)
		}
		s.clock.Move(90 * 24 * time.Hour)
		check("kept", "auth.token_expired")
	})
}

// TestServiceTokenAsAuthor: comments of a service token have its name, also in the list of mentions.
func TestServiceTokenAsAuthor(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.names["request"] = s.submit("T")
		id, secret := s.token("owner", `{"name":"Support desk","scope":"member","kind":"service"}`)
		s.names["program"] = secret
		body := s.filled(`{"request_id":"{request}","body":"@[V](user:` + s.user("viewer") + `)"}`)
		want := map[string]any{"id": id, "name": "Support desk", "kind": "team"}
		if got := s.must("comments-create", "program", body)["comment"].(map[string]any)["author"]; !reflect.DeepEqual(got, want) {
			t.Errorf("the author of the comment is %v", got)
		}
		if got := s.must("mentions-list", "viewer", "")["mentions"].([]any)[0].(map[string]any)["author"]; !reflect.DeepEqual(got, want) {
			t.Errorf("the author of the mention is %v", got)
		}
	})
}

// TestTokenUse: the time of the last use is stored once a minute.
func TestTokenUse(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	_, s.names["program"] = s.token("owner", `{"name":"CI","scope":"viewer"}`)
	used := func() any {
		return s.must("tokens-list", "owner", "")["tokens"].([]any)[0].(map[string]any)["used_at"]
	}
	var times []any
	for range 4 {
		s.must("apps-list", "program", "")
		times = append(times, used())
		s.clock.Move(20 * time.Second)
	}
	if times[0] == nil || times[1] != times[0] || times[2] != times[0] || times[3] == times[0] {
		t.Errorf("uses at 0, 20, 40 and 60 s: %v", times)
	}
}

// TestTokenRate: a token may send 600 calls a minute, and does not slow down another one.
func TestTokenRate(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	_, s.names["busy"] = s.token("owner", `{"name":"Busy","scope":"viewer"}`)
	_, s.names["calm"] = s.token("owner", `{"name":"Calm","scope":"viewer"}`)
	for i := range limits.CallsPerToken {
		if got := s.call("tags-list", "busy", ""); got.status != http.StatusOK {
			t.Fatalf("call %d: %s", i, got.body)
		}
	}
	if got := s.call("tags-list", "busy", ""); got.code(t) != "api.rate_limited" || got.header.Get("Retry-After") == "" {
		t.Errorf("%d %s", got.status, got.body)
	}
	s.must("tags-list", "calm", "")
	s.clock.Move(2 * time.Minute)
	s.must("tags-list", "busy", "")
}

// TestSessionRate: a session may make 1,200 calls a minute, and does not slow down another one. Calls from this machine
// have no limit.
func TestSessionRate(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	call := func(from string) answer {
		r := s.request("tags-list", "viewer", "")
		r.RemoteAddr = from + ":4711"
		return serve(s.api, r)
	}
	for i := range limits.CallsPerSession + 10 {
		if got := call("127.0.0.1"); got.status != http.StatusOK {
			t.Fatalf("call %d from this machine: %s", i, got.body)
		}
	}
	for i := range limits.CallsPerSession {
		if got := call("198.51.100.1"); got.status != http.StatusOK {
			t.Fatalf("call %d: %s", i, got.body)
		}
	}
	if got := call("198.51.100.2"); got.code(t) != "api.rate_limited" || !bytes.Contains(got.body, []byte("A session can")) ||
		got.header.Get("Retry-After") == "" {
		t.Errorf("%d %s", got.status, got.body)
	}
	s.must("tags-list", "member", "")
	s.clock.Move(2 * time.Minute)
	s.must("tags-list", "viewer", "")
}

// TestTokensMade: a user creates 60 tokens an hour. Those that were never used leave nothing but their entries in the
// audit log.
func TestTokensMade(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newMailed(t, at)
		for range 60 {
			id, _ := s.token("viewer", `{"name":"CI","scope":"viewer"}`)
			s.must("tokens-revoke", "viewer", `{"id":"`+id+`"}`)
		}
		if got := s.call("tokens-create", "viewer", `{"name":"CI","scope":"viewer"}`); got.code(t) != "api.rate_limited" {
			t.Errorf("one more: %s", got.body)
		}
		if n := s.raw("SELECT COUNT(*) FROM access_tokens"); n != int64(0) {
			t.Errorf("%v rows of tokens that were never used", n)
		}
		id, _ := s.token("member", `{"name":"Used","scope":"viewer"}`)
		_, s.names["program"] = s.token("member", `{"name":"Used","scope":"member"}`)
		s.must("requests-create", "program", s.filled(`{"app_id":"{app}","title":"T","description":""}`))
		s.must("tokens-revoke", "member", `{"id":"`+id+`"}`)
		for _, t := range s.must("tokens-list", "member", "")["tokens"].([]any) {
			s.must("tokens-revoke", "member", `{"id":"`+t.(map[string]any)["id"].(string)+`"}`)
		}
		if n := s.raw("SELECT COUNT(*) FROM access_tokens WHERE name = 'Used' AND used_at IS NOT NULL"); n != int64(1) {
			t.Errorf("%v rows of a token that has changed something", n)
		}
	})
}

// TestTokenCounters: when very many tokens call, those of an account share a counter.
func TestTokenCounters(t *testing.T) {
	r, now := limits.New(0).Tokens, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	id := func(n int) feedback.ID { return feedback.ID{byte(n >> 16), byte(n >> 8), byte(n)} }
	for n := range rate.MaxCounted * 2 {
		_ = r.Allow(limits.Holder{Account: id(1), Session: id(n)}, 1, now)
	}
	if r.Counted() > rate.MaxCounted {
		t.Errorf("%d counters", r.Counted())
	}
	if r.Allow(limits.Holder{Account: id(1), Session: id(rate.MaxCounted * 3)}, 1, now) == nil {
		t.Error("a new token of an account with very many has no limit")
	}
	if err := r.Allow(limits.Holder{Account: id(2), Session: id(1)}, 1, now); err != nil {
		t.Error(err)
	}
}

// TestTokenLimits: a user has at most 50 tokens that work, and so has the account.
func TestTokenLimits(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		for _, kind := range []tokens.Kind{tokens.Personal, tokens.Service} {
			body := fmt.Sprintf(`{"name":"CI","scope":"viewer","kind":%q}`, kind)
			id := ""
			for range tokens.Max {
				id, _ = s.token("owner", body)
			}
			if got := s.call("tokens-create", "owner", body); got.code(t) != "tokens.too_many" {
				t.Errorf("one more: %s", got.body)
			}
			s.must("tokens-create", "admin", `{"name":"CI","scope":"viewer"}`)
			s.must("tokens-revoke", "owner", `{"id":"`+id+`"}`)
			s.token("owner", body)
			s.clock.Move(2 * time.Hour)
			s.logIn("owner")
			s.logIn("admin")
		}
		s.clock.Move(91 * 24 * time.Hour) // they have expired
		s.logIn("owner")
		s.token("owner", `{"name":"CI","scope":"viewer"}`)
	})
}
