package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestCopy moves an installation from SQLite to PostgreSQL as docs/operating.md says: passwords, keys, links and files
// work as before. Then it moves back.
func TestCopy(t *testing.T) {
	t.Parallel()
	lite := storetest.SQLite(t)
	if err := os.Chmod(lite.Folder, 0o700); err != nil { // otherwise, the service warns
		t.Fatal(err)
	}
	program.AddOwner(t, lite)
	p := program.Start(t, program.At(lite)...)
	c := program.NewClient(t, p)
	session := c.Login(t)
	app, idea := portalTeam{c, session}.start(t, "acme", "public")
	for n := range 20 {
		c.Submit(t, app.APIKey, fmt.Sprint("wish ", n))
	}
	link := c.Want(t, "ok", "requests-status-link", session, program.Params{"id": idea}).URL
	_, mine, _ := strings.Cut(link, "#")
	titles := titlesOf(c.Want(t, "ok", "requests-list", session, program.Params{}).Requests)
	used := fmt.Sprintf("the data folder %s is in use by another process of gatherkit (%d); stop it first", lite.Folder, p.PID)
	for _, args := range [][]string{
		append([]string{"serve"}, program.At(lite)...), {"copy", "--from=" + lite.Folder, "--data=" + t.TempDir()},
	} {
		if got := fail(t, nil, "", args...); got != used {
			t.Errorf("gatherkit %q beside the service: %s", args, got)
		}
	}
	p.Stop(t)

	postgres := storetest.Place{Name: "postgres", Database: storetest.Postgres(t)}
	back := storetest.SQLite(t)
	uploads := "--uploads=" + filepath.Join(lite.Folder, "uploads")
	for _, move := range []struct {
		from string
		to   storetest.Place
	}{{lite.Folder, postgres}, {postgres.Database, back}} {
		printed := program.Succeed(t, append([]string{"copy", "--from=" + move.from}, program.At(move.to)...)...)
		last := regexp.MustCompile(`(?m)^requests +2[12] rows  [0-9a-f]{16}\n(?:.*\n)*` +
			`Copied \d{2,} rows of \d\d tables\. Both databases have the same rows\.\n$`)
		if !last.MatchString(printed) {
			t.Errorf("copy: %s", printed)
		}
		p := program.Start(t, append(program.At(move.to), uploads)...)
		c := program.NewClient(t, p)
		if got := titlesOf(c.Want(t, "ok", "requests-list", session, program.Params{}).Requests); !slices.Equal(got, titles) {
			t.Errorf("%q, want %q", got, titles)
		}
		c.Login(t)
		if n := len(titlesOf(c.Want(t, "ok", "mine-list", "", program.Params{"token": mine}).Requests)); n != 1 {
			t.Errorf("a private link shows %d requests", n)
		}
		if _, text := page(t, c.HTTP, c.URL+"/p/acme/", nil); !strings.Contains(text, "wish 7") {
			t.Error("the portal lacks a wish")
		}
		titles = append([]string{"after " + move.to.Name}, titles...)
		c.Submit(t, app.APIKey, titles[0])
		p.Stop(t)
	}
	for want, args := range map[string][]string{
		"the database to copy to is not empty": append([]string{"copy", "--from=" + lite.Folder}, program.At(postgres)...),
		"there is no database of Gatherkit in": append([]string{"copy", "--from=" + t.TempDir()}, program.At(postgres)...),
	} {
		if got := fail(t, nil, "", args...); !strings.Contains(got, want) {
			t.Errorf("gatherkit %q: %s, want %s", args, got, want)
		}
	}
	for want, from := range map[string]string{
		"--from is the database to copy to; name that with --database or --data": lite.Folder + "/.",
		"--from must be a folder such as ./data":                                 "postgres://u:p#@h/x",
	} {
		args := append([]string{"copy", "--from=" + from}, program.At(lite)...)
		if got := program.Execute(t, nil, "", args...); got.Code != 2 || !strings.Contains(got.Stderr, want) {
			t.Errorf("gatherkit %q: exit %d, %s, want %s", args, got.Code, got.Stderr, want)
		}
	}
}
