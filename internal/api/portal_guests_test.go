package api

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// portalHome is where the tests have the portal of {app}.
const portalHome = "/p/acme/"

// openPortal changes the settings of {app} and its portal, which are JSON.
func (s *service) openPortal(sharing, portal string) {
	s.t.Helper()
	s.must("apps-update-settings", "owner", s.filled(fmt.Sprintf(`{"id":"{app}","settings":{"sharing":%q,"portal":%s}}`, sharing, portal)))
}

// publicPortal opens a portal where everybody may do everything at once.
func (s *service) publicPortal() {
	s.t.Helper()
	s.openPortal("all", `{"slug":"acme","access":"public","comments":"anyone","moderation":"none","sign_in_url":"https://shop.example/login"}`)
}

// guest is a browser that visits the portal.
type guest struct {
	s       *service
	home    string // path of the portal
	cookies map[string]string
	header  map[string]string // sent with all calls
}

func (s *service) guest() *guest {
	return &guest{s: s, home: portalHome, cookies: map[string]string{}, header: map[string]string{}}
}

func (g *guest) send(method, page, form string, headers ...string) answer {
	r := httptest.NewRequest(method, g.home+page, strings.NewReader(form))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for name, value := range g.header {
		r.Header.Set(name, value)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	for name, value := range g.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	got := serve(g.s.api, r)
	for _, cookie := range (&http.Response{Header: got.header}).Cookies() {
		if g.cookies[cookie.Name] = cookie.Value; cookie.MaxAge < 0 {
			delete(g.cookies, cookie.Name)
		}
	}
	return got
}

func (g *guest) get(page string, headers ...string) answer {
	return g.send(http.MethodGet, page, "", headers...)
}

func (g *guest) post(page string, form url.Values) answer {
	return g.send(http.MethodPost, page, form.Encode())
}

func (g *guest) vote(id string) answer {
	return g.post("vote", url.Values{"add": {id}})
}

// open makes a call that must lead to another page.
func (g *guest) open(page string) {
	g.s.t.Helper()
	if got := g.get(page); got.status != http.StatusSeeOther {
		g.s.t.Fatalf("%s: %d %s", page, got.status, got.body)
	}
}

// signIn signs in as a person, as the product does to which the link of the portal leads.
func (g *guest) signIn(sub string) {
	g.s.t.Helper()
	g.open(g.s.signInPage(sub, g.returnTo("")))
}

var returnTo = regexp.MustCompile(`return_to=([^"&]*)`)

// returnTo returns the address to which the product is asked to send the visitor back, who leaves a page of the portal.
// It is empty if the portal leads to no page of the product.
func (g *guest) returnTo(page string) string {
	found := returnTo.FindSubmatch(g.get("sign-in?to=" + url.QueryEscape(page)).body)
	if found == nil {
		return ""
	}
	to, _ := url.QueryUnescape(string(found[1])) // the service has escaped it
	return to
}

// signInPage returns what follows the address of the portal in a one-time address for a person.
func (s *service) signInPage(sub, to string) string {
	s.t.Helper()
	link := s.must("widget-portal-link", "key", fmt.Sprintf(`{"identity_token":%q,"to":%q}`, s.proof(sub, ""), to))["url"].(string)
	return strings.TrimPrefix(link, serviceURL+portalHome)
}

// proof returns an identity token of a person.
func (s *service) proof(sub, claims string) string {
	s.t.Helper()
	if s.names["identity_secret"] == "" {
		s.names["identity_secret"] = s.must("apps-identity-secret", "owner", s.filled(`{"id":"{app}"}`))["secret"].(string)
	}
	until := s.clock.Now().Add(time.Minute).Unix()
	return signedToken(s.t, s.names["identity_secret"], fmt.Sprintf(`{"sub":%q,"exp":%d%s}`, sub, until, claims))
}

// enterLink makes the link of the portal and returns what follows its address.
func (s *service) enterLink() string {
	s.t.Helper()
	return strings.TrimPrefix(s.must("portal-rotate-link", "owner", s.filled(`{"id":"{app}"}`))["url"].(string), serviceURL+portalHome)
}

var ideaAnchor = regexp.MustCompile(`<li class="idea" id="idea-([0-9a-f-]{36})">`)

// ideasOn returns the ids of the ideas that a page lists.
func ideasOn(a answer) (ids []string) {
	for _, found := range ideaAnchor.FindAllSubmatch(a.body, -1) {
		ids = append(ids, string(found[1]))
	}
	return ids
}

// votesOf returns how many people have voted for a request.
func (s *service) votesOf(id string) float64 {
	s.t.Helper()
	return s.must("requests-get", "owner", `{"id":"`+id+`"}`)["request"].(map[string]any)["votes"].(float64)
}
