package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestAPICommand logs in with a token and calls operations, as a script does.
func TestAPICommand(t *testing.T) {
	t.Parallel()
	place := storetest.SQLite(t)
	p, c, owner, app := program.Serve(t, place)
	for i := range 5 {
		c.Submit(t, app.APIKey, fmt.Sprint("Idea ", i))
	}
	token := c.Want(t, "ok", "tokens-create", owner, program.Params{"name": "CI", "scope": "member"}).Secret

	home := t.TempDir()
	env := []string{"XDG_CONFIG_HOME=" + home, "HOME=" + home}
	run := func(stdin string, args ...string) string {
		t.Helper()
		got := program.Execute(t, env, stdin, args...)
		if got.Code != 0 {
			t.Fatalf("gatherkit %q: exit %d\n%s", args, got.Code, got.Stderr)
		}
		return got.Stdout
	}
	if got := fail(t, env, "", "api", "auth-me"); got != "no service is known; run gatherkit login, or set --url and --token" {
		t.Errorf("without a login: %q", got)
	}
	if got := fail(t, env, "gtk_wrong\n", "login", "--url="+p.URL); !strings.HasPrefix(got, "auth.") {
		t.Errorf("a wrong token: %q", got)
	}
	file := filepath.Join(home, "gatherkit", "login.json")
	if _, err := os.Stat(file); err == nil {
		t.Error("a wrong token is kept")
	}
	want := "Logged in to Acme as Ada (member). The token is in " + file + ".\n"
	if got := run(token+"\n", "login", "--url="+p.URL+"/"); got != want {
		t.Errorf("login prints %q, want %q", got, want)
	}

	page := run("", "api", "requests-list", "status=opened", "limit=2")
	if strings.Count(page, `"title": "Idea `) != 2 || !strings.HasPrefix(page, "{\n  \"") {
		t.Errorf("a page: %s", page)
	}
	lines := run("", "api", "--jsonl", "requests-list", "limit=2")
	if strings.Count(lines, "\n") != 5 || strings.Count(lines, `"title":"Idea `) != 5 {
		t.Errorf("all pages: %s", lines)
	}
	made := run(fmt.Sprintf(`{"app_id":%q,"title":"42","description":""}`, app.ID), "api", "requests-create", "-")
	if !strings.Contains(made, `"title": "42"`) {
		t.Errorf("from standard input: %s", made)
	}
	made = run("", "api", "requests-create", "app_id="+app.ID, `title="7"`, "description=a=b", `tags=["ui"]`)
	for _, part := range []string{`"title": "7"`, `"description": "a=b"`, `"ui"`} {
		if !strings.Contains(made, part) {
			t.Errorf("%s is missing: %s", part, made)
		}
	}
	if got := fail(t, env, "", "api", "requests-get", "id=1"); !strings.HasPrefix(got, "requests.invalid_id: ") {
		t.Errorf("a refused call: %q", got)
	}
	for _, stdin := range []string{"", "null", "[]", `{"limit":1}{"limit":2}`} {
		if got := fail(t, env, stdin, "api", "requests-list", "-"); !strings.HasPrefix(got, "standard input ") {
			t.Errorf("%q from standard input: %q", stdin, got)
		}
	}
	if got := fail(t, env, "", "api", "requests-get", "id"); !strings.Contains(got, "name=value") {
		t.Errorf("a parameter without a value: %q", got)
	}
	// The token is not sent to another address.
	elsewhere := "GATHERKIT_URL=" + strings.Replace(p.URL, "127.0.0.1", "localhost", 1)
	if got := fail(t, append(env, elsewhere), "", "api", "auth-me"); !strings.HasPrefix(got, "auth.missing_token: ") {
		t.Errorf("at another address: %q", got)
	}
	if got := run("", "healthcheck", "--url="+p.URL); got != "" {
		t.Errorf("healthcheck prints %q", got)
	}
	p.Stop(t)
	if got := fail(t, env, "", "healthcheck", "--url="+p.URL); !strings.Contains(got, "connection refused") {
		t.Errorf("healthcheck of a stopped service: %q", got)
	}
}
