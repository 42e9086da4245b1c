package api

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/calls"
	"gatherkit/internal/feedback"
	"gatherkit/internal/signed"
	"gatherkit/internal/store/storetest"
)

// mailed is a service whose database a test reads.
type mailed struct {
	*service
	db *sql.DB
}

func newMailed(t *testing.T, at storetest.Place) *mailed {
	t.Helper()
	return &mailed{newService(t, at, func(o *Options) { o.SubmitRate = 600 }), at.Raw(t)}
}

// mailCall calls a page of mails. The pairs are headers.
func (s *mailed) mailCall(method, path, token, body string, headers ...string) answer {
	r := httptest.NewRequest(method, path+"?t="+token, strings.NewReader(body))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return serve(s.api, r)
}

// wantsMail submits a request about which somebody wants mail, and lets the service write what is due. It
// returns the tokens of the links that confirm, stop mail about the request, and stop all.
func (s *mailed) wantsMail(email string) (confirm, stop, stopAll string) {
	s.t.Helper()
	sent := s.must("widget-submit-request", "key", `{"title":"Dark mode","description":"","email":"`+email+`","notify":true,"locale":"de-AT"}`)
	request := sent["request"].(map[string]any)["id"].(string)
	if err := s.api.Mail.Round(s.t.Context()); err != nil { // which cannot send them
		s.t.Fatal(err)
	}
	id := func(text string) feedback.ID {
		parsed, err := feedback.ParseID(text)
		if err != nil {
			s.t.Fatal(err)
		}
		return parsed
	}
	l := signed.MailLink{
		Purpose: signed.ForConfirm, AppID: id(s.names["app"]),
		AccountID: id(s.must("auth-me", "owner", "")["account"].(map[string]any)["id"].(string)),
	}
	copy(l.Address[:], s.raw("SELECT address FROM mail_people WHERE email = $1", email).([]byte))
	confirm = l.Text(s.api.mailKey)
	l.Purpose = signed.ForStop
	stopAll = l.Text(s.api.mailKey)
	l.RequestID = id(request)
	return confirm, l.Text(s.api.mailKey), stopAll
}

func (s *mailed) raw(query string, args ...any) (v any) {
	s.t.Helper()
	if err := s.db.QueryRowContext(s.t.Context(), query, args...).Scan(&v); err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	return v
}

func (s *mailed) stateOfMail() string {
	s.t.Helper()
	state := s.raw("SELECT state FROM mail_people")
	if text, ok := state.([]byte); ok {
		return string(text)
	}
	return state.(string)
}

// TestMailPages: only the buttons of the pages change something, and programs for mail stop it in one click.
func TestMailPages(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newMailed(t, at)
		s.must("apps-update-settings", "admin", s.filled(`{"id":"{app}","settings":{"public_name":"Acme"}}`))
		confirm, stop, stopAll := s.wantsMail("ada@example.com")
		want := func(state string) {
			t.Helper()
			if got := s.stateOfMail(); got != state {
				t.Errorf("the state is %s, want %s", got, state)
			}
		}
		for _, c := range []struct{ path, token, text string }{
			{confirmPath, confirm, "Yes, e-mail me"}, {stopPath, stop, "no more e-mails about “"}, {stopPath, stopAll, "How often?"},
		} {
			got := s.mailCall(http.MethodGet, c.path, c.token, "")
			wantPage(t, got, http.StatusOK, c.text, "Acme", `action="`+strings.TrimPrefix(c.path, "/mail/")+"?t="+c.token)
			if head := s.mailCall(http.MethodHead, c.path, c.token, ""); head.status != http.StatusOK {
				t.Errorf("HEAD: %d", head.status)
			}
			if strings.Contains(string(got.body), "<script") {
				t.Error("the page has a script")
			}
		}
		want("asked")
		wantPage(t, s.mailCall(http.MethodPost, confirmPath, confirm, "do=stop"), http.StatusOK, "Yes, e-mail me")
		wantPage(t, s.mailCall(http.MethodPost, confirmPath, confirm, "do=confirm", "Sec-Fetch-Site", "cross-site"),
			http.StatusForbidden, "another site")
		wantPage(t, s.mailCall(http.MethodPost, stopPath, stopAll, "{}", "Content-Type", "application/json"),
			http.StatusUnsupportedMediaType, "List-Unsubscribe=One-Click")
		want("asked")
		before := s.used(s.accountID()).Calls
		wantPage(t, s.mailCall(http.MethodPost, confirmPath, confirm, "do=confirm"), http.StatusOK, "You&#39;re subscribed")
		if n := s.used(s.accountID()).Calls - before; n != 1 {
			t.Errorf("%d calls were counted", n)
		}
		want("confirmed")
		wantPage(t, s.mailCall(http.MethodGet, confirmPath, confirm, ""), http.StatusOK, "You&#39;re subscribed")
		wantPage(t, s.mailCall(http.MethodGet, stopPath, stopAll, "", "Accept-Language", "de"), http.StatusOK, "E-Mails beenden", `lang="de"`)

		wantPage(t, s.mailCall(http.MethodPost, stopPath, stopAll, "do=daily"), http.StatusOK, "Saved.", `value="daily" checked`)
		wantPage(t, s.mailCall(http.MethodPost, stopPath, stopAll, "do=soon"), http.StatusOK, "Saved.", `value="soon" checked`)
		want("confirmed")
		wantPage(t, s.mailCall(http.MethodPost, stopPath, stop, "do=stop"), http.StatusOK, "Stopped")
		if n := s.raw("SELECT COUNT(*) FROM mail_follows"); n != int64(0) {
			t.Errorf("%v requests are followed", n)
		}
		want("confirmed")
		for _, one := range []struct{ body, media string }{
			{"List-Unsubscribe=One-Click", "application/x-www-form-urlencoded"},
			{"--x\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--x--\r\n", "multipart/form-data; boundary=x"},
			{"List-Unsubscribe=One-Click", "text/plain; charset=utf-8"},
			{"List-Unsubscribe=One-Click", ""},
			{"", "application/x-www-form-urlencoded"},
			{"", "text/plain"},
			{"", "multipart/form-data; boundary=x"},
			{"", ""},
			{"\r\n", ""},
		} {
			wantPage(t, s.mailCall(http.MethodPost, confirmPath, confirm, "do=confirm"), http.StatusOK)
			want("confirmed")
			r := httptest.NewRequest(http.MethodPost, stopPath+"?t="+stopAll, strings.NewReader(one.body))
			if one.media != "" {
				r.Header.Set("Content-Type", one.media) // and no Origin
			}
			wantPage(t, serve(s.api, r), http.StatusOK, "Stopped")
			want("stopped")
		}
		wantPage(t, s.mailCall(http.MethodGet, stopPath, stopAll, ""), http.StatusOK, "Stopped")

		wantPage(t, s.mailCall(http.MethodPost, confirmPath, confirm, "do=confirm"), http.StatusOK)
		for media, body := range map[string]string{
			"application/json": "{}", "application/x-www-form-urlencoded": strings.Repeat("x", calls.MaxForm+1),
		} {
			got := s.mailCall(http.MethodPost, stopPath, stopAll, body, "Content-Type", media)
			wantPage(t, got, got.status, "That did not work")
			if text := string(got.body); got.status < 400 || got.status > 499 || strings.Contains(text, "unavailable") {
				t.Errorf("%s: %d %s", media, got.status, text)
			}
		}
		want("confirmed")
	})
}

// TestMailLinks: a link works only for its purpose and as it was signed, and not for an address that takes no
// mail or is gone.
func TestMailLinks(t *testing.T) {
	s := newMailed(t, storetest.SQLite(t))
	confirm, stop, _ := s.wantsMail("ada@example.com")
	for name, c := range map[string]struct{ path, token string }{
		"another purpose": {confirmPath, stop}, "the other purpose": {stopPath, confirm}, "none": {stopPath, ""}, "words": {stopPath, "x"},
		"shorter": {stopPath, stop[:len(stop)-2]}, "changed": {stopPath, strings.Replace(stop, stop[30:32], "__", 1)},
		"a file": {stopPath, signed.FileLink{Purpose: signed.ForStop}.Text(s.api.linkKey)},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			got := s.mailCall(method, c.path, c.token, "do=stop")
			wantPage(t, got, http.StatusNotFound, "This link no longer works")
			if strings.Contains(string(got.body), "Dark mode") {
				t.Errorf("%s: %s", name, got.body)
			}
		}
	}
	s.must("mail-suppress", "admin", `{"email":"ada@example.com"}`)
	wantPage(t, s.mailCall(http.MethodPost, confirmPath, confirm, "do=confirm"), http.StatusNotFound, "This link no longer works")
	wantPage(t, s.mailCall(http.MethodGet, stopPath, stop, ""), http.StatusOK)
	s.must("apps-delete", "owner", s.filled(`{"id":"{app}"}`))
	wantPage(t, s.mailCall(http.MethodGet, stopPath, stop, ""), http.StatusNotFound, "This link no longer works")
}

// TestNotify: a tick counts only with a valid address, in the best language, and for strangers twenty times an
// hour, or sixty times for a network; the requests are all stored.
func TestNotify(t *testing.T) {
	s := newMailed(t, storetest.SQLite(t))
	submit := func(more string) {
		t.Helper()
		s.must("widget-submit-request", "key", `{"title":"T","description":""`+more+`}`)
	}
	ticked := func() int64 { return s.raw("SELECT COUNT(*) FROM requests WHERE notify IS NOT NULL").(int64) }
	submit(`,"notify":true`)
	submit(`,"email":"ada@example.com"`)
	submit(`,"email":"ada@example.com","notify":false,"locale":"de"`)
	if n := ticked(); n != 0 {
		t.Errorf("%d requests notify", n)
	}
	for range 25 {
		submit(`,"email":"ada@example.com","notify":true,"locale":"pt-BR"`)
	}
	if n := ticked(); n != 20 {
		t.Errorf("%d requests notify, want 20", n)
	}
	if n := s.raw("SELECT COUNT(*) FROM requests WHERE notify = 'pt'"); n != int64(20) {
		t.Errorf("%v are in Portuguese", n)
	}
	secret := s.must("apps-identity-secret", "owner", s.filled(`{"id":"{app}"}`))["secret"].(string)
	claims := fmt.Sprintf(`{"sub":"42","email":"ada@example.com","exp":%d}`, s.clock.Now().Add(time.Minute).Unix())
	submit(`,"identity_token":"` + signedToken(t, secret, claims) + `","notify":true`)
	if n := ticked(); n != 21 {
		t.Errorf("%d requests notify, want 21: verified people have no limit", n)
	}
	for n := range 5 {
		for range 15 {
			r := s.request("widget-submit-request", "key", `{"title":"T","description":"","email":"ada@example.com","notify":true,"locale":"fr"}`)
			r.RemoteAddr = fmt.Sprintf("192.0.2.%d:4711", n+2)
			if got := serve(s.api, r); got.status != http.StatusOK {
				t.Fatalf("%d %s", got.status, got.body)
			}
		}
	}
	if n := s.raw("SELECT COUNT(*) FROM requests WHERE notify = 'fr'"); n != int64(60-20) {
		t.Errorf("%v requests of the same network notify, want 40", n)
	}
	s.clock.Move(2 * time.Hour)
	submit(`,"email":"ada@example.com","notify":true,"locale":"tlh"`)
	if n := s.raw("SELECT COUNT(*) FROM requests WHERE notify = 'en'"); n != int64(2) {
		t.Errorf("%v are in English", n)
	}
}

// TestMailOff: without a mail server, nothing is promised.
func TestMailOff(t *testing.T) {
	s := newService(t, storetest.SQLite(t), func(o *Options) { o.Mail = nil })
	for _, c := range []struct{ operation, body string }{
		{"users-invite", `{"email":"new@example.com","name":"New","role":"member","send":true}`},
		{"users-recover", s.filled(`{"id":"` + s.user("viewer") + `","send":true}`)},
		{"digest-set", `{"every":"daily"}`},
	} {
		if got := s.call(c.operation, "owner", c.body); got.status != http.StatusConflict || got.code(t) != "mail.off" {
			t.Errorf("%s: %d %s", c.operation, got.status, got.body)
		}
	}
	if users := s.must("users-list", "owner", "")["users"].([]any); len(users) != 4 {
		t.Errorf("%d users: one was added although the call was refused", len(users))
	}
	if s.must("auth-me", "owner", "")["mail"] != false || s.must("mail-status", "owner", "")["configured"] != false {
		t.Error("the service says that it sends mail")
	}
	config := serve(s.api, httptest.NewRequest(http.MethodGet, configPath+s.names["key"]+".json", http.NoBody))
	if !regexp.MustCompile(`"mail": ?false`).Match(config.body) {
		t.Errorf("%s", config.body)
	}
	s.must("digest-set", "owner", `{"every":"never"}`)
}

// TestSentLinks: an account sends ten links a minute, and a call that is refused adds nobody.
func TestSentLinks(t *testing.T) {
	s := newMailed(t, storetest.SQLite(t))
	invite := func(n int) answer {
		return s.call("users-invite", "owner", `{"email":"`+strings.Repeat("x", n+1)+`@example.com","name":"N","role":"member","send":true}`)
	}
	for n := range 10 {
		if got := invite(n); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	if got := invite(10); got.code(t) != "api.rate_limited" {
		t.Errorf("%d %s", got.status, got.body)
	}
	if users := s.must("users-list", "owner", "")["total_count"].(float64); users != 14 {
		t.Errorf("%v users", users)
	}
	if n := s.raw("SELECT COUNT(*) FROM mails WHERE kind = 'link'"); n != int64(10) {
		t.Errorf("%v mails", n)
	}
}
