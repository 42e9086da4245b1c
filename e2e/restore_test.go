package e2e_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestRestoreAccount: while the service runs, an account comes back from a backup of it: after it was deleted as it was, and
// beside the one that exists as another one.
func TestRestoreAccount(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		flags := append(program.At(at), "--uploads="+t.TempDir())
		program.AddOwner(t, at)
		p := program.Start(t, flags...)
		c := program.NewClient(t, p)
		session := c.Login(t)
		app, _ := portalTeam{c, session}.start(t, "acme", "public")
		acceptFiles(t, c, session, app.ID)
		const text = "A picture of the menu"
		file := sendText(t, p, app.APIKey, "menu.txt", text)
		request := c.Want(t, "ok", "widget-submit-request", app.APIKey, program.Params{
			"title": "Dark mode", "description": "", "attachments": []string{file},
		}).Request.ID

		backup := filepath.Join(t.TempDir(), "acme")
		program.Succeed(t, append([]string{"account", "export", "Acme", backup}, flags...)...)
		restore := func(args ...string) []string {
			return append(append([]string{"account", "restore", "Acme", "--from=" + backup}, args...), flags...)
		}
		show := func(session, id string) string {
			attachments := c.Want(t, "ok", "requests-get", session, program.Params{"id": id}).Request.Attachments
			if len(attachments) != 1 {
				t.Fatalf("%d files", len(attachments))
			}
			_, body := get(t, p.URL+attachments[0].URL)
			return body
		}

		for want, args := range map[string][]string{
			`an account is called "Acme" already; give this one another name with --as`: restore(),
			"no owner of the account could log in; name somebody to invite with --owner-email and --owner-name": restore(
				"--as=Before"),
			"a new owner needs --owner-email and --owner-name": restore(
				"--owner-email=a@b.example"),
			`"ada" is not an e-mail address such as ada@example.com`: restore(
				"--owner-email=ada", "--owner-name=A"),
			`the backup has no account called "Acne"; run gatherkit account list on it to see all accounts`: append(
				[]string{"account", "restore", "Acne", "--from=" + backup}, flags...),
		} {
			if got := program.Execute(t, nil, "", args...); got.Code == 0 || !strings.Contains(got.Stderr, want) {
				t.Errorf("%q: exit %d, %s", args, got.Code, got.Stderr)
			}
		}

		printed := program.Succeed(t, restore("--as=Before", "--owner-email=eve@example.com", "--owner-name=Eve", "--public-url="+p.URL)...)
		shape := regexp.MustCompile(`^Restored the account "Before" \(\S+\): \d+ rows\. Attached files: 1, missing: 0\.
The account from which it was copied still exists, so this one has new API keys, and its portals, webhooks,` +
			` tokens and subscriptions are off\.
Invitation for eve@example\.com, which works once until \S+: http\S+/join#(\S+)
$`)
		found := shape.FindStringSubmatch(printed)
		if found == nil {
			t.Fatalf("account restore prints:\n%s", printed)
		}
		joined := c.Want(t, "ok", "auth-accept-invite", "", program.Params{"token": found[1], "password": program.Password})
		if body := show(joined.AccessToken, request); body != text {
			t.Errorf("the file beside: %q", body)
		}
		if body := show(session, request); body != text {
			t.Errorf("the file: %q", body)
		}

		program.Succeed(t, append([]string{"account", "suspend", "Acme"}, program.At(at)...)...)
		alter(t, at, "UPDATE accounts SET suspended_at = suspended_at - 60000000 WHERE suspended_at IS NOT NULL")
		program.Succeed(t, append([]string{"account", "delete", "Acme", "--confirm=Acme"}, flags...)...)
		c.Want(t, "auth.invalid_credentials", "auth-login", "", program.Params{"email": program.Email, "password": program.Password})
		c.Want(t, "auth.invalid_api_key", "widget-submit-request", app.APIKey, program.Params{"title": "Lost?", "description": ""})

		printed = program.Succeed(t, restore()...)
		if !regexp.MustCompile(`^Restored the account "Acme" \(\S+\): \d+ rows\. Attached files: 1, missing: 0\.\n$`).MatchString(printed) {
			t.Errorf("account restore prints:\n%s", printed)
		}
		session = c.Login(t)
		if body := show(session, request); body != text {
			t.Errorf("the restored file: %q", body)
		}
		c.Submit(t, app.APIKey, "Afterwards")
		if status, body := get(t, p.URL+"/p/acme/"); status != 200 || !strings.Contains(body, "Dark mode") {
			t.Errorf("the portal: %d", status)
		}
	})
}
