package e2e_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestDeleteAccount: an account is deleted while the service runs, after a minute's suspension and with its name typed.
// Nothing of it is left in the database or among the files, and the account beside it stays.
func TestDeleteAccount(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		const name, marker = "Zanzibar & Co", "zanzibar"
		flags := append(program.At(at), "--uploads="+t.TempDir())
		uploads := strings.TrimPrefix(flags[len(flags)-1], "--uploads=")
		command := func(args ...string) []string { return append(args, program.At(at)...) }
		deletion := func(args ...string) []string { return append(append([]string{"account", "delete"}, args...), flags...) }
		program.AddOwner(t, at)
		p := program.Start(t, flags...)
		c := program.NewClient(t, p)
		session := c.Login(t)
		app := c.AddApp(t, session)
		c.Submit(t, app.APIKey, "An idea of somebody else")
		invitation := regexp.MustCompile(`#(gjt_\w+)`).FindStringSubmatch(program.Succeed(t, command("account", "create", name,
			"--owner-email=eve@zanzibar.example", "--owner-name=Eve Zanzibar", "--public-url=https://f.example")...))
		eve := c.Want(t, "ok", "auth-accept-invite", "", program.Params{"token": invitation[1], "password": program.Password}).AccessToken
		theirs, _ := portalTeam{c, eve}.start(t, marker, "public")
		acceptFiles(t, c, eve, theirs.ID)
		for n := range 30 {
			id := sendText(t, p, theirs.APIKey, "zanzibar.txt", fmt.Sprint("What Zanzibar wants, number ", n))
			c.Want(t, "ok", "widget-submit-request", theirs.APIKey, program.Params{
				"title": fmt.Sprint("Zanzibar wants ", n), "description": "For Zanzibar.", "email": "bob@zanzibar.example", "attachments": []string{id},
			})
		}
		if left := traces(t, at, uploads, marker); len(left) < 2 {
			t.Fatalf("the search for what is left finds only %q before", left)
		}

		exported := filepath.Join(t.TempDir(), "exported")
		export := append([]string{"account", "export", name, exported}, flags...)
		want := "Wrote the account \"" + name + "\" to " + exported + ". Attached files: 30, missing: 0.\n" +
			"It contains secrets and personal data; protect it like the database.\n"
		if got := program.Succeed(t, export...); got != want {
			t.Errorf("account export: %q", got)
		}
		if got := fail(t, nil, "", export...); got != exported+" exists already; give the folder a new name" {
			t.Errorf("account export again: %q", got)
		}
		t.Run("export", func(t *testing.T) { tryExport(t, storetest.Place{Name: "sqlite", Folder: exported}, theirs) })

		suspended := `the account "Zanzibar & Co" is not suspended; run gatherkit account suspend, and wait a minute`
		for want, args := range map[string][]string{
			`there is no account called "Zanzibar"; run gatherkit account list to see all accounts`: deletion("Zanzibar", "--confirm=Zanzibar"),
			`the account is called "Zanzibar & Co"; to delete it, repeat this name with --confirm`:  deletion(name, "--confirm=zanzibar & co"),
			suspended: deletion(name, "--confirm="+name),
		} {
			if got := fail(t, nil, "", args...); got != want {
				t.Errorf("gatherkit %q: %q, want %q", args, got, want)
			}
		}
		program.Succeed(t, command("account", "suspend", name)...)
		early := regexp.MustCompile(`^the account is not suspended long enough; try again in [1-6]?\d seconds$`)
		if got := fail(t, nil, "", deletion(name, "--confirm="+name)...); !early.MatchString(got) {
			t.Errorf("suspended just now: %q", got)
		}
		alter(t, at, "UPDATE accounts SET suspended_at = suspended_at - 60000000 WHERE suspended_at IS NOT NULL")
		if at.Database != "" {
			without := command("account", "delete", name, "--confirm="+name)
			if got := fail(t, nil, "", without...); got != "the account has 30 attached files; name the place where they are stored with --uploads" {
				t.Errorf("without --uploads: %q", got)
			}
		}
		printed := program.Succeed(t, deletion(name, "--confirm="+name)...)
		deleted := regexp.MustCompile(`^Deleted the account "Zanzibar & Co" \([0-9a-f-]{36}\): \d{3,} rows and 30 files\.
Backups contain it until you delete them\.\n$`)
		if !deleted.MatchString(printed) {
			t.Errorf("account delete: %q", printed)
		}
		c.Want(t, "auth.invalid_api_key", "widget-submit-request", theirs.APIKey, program.Params{"title": "T", "description": ""})
		c.Want(t, "auth.invalid_credentials", "auth-login", "", program.Params{"email": "eve@zanzibar.example", "password": program.Password})
		if got := titlesOf(c.Want(t, "ok", "requests-list", session, program.Params{}).Requests); len(got) != 1 {
			t.Errorf("the other account has %q", got)
		}
		for want, args := range map[string][]string{
			"All counters are right.\n": command("recount"), "Id: ": command("account", "show", "Acme"),
		} {
			if got := program.Succeed(t, args...); !strings.Contains(got, want) {
				t.Errorf("gatherkit %q: %q", args, got)
			}
		}
		program.Succeed(t, append([]string{"verify"}, flags...)...)
		p.Stop(t)
		if left := traces(t, at, uploads, marker); len(left) > 0 {
			t.Errorf("%q is left in %q", marker, left)
		}
	})
}

// tryExport uses an exported account as an installation of its own, which has nothing of the account beside it.
func tryExport(t *testing.T, at storetest.Place, app program.App) {
	t.Helper()
	if found := traces(t, at, filepath.Join(at.Folder, "uploads"), "an idea of somebody else"); len(found) > 0 {
		t.Errorf("the export has a request of another account: %q", found)
	}
	p := program.Start(t, program.At(at)...)
	c := program.NewClient(t, p)
	login := program.Params{"email": "eve@zanzibar.example", "password": program.Password}
	eve := c.Want(t, "ok", "auth-login", "", login).AccessToken
	requests := c.Want(t, "ok", "requests-list", eve, program.Params{"limit": 100}).Requests
	if len(requests) != 31 || len(requests[0].Attachments) != 1 {
		t.Fatalf("%d requests: %+v", len(requests), requests)
	}
	if file := download(t, p.URL+requests[0].Attachments[0].URL); string(file.body) != "What Zanzibar wants, number 29" {
		t.Errorf("a file: %d %q", file.status, file.body)
	}
	c.Submit(t, app.APIKey, "One more")
	program.Succeed(t, append([]string{"verify"}, program.At(at)...)...)
	p.Stop(t)
}

// traces returns where a text is found: in the file of the database after VACUUM, or its dump, and in attached files.
func traces(t *testing.T, at storetest.Place, uploads, text string) (found []string) {
	t.Helper()
	look := func(where string, content []byte) {
		if bytes.Contains(bytes.ToLower(content), []byte(text)) {
			found = append(found, where)
		}
	}
	if at.Database != "" {
		dump, err := exec.CommandContext(t.Context(), "pg_dump", at.Database).Output()
		if err != nil {
			t.Fatal(err)
		}
		look("the dump", dump)
	} else {
		copied := filepath.Join(t.TempDir(), "vacuumed")
		if _, err := at.Raw(t).ExecContext(t.Context(), "VACUUM INTO '"+copied+"'"); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(copied)
		if err != nil {
			t.Fatal(err)
		}
		look("the database", content)
	}
	err := filepath.WalkDir(uploads, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		look(path, content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
