package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gatherkit/internal/feedback"
	"gatherkit/internal/openapi"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/tokens"
)

// samples are valid parameters for each operation. Every operation must be in it, because the
// tests below use it.
var samples = map[string]string{
	"setup-create-owner":      `{"token":"{setup}","account_name":"A","name":"A","email":"new@{domain}","password":"long enough"}`,
	"setup-status":            `{}`,
	"sessions-list":           `{}`,
	"sessions-revoke":         `{"id":"{session}"}`,
	"auth-login":              `{"email":"owner@{domain}","password":"correct horse battery staple"}`,
	"auth-refresh":            `{"refresh_token":"{owner_refresh}"}`,
	"auth-logout":             `{}`,
	"auth-me":                 `{}`,
	"auth-change-password":    `{"current_password":"correct horse battery staple","new_password":"another long password"}`,
	"tokens-create":           `{"name":"CI","scope":"viewer","app_id":"{app}"}`,
	"tokens-list":             `{}`,
	"tokens-revoke":           `{"id":"{token}"}`,
	"apps-create":             `{"name":"Shop"}`,
	"apps-list":               `{}`,
	"apps-get":                `{"id":"{app}"}`,
	"apps-update":             `{"id":"{app}","name":"Shop"}`,
	"apps-update-settings":    `{"id":"{app}","settings":{"sharing":"all"}}`,
	"apps-regenerate-key":     `{"id":"{app}"}`,
	"apps-identity-secret":    `{"id":"{app}","rotate":true}`,
	"apps-delete":             `{"id":"{app}"}`,
	"widget-submit-request":   `{"title":"T","description":"D"}`,
	"widget-create-upload":    `{"filename":"a.txt","content_type":"text/plain","size":5}`,
	"requests-list":           `{"app_id":"{app}"}`,
	"requests-facets":         `{"app_id":"{app}"}`,
	"requests-get":            `{"id":"{request}"}`,
	"requests-update":         `{"id":"{request}","title":"T2"}`,
	"requests-bulk-update":    `{"ids":["{request}"],"set":{"status":"planned"}}`,
	"requests-create":         `{"app_id":"{app}","title":"T","tags":["t"]}`,
	"requests-history":        `{"request_id":"{request}"}`,
	"requests-stats":          `{"app_id":"{app}","from":"2026-01-01"}`,
	"widget-entries":          `{}`,
	"entries-list":            `{"app_id":"{app}"}`,
	"entries-get":             `{"id":"{entry}"}`,
	"entries-create":          `{"app_id":"{app}","title":"T","request_ids":["{request}"]}`,
	"entries-update":          `{"id":"{entry}","request_ids":["{request}"]}`,
	"entries-publish":         `{"id":"{entry}","complete":true}`,
	"entries-unpublish":       `{"id":"{entry}"}`,
	"entries-delete":          `{"id":"{entry}"}`,
	"events-list":             `{"after":0,"app_id":"{app}"}`,
	"tags-list":               `{}`,
	"requests-delete":         `{"id":"{request}"}`,
	"requests-restore":        `{"id":"{request}"}`,
	"requests-release":        `{"id":"{request}"}`,
	"requests-block":          `{"id":"{spam}"}`,
	"webhooks-create":         `{"name":"Desk","url":"{receiver}","app_id":"{app}"}`,
	"webhooks-list":           `{}`,
	"webhooks-get":            `{"id":"{webhook}"}`,
	"webhooks-update":         `{"id":"{webhook}","name":"Desk 2","app_id":"{app}"}`,
	"webhooks-delete":         `{"id":"{webhook}"}`,
	"webhooks-secret":         `{"id":"{webhook}"}`,
	"webhooks-test":           `{"id":"{webhook}"}`,
	"webhooks-attempts":       `{"id":"{webhook}"}`,
	"webhooks-resend":         `{"id":"{webhook}","number":1}`,
	"webhooks-rewind":         `{"id":"{webhook}","after":0}`,
	"users-list":              `{}`,
	"audit-list":              `{}`,
	"templates-list":          `{}`,
	"templates-create":        `{"name":"T","body":"B"}`,
	"templates-update":        `{"id":"{template}","name":"T2"}`,
	"templates-delete":        `{"id":"{template}"}`,
	"views-list":              `{}`,
	"views-create":            `{"name":"V","filter":{"status":"opened"}}`,
	"views-update":            `{"id":"{view}","name":"V2"}`,
	"views-delete":            `{"id":"{view}"}`,
	"mentions-list":           `{"unread":true}`,
	"mentions-read":           `{"ids":["{mention}"]}`,
	"digest-get":              `{}`,
	"digest-set":              `{"every":"daily"}`,
	"account-usage":           `{"days":1}`,
	"mail-status":             `{}`,
	"mail-suppress":           `{"email":"ada@example.com"}`,
	"users-invite":            `{"email":"grace@{domain}","name":"Grace","role":"member"}`,
	"users-recover":           `{"id":"{user}"}`,
	"users-update":            `{"id":"{user}","name":"Grace"}`,
	"users-remove":            `{"id":"{user}"}`,
	"auth-check-invite":       `{"token":"{invite}"}`,
	"auth-accept-invite":      `{"token":"{invite}","password":"long enough"}`,
	"requests-merge":          `{"id":"{request}","into_id":"{other_request}"}`,
	"requests-unmerge":        `{"id":"{request}"}`,
	"votes-add":               `{"request_id":"{request}","email":"ada@example.com"}`,
	"votes-remove":            `{"request_id":"{request}","email":"ada@example.com"}`,
	"votes-list":              `{"request_id":"{request}"}`,
	"widget-vote":             `{"request_id":"{request}","voter":"0c9f5e9a-6d0c-4f53-9f0a-3b1f0f6f5a11"}`,
	"requests-export":         `{"app_id":"{app}","format":"csv"}`,
	"comments-list":           `{"request_id":"{request}"}`,
	"comments-create":         `{"request_id":"{request}","body":"B"}`,
	"comments-update":         `{"request_id":"{request}","id":"{comment}","body":"B2"}`,
	"comments-delete":         `{"request_id":"{request}","id":"{comment}"}`,
	"widget-news":             `{"reader":"` + browser + `"}`,
	"widget-my-requests":      `{"reader":"` + browser + `"}`,
	"widget-my-link":          `{"reader":"` + browser + `"}`,
	"widget-reply":            `{"reader":"` + browser + `","request_id":"{request}","body":"B"}`,
	"mine-list":               `{"token":"{status_link}"}`,
	"mine-reply":              `{"token":"{status_link}","request_id":"{request}","body":"B"}`,
	"requests-status-link":    `{"id":"{request}"}`,
	"requests-revoke-links":   `{"id":"{request}"}`,
	"links-add":               `{"request_id":"{request}","url":"https://github.com/acme/shop/issues/1"}`,
	"links-remove":            `{"request_id":"{request}","id":"{link}"}`,
	"portal-check":            `{"app_id":"{app}"}`,
	"portal-rotate-link":      `{"id":"{app}"}`,
	"comments-held":           `{"app_id":"{app}"}`,
	"comments-release":        `{"id":"{held}"}`,
	"comments-block":          `{"id":"{held}","person":true}`,
	"people-block":            `{"app_id":"{app}","request_id":"{request}","comment_id":"{remark}"}`,
	"people-unblock":          `{"app_id":"{app}","key":"n:ada"}`,
	"people-blocked":          `{"app_id":"{app}"}`,
	"people-find":             `{"email":"nobody@example.com"}`,
	"people-rectify":          `{"email":"nobody@example.com","new_name":"Nobody"}`,
	"people-erase":            `{"email":"nobody@example.com","mode":"delete","expected":0}`,
	"votes-discard":           `{"request_id":"{request}","from":"2026-01-01T00:00:00Z","to":"2026-02-01T00:00:00Z"}`,
	"widget-comment":          `{"request_id":"{request}","body":"B","voter":"0c9f5e9a-6d0c-4f53-9f0a-3b1f0f6f5a11"}`,
	"widget-board":            `{"query":"T","limit":5}`,
	"widget-request":          `{"id":"{request}"}`,
	"widget-portal-link":      `{"identity_token":"{proof}"}`,
	"widget-similar-requests": `{"text":"T"}`,
	"requests-similar":        `{"app_id":"{app}","text":"T"}`,
}

// browser is the secret of a reader.
const browser = "0197a2b3c4d500112233445566778899aabbccddeeff00112233445566778899"

func sample(t testing.TB, name string) string {
	t.Helper()
	text, ok := samples[name]
	if !ok {
		t.Fatalf("add %s to samples", name)
	}
	return text
}

// credentialsOf returns the name of credentials that an operation accepts.
func credentialsOf(o *op) string {
	switch o.guard {
	case guardWidget:
		return "key"
	case guardBearer:
		return "owner"
	}
	return ""
}

// TestRoles calls every operation with every role. Only roles at or above the operation's role
// are allowed.
func TestRoles(t *testing.T) {
	t.Parallel()
	s := newService(t, storetest.SQLite(t))
	for _, role := range feedback.Roles() {
		account, changed := "", true
		for _, o := range s.api.order {
			if o.guard != guardBearer {
				continue
			}
			t.Run(o.name+"/"+string(role), func(t *testing.T) {
				if changed {
					account = o.name + "." + string(role)
					s.anotherAccount(account)
					s.names["request"], s.names["other_request"], s.names["spam"] = s.submit("T"), s.submit("U"), s.submitSpam("S")
					s.names["comment"], s.names["session"], s.names["link"] = s.comment(role), s.session(string(role)), s.issueLink()
					s.names["user"], s.names["view"], s.names["mention"] = s.user("viewer"), s.view(string(role)), s.mention(string(role))
					s.names["token"], _ = s.token(string(role), `{"name":"CI","scope":"viewer"}`)
					s.names["webhook"], s.names["entry"] = s.webhook("owner"), s.entry("owner", s.names["app"])
					s.names["template"] = s.template("owner")
					s.addRemarks()
				}
				body := strings.ReplaceAll(sample(t, o.name), "grace@", account+".grace@")
				got := s.call(o.name, string(role), s.filled(body))
				changed = got.status == http.StatusOK && !onlyReads.MatchString(o.name)
				if want := role.Allows(o.role); want != (got.status == http.StatusOK) || !want && got.code(t) != "auth.forbidden" {
					t.Errorf("%d %s", got.status, got.body)
				}
			})
		}
	}
}

// onlyReads matches the names of operations that change nothing.
var onlyReads = regexp.MustCompile(`-(attempts|blocked|check|facets|get|held|history|list|me|similar|stats)$`)

// anotherAccount creates an account with users and an app, which get the names of those of the
// first account.
func (s *service) anotherAccount(account string) {
	s.t.Helper()
	for _, role := range feedback.Roles() {
		name := account + "." + string(role)
		s.addUser(account, name, role)
		s.names[string(role)] = s.names[name]
		delete(s.names, name)
		delete(s.names, name+"_refresh")
	}
	s.addApp()
}

// TestGuards calls every operation without credentials, with credentials of the wrong kind, and
// with invalid ones.
func TestGuards(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.names["junk"] = "gat_" + strings.Repeat("0", 71)
	s.names["junk_key"] = "gk_" + strings.Repeat("z", 38)
	for _, o := range s.api.order {
		wants := map[string]string{
			"": "auth.missing_token", "key": "auth.missing_token", "junk": "auth.invalid_token", "owner_refresh": "auth.invalid_token",
		}
		if o.guard == guardWidget {
			wants = map[string]string{"": "auth.missing_api_key", "owner": "auth.missing_api_key", "junk_key": "auth.invalid_api_key"}
		}
		if o.guard == guardPublic {
			continue
		}
		for who, want := range wants {
			// The body is invalid, but the guard must refuse the call before it is decoded.
			if got := s.call(o.name, who, "{"); got.status != http.StatusUnauthorized || got.code(t) != want {
				t.Errorf("%s as %q: %d %s, want %s", o.name, who, got.status, got.body, want)
			}
		}
	}
}

// snapshot returns the lists that the owner can see.
func (s *service) snapshot() string {
	s.t.Helper()
	var lists []string
	for _, name := range []string{"apps-list", "requests-list", "users-list", "views-list", "mentions-list", "webhooks-list"} {
		lists = append(lists, string(s.call(name, "owner", "").body))
	}
	lists = append(lists, string(s.call("requests-list", "owner", `{"box":"quarantine"}`).body),
		string(s.call("entries-list", "owner", s.filled(`{"app_id":"{app}"}`)).body),
		string(s.call("comments-held", "owner", "").body), string(s.call("people-blocked", "owner", s.filled(`{"app_id":"{app}"}`)).body))
	return strings.Join(lists, "\n")
}

// TestMassAssignment sends the name of every column and of every field of a record as an extra
// parameter. It must be refused, and nothing may change.
func TestMassAssignment(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.names["request"] = s.submit("T")
	before := s.snapshot()
	for _, o := range s.api.order {
		for _, name := range columnNames() {
			if slices.Contains(o.params.Names, name) {
				continue
			}
			var body map[string]any
			if err := json.Unmarshal([]byte(s.filled(sample(t, o.name))), &body); err != nil {
				t.Fatal(err)
			}
			body[name] = "x"
			text, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			got := s.call(o.name, credentialsOf(o), string(text))
			if got.code(t) != "api.unknown_parameter" {
				t.Errorf("%s with %s: %d %s", o.name, name, got.status, got.body)
			}
		}
	}
	if after := s.snapshot(); before != after {
		t.Errorf("an extra parameter has changed something:\n%s\n%s", before, after)
	}
}

// columnNames returns the fields of records and other columns.
func columnNames() []string {
	names := []string{
		"account_id", "key_hash", "password_hash", "role", "box", "deleted_at", "idempotency_key",
		"fingerprint", "seq", "expires_at", "ready", "is_admin", "__proto__",
	}
	for _, record := range []any{
		feedback.App{},
		feedback.Request{},
		feedback.Member{},
		feedback.Account{},
		feedback.Submitter{},
		feedback.Comment{},
		feedback.HeldComment{},
		feedback.BlockedPerson{},
		feedback.Link{},
		feedback.Entry{},
		feedback.Attachment{},
		tokens.Token{},
	} {
		typ := reflect.TypeOf(record)
		for i := range typ.NumField() {
			if name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ","); name != "" && name != "-" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// TestSchemasAgreeWithTheRules compares the enums in struct tags with those of feedback.
func TestSchemasAgreeWithTheRules(t *testing.T) {
	a := newService(t, storetest.SQLite(t)).api
	schemas := openapi.Records(a.described(t)).Map()
	for _, c := range []struct {
		got  []any
		want string
	}{
		{schemas["Request"].Properties["status"].Enum, fmt.Sprint(feedback.Statuses())},
		{a.ops["requests-update"].params.Schema.Properties["status"].Enum, fmt.Sprint(feedback.Settable())},
		{schemas["Member"].Properties["role"].Enum, fmt.Sprint(feedback.Roles())},
	} {
		if fmt.Sprint(c.got) != c.want {
			t.Errorf("%v, want %s", c.got, c.want)
		}
	}
}
