package api

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/calls"
	"gatherkit/internal/store/storetest"
)

const readerSecret = "0197a2b3c4d500112233445566778899aabbccddeeff00112233445566778899"

// visit opens or posts the page /mine as a browser does that has a link's token as its cookie, or "". The
// pairs are headers.
func (s *service) visit(method, query, token, body string, headers ...string) answer {
	r := httptest.NewRequest(method, minePath+query, strings.NewReader(body))
	if token != "" {
		r.AddCookie(&http.Cookie{Name: mineCookie, Value: token})
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return serve(s.api, r)
}

// asker submits {request} as a browser, on which the team comments, and returns the token of a link.
func (s *service) asker() string {
	s.t.Helper()
	sent := s.must("widget-submit-request", "key", `{"title":"Dark mode","description":"My eyes hurt.","reader":"`+readerSecret+`"}`)
	s.names["request"] = sent["request"].(map[string]any)["id"].(string)
	s.clock.Move(time.Second) // news of the same moment is no news
	s.must("comments-create", "member", `{"request_id":"`+s.names["request"]+`","body":"Which page?","visibility":"public"}`)
	return s.privateLink("")
}

// privateLink returns the token of a new link.
func (s *service) privateLink(more string) string {
	s.t.Helper()
	link := s.must("widget-my-link", "key", `{"reader":"`+readerSecret+`"`+more+`}`)["url"].(string)
	address, token, ok := strings.Cut(link, "#")
	if !ok || address != serviceURL+minePath {
		s.t.Fatal(link)
	}
	return token
}

func (a answer) cookie(t *testing.T) *http.Cookie {
	t.Helper()
	cookies := (&http.Response{Header: a.header}).Cookies()
	if len(cookies) != 1 {
		t.Fatalf("%d cookies: %v", len(cookies), a.header)
	}
	return cookies[0]
}

// wantPage checks the status of a page, its headers and that it says something.
func wantPage(t *testing.T, got answer, status int, texts ...string) {
	t.Helper()
	if got.status != status {
		t.Errorf("%d, want %d: %s", got.status, status, got.body)
	}
	for _, text := range texts {
		if !strings.Contains(string(got.body), text) {
			t.Errorf("the page does not say %q: %s", text, got.body)
		}
	}
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "X-Robots-Tag": "noindex",
		"Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin",
	} {
		if got.header.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.header.Get(name), want)
		}
	}
	policy := got.header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Contains(policy, "unsafe") {
		t.Error(policy)
	}
}

func TestMinePage(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		token := s.asker()
		wantPage(t, s.visit("GET", "", "", ""), 200, "Follow your ideas", `data-check=""`)

		for _, pasted := range []string{token, "#" + token, "Your link: <" + serviceURL + "/mine#" + token + ">. "} {
			got := s.visit("POST", "", "", url.Values{"link": {pasted}}.Encode())
			cookie := got.cookie(t)
			if got.status != http.StatusSeeOther || got.header.Get("Location") != "mine" || cookie.Value != token {
				t.Errorf("%s: %d %v", pasted, got.status, got.header)
			}
		}
		const isNew = `<p class="new">`
		for range 2 { // neither of these has been seen
			s.visit("HEAD", "", token, "")
			wantPage(t, s.visit("GET", "", token, "", "Sec-Purpose", "prefetch;prerender"), 200, isNew)
		}
		wantPage(t, s.visit("GET", "", token, "", "Accept-Language", "de-AT,de"), 200,
			"Ihre Ideen", "Website", "Dark mode", "My eyes hurt.", "Which page?",
			"mine/brand/4f46e5.css", isNew, `data-check="`+token[len(token)-6:]+`"`)
		if got := s.visit("GET", "", token, ""); strings.Contains(string(got.body), isNew) {
			t.Errorf("the news is still new: %s", got.body)
		}

		reply := url.Values{"do": {"reply"}, "request_id": {s.names["request"]}, "cursor": {""}, "body": {"All\r\nof them."}}
		got := s.visit("POST", "", token, reply.Encode())
		if got.status != http.StatusSeeOther || got.header.Get("Location") != "mine?sent="+s.names["request"] {
			t.Fatalf("%d %v %s", got.status, got.header, got.body)
		}
		_, query, _ := strings.Cut(got.header.Get("Location"), "?")
		wantPage(t, s.visit("GET", "?"+query, token, ""), 200, "Your reply was sent.", "All\nof them.")

		got = s.visit("POST", "", token, "do=forget")
		cookie := got.cookie(t)
		if got.status != http.StatusSeeOther || got.header.Get("Location") != "mine?forgotten" || cookie.MaxAge >= 0 || cookie.Value != "" {
			t.Errorf("%d %v", got.status, got.header)
		}
		wantPage(t, s.visit("GET", "?forgotten", "", ""), 200, "Your link still works")
	})
}

func TestMinePageRefuses(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	token := s.asker()
	reply := func(id, body string) string {
		return url.Values{"do": {"reply"}, "request_id": {id}, "body": {body}}.Encode()
	}
	for name, c := range map[string]struct {
		token, body string
		status      int
		texts       []string
	}{
		"half a link":     {"", "link=" + token[:20], 400, []string{"This link is not complete", token[:20]}},
		"another secret":  {"", "link=" + s.names["member"], 400, []string{"This link is not complete"}},
		"empty":           {token, reply(s.names["request"], " \r\n "), 400, []string{"between 1 and 10,000 characters", "Dark mode"}},
		"too long":        {token, reply(s.names["request"], strings.Repeat("語", 10_001)), 400, []string{"between 1 and 10,000 characters"}},
		"no such request": {token, reply(nobodysID, "My &reply"), 404, []string{"can no longer be reached", "My &amp;reply", "Dark mode"}},
		"not an id":       {token, reply(`">`, "My reply"), 400, []string{"My reply"}},
		"without a link":  {"", reply(s.names["request"], "My reply"), 404, []string{"My reply", "Follow your ideas"}},
		"a wrong link":    {token[:40], reply(s.names["request"], "My reply"), 404, []string{"My reply", "This link no longer works"}},
		"too large":       {token, strings.Repeat("a", calls.MaxForm+1), 413, []string{"between 1 and 10,000 characters", "Go back"}},
		"a long text":     {"", "link=" + strings.Repeat("語", 200) + "end", 400, []string{strings.Repeat("語", 200)}},
		"not a form":      {"", "link=gsl_&%zz", 400, []string{"This link is not complete"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.visit("POST", "", c.token, c.body)
			wantPage(t, got, c.status, append(c.texts, " data-posted>")...)
			if strings.Contains(string(got.body), "語end") {
				t.Error("the page shows more than 200 characters of what was pasted")
			}
			if got.header.Get("Set-Cookie") != "" {
				t.Errorf("%v", got.header)
			}
		})
	}
	if got := s.visit("POST", "", token, "{}", "Content-Type", "application/json"); got.status != http.StatusUnsupportedMediaType {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := s.visit("GET", "?cursor=junk", token, ""); got.status != http.StatusSeeOther || got.header.Get("Location") != "mine" {
		t.Errorf("%d %v", got.status, got.header)
	}
	if n := strings.Count(string(s.visit("GET", "", token, "").body), `<li class="own">`); n != 0 {
		t.Errorf("%d replies were stored", n)
	}
	s.privateLink(`,"replace":true`)
	wantPage(t, s.visit("GET", "", token, ""), 404, "This link no longer works", `data-check="`+token[len(token)-6:]+`"`)
	wantPage(t, s.visit("GET", "", "junk", ""), 404, "This link no longer works")
}

// TestMinePageFills: the longest reply arrives, with characters that take the most bytes.
func TestMinePageFills(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	token := s.asker()
	text := strings.Repeat("🎉", 10_000)
	got := s.visit("POST", "", token, url.Values{"do": {"reply"}, "request_id": {s.names["request"]}, "body": {text}}.Encode())
	if got.status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.status, got.body)
	}
	wantPage(t, s.visit("GET", "", token, ""), 200, text)
}

// TestMinePageReads: a stranger who posts too often is refused before the service reads what they send.
func TestMinePageReads(t *testing.T) {
	s := newService(t, storetest.SQLite(t), func(o *Options) { o.SubmitRate = 1 })
	body := &countedReader{}
	for n := range 3 {
		r := httptest.NewRequest(http.MethodPost, minePath, body)
		r.Header.Set("Content-Type", calls.FormType)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.RemoteAddr = "198.51.100.1:4711"
		got := serve(s.api, r)
		if refused := n > 0; refused != (got.status == http.StatusTooManyRequests) || refused != (got.header.Get("Retry-After") != "") {
			t.Errorf("call %d: %d %v", n, got.status, got.header)
		}
		if n == 0 {
			body.reads = 0
		}
	}
	if body.reads > 0 {
		t.Errorf("refused calls were read %d times", body.reads)
	}
}

// TestMinePageOrigin: pages of other sites can post nothing.
func TestMinePageOrigin(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	token := s.asker()
	for _, body := range []string{"link=" + token, "do=forget", "do=reply&request_id=" + s.names["request"] + "&body=Hi"} {
		for _, headers := range [][]string{
			{"Sec-Fetch-Site", "cross-site"},
			{"Sec-Fetch-Site", "same-site"},
			{"Sec-Fetch-Site", "", "Origin", "https://evil.example.com"},
			{"Sec-Fetch-Site", "", "Origin", "null"},
		} {
			if got := s.visit("POST", "", token, body, headers...); got.status != http.StatusForbidden || got.header.Get("Set-Cookie") != "" {
				t.Errorf("%s with %q: %d %v", body, headers, got.status, got.header)
			}
		}
		// An older browser, and one that a proxy with another Host serves.
		for _, origin := range []string{"http://example.com", serviceURL} {
			if got := s.visit("POST", "", token, body, "Sec-Fetch-Site", "", "Origin", origin); got.status != http.StatusSeeOther {
				t.Errorf("%s from %s: %d %s", body, origin, got.status, got.body)
			}
		}
	}
}

func TestMineCookie(t *testing.T) {
	for public, want := range map[string]http.Cookie{
		"":                                {Path: "/mine", Secure: true},
		"https://example.com":             {Path: "/mine", Secure: true},
		"https://example.com/feedback/":   {Path: "/feedback/mine", Secure: true},
		"http://intranet:8080/a/feedback": {Path: "/a/feedback/mine", Secure: false},
	} {
		var server calls.Server
		if public != "" {
			server.PublicURL, _ = url.Parse(public)
		}
		got := server.Cookie(mineCookie, minePath, "gsl_x", 0)
		if got.Path != want.Path || got.Secure != want.Secure || !got.HttpOnly || got.SameSite != http.SameSiteStrictMode ||
			got.MaxAge != 0 || !got.Expires.IsZero() {
			t.Errorf("%s: %v", public, got)
		}
	}
}

// TestMinePageLimit: strangers cannot try links at will, and a page without a link costs nothing.
func TestMinePageLimit(t *testing.T) {
	s := newService(t, storetest.SQLite(t), func(o *Options) { o.SubmitRate = 3 })
	token := s.asker() // the link is one call
	for range 2 {
		wantPage(t, s.visit("GET", "", token, ""), 200)
	}
	got := s.visit("GET", "", token, "")
	wantPage(t, got, 429, "Too many visits at once", `data-check="`+token[len(token)-6:]+`"`)
	if got.header.Get("Retry-After") == "" {
		t.Errorf("%v", got.header)
	}
	wantPage(t, s.visit("GET", "", "", ""), 200, "Follow your ideas")
}

// TestMinePageWithoutDatabase: the page says that it cannot be shown, and keeps what was typed.
func TestMinePageWithoutDatabase(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		token := s.asker()
		if err := s.store.Close(); err != nil {
			t.Fatal(err)
		}
		got := s.visit("GET", "", token, "")
		wantPage(t, got, 503, "We are unavailable right now", `data-check="`+token[len(token)-6:]+`"`)
		if got.header.Get("Retry-After") == "" {
			t.Errorf("%v", got.header)
		}
		wantPage(t, s.visit("POST", "", token, "do=reply&request_id="+s.names["request"]+"&body=My+reply"), 503, "My reply", "send it again")
		wantPage(t, s.visit("GET", "", "", ""), 200, "Follow your ideas")
		if got := s.visit("POST", "", "", "link="+token); got.status != http.StatusSeeOther {
			t.Errorf("%d %s", got.status, got.body)
		}
	})
}
