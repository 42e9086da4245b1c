package e2e_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"regexp"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestSuspend: when an account is suspended, all that it gave out stops at once on every replica, and nothing of another
// account does. When it is resumed, all works again, except that users log in again.
func TestSuspend(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		command := func(args ...string) string {
			t.Helper()
			return program.Succeed(t, append(args, program.At(at)...)...)
		}
		program.AddOwner(t, at)
		password := regexp.MustCompile(`Password: (\S+)`).FindStringSubmatch(
			command("user", "add", "--new-account", "--account=Globex", "--email=eve@example.com", "--name=Eve"))[1]
		flags := append(program.At(at), "--uploads="+t.TempDir())
		p := program.Start(t, flags...)
		clients := []program.Client{program.NewClient(t, p)}
		if at.Database != "" {
			clients = append(clients, program.NewClient(t, program.Start(t, flags...)))
		}
		c := clients[0]
		login := c.Want(t, "ok", "auth-login", "", program.Params{"email": program.Email, "password": program.Password})
		session := login.AccessToken
		app, idea := portalTeam{c, session}.start(t, "acme", "public")
		token := c.Want(t, "ok", "tokens-create", session, program.Params{"name": "CI", "scope": "admin"}).Secret
		fragment := func(url string) string { _, f, _ := strings.Cut(url, "#"); return f }
		mine := fragment(c.Want(t, "ok", "requests-status-link", session, program.Params{"id": idea}).URL)
		export := c.Want(t, "ok", "requests-export", session, program.Params{"format": "csv"}).URL
		acceptFiles(t, c, session, app.ID)
		var picture bytes.Buffer
		if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
			t.Fatal(err)
		}
		sent := sendFile(t, p, app.APIKey, "a.png", picture.Bytes())
		file := c.Want(t, "ok", "widget-submit-request", app.APIKey, program.Params{
			"title": "T", "description": "", "attachments": []string{sent},
		}).Request.ID
		file = c.Want(t, "ok", "requests-get", session, program.Params{"id": file}).Request.Attachments[0].URL
		invitation := fragment(portalTeam{c, session}.do(t, "link", "users-invite",
			program.Params{"email": "bob@example.com", "name": "Bob", "role": "member"}))
		eve := c.Want(t, "ok", "auth-login", "", program.Params{"email": "eve@example.com", "password": password}).AccessToken
		shop := c.AddApp(t, eve).APIKey

		operation := func(name, credential string, in program.Params) func(program.Client) string {
			return func(c program.Client) string {
				got, err := c.Call(name, credential, in)
				if err != nil {
					t.Fatal(err)
				}
				return got.Code
			}
		}
		loaded := func(path, text string, headers ...string) func(program.Client) string {
			return func(c program.Client) string {
				answer, body := page(t, c.HTTP, c.URL+path, nil, headers...)
				return fmt.Sprint(answer.StatusCode, " ", strings.Contains(body, text))
			}
		}
		wish := program.Params{"title": "T", "description": ""}
		for _, given := range []struct {
			what                    string
			call                    func(program.Client) string
			before, meanwhile, then string // "" if the call is not made
		}{
			{"a session", operation("apps-list", session, program.Params{}), "ok", "auth.invalid_token", "auth.invalid_token"},
			{
				"a refresh token", operation("auth-refresh", "", program.Params{"refresh_token": login.RefreshToken}), "",
				"auth.invalid_refresh_token", "auth.invalid_refresh_token",
			},
			{
				"a login", operation("auth-login", "", program.Params{"email": program.Email, "password": program.Password}),
				"ok", "auth.account_suspended", "ok",
			},
			{
				"a wrong login", operation("auth-login", "", program.Params{"email": program.Email, "password": "wrong password"}),
				"auth.invalid_credentials", "auth.invalid_credentials", "auth.invalid_credentials",
			},
			{"a token", operation("apps-list", token, program.Params{}), "ok", "auth.account_suspended", "ok"},
			{"an invitation", operation("auth-check-invite", "", program.Params{"token": invitation}), "ok", "auth.account_suspended", "ok"},
			{"an API key", operation("widget-submit-request", app.APIKey, wish), "ok", "auth.account_suspended", "ok"},
			{"a private link", operation("mine-list", "", program.Params{"token": mine}), "ok", "auth.account_suspended", "ok"},
			{
				"the page of a private link", loaded("/mine", "Closed for now", "Cookie", "gatherkit_mine="+mine),
				"200 false", "403 true", "200 false",
			},
			{"a portal", loaded("/p/acme/", "Secret of acme"), "200 true", "403 false", "200 true"},
			{"what a portal says", loaded("/p/acme/", "Closed for now"), "200 false", "403 true", "200 false"},
			{"a feed", loaded("/p/acme/changelog.atom", "Secret of acme"), "", "403 false", ""},
			{"a configuration", loaded("/widget/config/"+app.APIKey+".json", app.ID), "200 true", "403 false", "200 true"},
			{"an attached file", loaded(file, "PNG"), "200 true", "404 false", "200 true"},
			{"an export", loaded(export, "Secret of acme"), "", "404 false", "404 false"},
			{"a session of another account", operation("apps-list", eve, program.Params{}), "ok", "ok", "ok"},
			{"a key of another account", operation("widget-submit-request", shop, wish), "ok", "ok", "ok"},
		} {
			t.Run(given.what, func(t *testing.T) {
				check := func(when, want string) {
					t.Helper()
					for n, c := range clients {
						if got := given.call(c); want != "" && got != want {
							t.Errorf("%s, replica %d: %s, want %s", when, n, got, want)
						}
					}
				}
				if given.before != "" {
					check("before", given.before)
				}
				if out := command("account", "suspend", "Acme"); !strings.HasPrefix(out, `The account "Acme" is suspended.`) {
					t.Errorf("suspend: %q", out)
				}
				check("meanwhile", given.meanwhile)
				if out := command("account", "resume", "Acme"); !strings.HasPrefix(out, `The account "Acme" is on again.`) {
					t.Errorf("resume: %q", out)
				}
				check("then", given.then)
			})
		}
		command("account", "suspend", "Acme")
		if out := command("account", "suspend", "Acme"); out != "The account \"Acme\" was suspended already.\n" {
			t.Errorf("suspend again: %q", out)
		}
		list, show := command("account", "list"), command("account", "show", "Acme")
		if !strings.Contains(list, "Acme (suspended)\n") || !strings.Contains(list, "Globex\n") || !strings.Contains(show, "\nSuspended: 20") {
			t.Errorf("%s\n%s", list, show)
		}
		command("account", "resume", "Acme")
		if out := command("account", "resume", "Acme"); out != "The account \"Acme\" is not suspended.\n" {
			t.Errorf("resume again: %q", out)
		}
		audit := c.Want(t, "ok", "audit-list", c.Login(t), program.Params{"limit": 2})
		if len(audit.Entries) != 2 || audit.Entries[0].Summary != "An operator resumed the account." ||
			audit.Entries[1].Summary != "An operator suspended the account." {
			t.Errorf("the audit log has %+v", audit.Entries)
		}

		command("account", "suspend", "Acme")
		if out := command("user", "list"); strings.Count(out, ") (suspended)\n") != 1 {
			t.Errorf("user list: %q", out)
		}
		out := command("user", "link", "--email=bob@example.com", "--public-url=https://f.example")
		if !strings.HasSuffix(out, "\nThe account is suspended. The link works once you run gatherkit account resume.\n") {
			t.Errorf("user link: %q", out)
		}
	})
}
