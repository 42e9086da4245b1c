package e2e_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"gatherkit/e2e/program"
)

// revocation is something that a team takes off a portal, again and again.
type revocation struct {
	path   string // of a page that shows it
	show   func() (cookie string)
	revoke func(by program.Client)
	secret string // what the page shows until it is revoked
}

const inRound = 30 // loads of a page after each answer

// TestPortalRevocation: after the answer of a call that takes something off a portal, no replica shows it, whether
// the browser asks for the page or whether it has changed.
func TestPortalRevocation(t *testing.T) {
	t.Parallel()
	database, first, second := replicas(t)
	var clients []program.Client
	for _, p := range []*program.Process{first, second, program.Start(t, program.At(database)...)} {
		clients = append(clients, program.NewClient(t, p))
	}
	program.AddOwner(t, database)
	team := portalTeam{clients[0], clients[0].Login(t)}
	total, shown := 0, 0
	for name, start := range map[string]func(*testing.T, portalTeam) revocation{
		"hide": hiding, "off": switchingOff, "link": rotating, "block": blocking, "unpublish": unpublishing,
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, team)
			for round := range program.Times(300, 2_000) / inRound {
				cookie := r.show()
				tags := make([]string, len(clients))
				for i, c := range clients {
					answer, text := page(t, c.HTTP, c.URL+r.path, nil, "Cookie", cookie)
					if tags[i] = answer.Header.Get("ETag"); !strings.Contains(text, r.secret) || tags[i] == "" {
						t.Fatalf("before it is revoked, a page does not show it: %d\n%s", answer.StatusCode, text)
					}
				}
				r.revoke(clients[round%len(clients)])
				var all sync.WaitGroup
				found := make(chan string, inRound)
				for n := range inRound {
					all.Go(func() {
						c, known := clients[n%len(clients)], ""
						if n%2 == 0 {
							known = tags[n%len(clients)]
						}
						answer, text := page(t, c.HTTP, c.URL+r.path, nil, "Cookie", cookie, "If-None-Match", known)
						if answer.StatusCode == http.StatusNotModified || strings.Contains(text, r.secret) {
							found <- answer.Status
						}
					})
				}
				all.Wait()
				if total, shown = total+inRound, shown+len(found); len(found) > 0 {
					t.Errorf("round %d: %d of %d pages still show it, the first with %s", round, len(found), inRound, <-found)
				}
			}
		})
	}
	t.Logf("%d of %d pages show what was taken off the portal", shown, total)
}

// portalTeam calls operations as the owner.
type portalTeam struct {
	program.Client
	token string
}

// do calls an operation, and returns the text at a path of the result, unless the path is empty.
func (p portalTeam) do(t *testing.T, path, operation string, in program.Params) string {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	a := call(t, p.HTTP, p.URL+"/api/"+operation, string(body), "Authorization", "Bearer "+p.token)
	if !a.OK {
		t.Fatalf("%s: %+v", operation, a.Error)
	}
	if path == "" {
		return ""
	}
	return a.get(t, path)
}

// start adds an app with a portal at a slug, and an idea.
func (p portalTeam) start(t *testing.T, slug, access string) (app program.App, idea string) {
	t.Helper()
	app = p.AddApp(t, p.token)
	setPortal(t, p.Client, p.token, app, program.Params{"access": access, "slug": slug, "moderation": "none"})
	return app, p.Submit(t, app.APIKey, "Secret of "+slug)
}

func hiding(t *testing.T, p portalTeam) revocation {
	_, idea := p.start(t, "hide", "public")
	set := func(by program.Client, hidden bool) {
		portalTeam{by, p.token}.do(t, "", "requests-update", program.Params{"id": idea, "hidden": hidden})
	}
	return revocation{
		path: "/p/hide/", secret: "Secret of hide",
		show:   func() string { set(p.Client, false); return "" },
		revoke: func(by program.Client) { set(by, true) },
	}
}

func switchingOff(t *testing.T, p portalTeam) revocation {
	app, _ := p.start(t, "off", "public")
	set := func(by program.Client, access string) {
		setPortal(t, by, p.token, app, program.Params{"access": access})
	}
	return revocation{
		path: "/p/off/", secret: "Secret of off",
		show:   func() string { set(p.Client, "public"); return "" },
		revoke: func(by program.Client) { set(by, "off") },
	}
}

func rotating(t *testing.T, p portalTeam) revocation {
	app, _ := p.start(t, "link", "link")
	rotate := func(by program.Client) string {
		return portalTeam{by, p.token}.do(t, "url", "portal-rotate-link", program.Params{"id": app.ID})
	}
	return revocation{
		path: "/p/link/", secret: "Secret of link",
		show: func() string {
			_, query, _ := strings.Cut(rotate(p.Client), "?")
			return cookieOf(t, p.Client, "/p/link/enter?"+query)
		},
		revoke: func(by program.Client) { rotate(by) },
	}
}

// blocking blocks a person who is signed in, whose name the portal then no longer greets and whom it no longer lets in.
func blocking(t *testing.T, p portalTeam) revocation {
	app, idea := p.start(t, "block", "signed_in")
	secret := p.do(t, "secret", "apps-identity-secret", program.Params{"id": app.ID})
	comment := ""
	return revocation{
		path: "/p/block/", secret: "Secret of block",
		show: func() string {
			if comment != "" {
				p.do(t, "", "people-unblock", program.Params{"app_id": app.ID, "key": "v:u1"})
			}
			link := call(t, p.HTTP, p.URL+"/api/widget-portal-link", fmt.Sprintf(`{"identity_token":%q}`, identityToken(secret, "u1")),
				"X-API-Key", app.APIKey).get(t, "url")
			_, query, _ := strings.Cut(link, "?")
			cookie := cookieOf(t, p.Client, "/p/block/sign-in?"+query)
			if comment == "" {
				said := url.Values{"body": {"Yes, please."}}
				if r, text := page(t, p.HTTP, p.URL+"/p/block/r/"+idea+"/comments", said, "Cookie", cookie); r.StatusCode != http.StatusSeeOther {
					t.Fatalf("a comment: %d\n%s", r.StatusCode, text)
				}
				list := call(t, p.HTTP, p.URL+"/api/comments-list", fmt.Sprintf(`{"request_id":%q}`, idea), "Authorization", "Bearer "+p.token)
				var found struct{ Comments []struct{ ID string } }
				if err := json.Unmarshal(list.Result, &found); err != nil || len(found.Comments) != 1 {
					t.Fatalf("%v, %s", err, list.Result)
				}
				comment = found.Comments[0].ID
			}
			return cookie
		},
		revoke: func(by program.Client) {
			portalTeam{by, p.token}.do(t, "", "people-block", program.Params{"app_id": app.ID, "request_id": idea, "comment_id": comment})
		},
	}
}

func unpublishing(t *testing.T, p portalTeam) revocation {
	app, _ := p.start(t, "news", "public")
	entry := program.Params{"id": p.do(t, "entry.id", "entries-create", program.Params{"app_id": app.ID, "title": "Secret news"})}
	return revocation{
		path: "/p/news/changelog", secret: "Secret news",
		show:   func() string { p.do(t, "", "entries-publish", entry); return "" },
		revoke: func(by program.Client) { portalTeam{by, p.token}.do(t, "", "entries-unpublish", entry) },
	}
}

// cookieOf visits a page that sets a cookie, and returns the cookie as browsers send it.
func cookieOf(t *testing.T, c program.Client, path string) string {
	t.Helper()
	r, text := page(t, c.HTTP, c.URL+path, nil)
	for _, cookie := range r.Cookies() {
		if cookie.Value != "" {
			return cookie.Name + "=" + cookie.Value
		}
	}
	t.Fatalf("%s sets no cookie: %d\n%s", path, r.StatusCode, text)
	return ""
}

// identityToken signs who a person is, as a customer's backend does.
func identityToken(secret, id string) string {
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	claims := fmt.Sprintf(`{"sub":%q,"name":"Ada","exp":%d}`, id, time.Now().Add(time.Minute).Unix())
	signed := part(`{"alg":"HS256","typ":"JWT"}`) + "." + part(claims)
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte(signed)) // never fails
	return signed + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
