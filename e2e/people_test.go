package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestPeople: an operator finds, exports, corrects and erases a person while the service runs. Afterwards neither the
// database nor what programs read of it has a word of them.
func TestPeople(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		const marker = "zanzibar"
		flags := append(program.At(at), "--uploads="+t.TempDir())
		uploads := strings.TrimPrefix(flags[len(flags)-1], "--uploads=")
		people := func(command string, args ...string) []string {
			return append(append([]string{"people", command, "--account=Acme"}, args...), program.At(at)...)
		}
		program.AddOwner(t, at)
		p := program.Start(t, flags...)
		c := program.NewClient(t, p)
		session := c.Login(t)
		app, _ := portalTeam{c, session}.start(t, "acme", "public")
		acceptFiles(t, c, session, app.ID)
		const text = "A picture of the menu"
		file := sendText(t, p, app.APIKey, "menu.txt", text)
		own := c.Want(t, "ok", "widget-submit-request", app.APIKey, program.Params{
			"title": "Dark mode", "description": "", "email": "eve@zanzibar.example", "name": "Eva", "external_id": "zanzibar-7",
			"attachments": []string{file}, "metadata": program.Params{"page": "https://zanzibar.example"},
		}).Request.ID
		other := c.Submit(t, app.APIKey, "Export as CSV")
		c.Want(t, "ok", "votes-add", session, program.Params{"request_id": other, "email": "EVE@zanzibar.example"})
		c.Want(t, "ok", "votes-add", session, program.Params{"request_id": own, "email": "bob@example.com"})
		note := c.Want(t, "ok", "comments-create", session, program.Params{
			"request_id": other, "body": "Eve@zanzibar.example waits for it.", "visibility": "internal",
		}).Comment.ID

		found := program.Succeed(t, people("find", "--email=eve@zanzibar.example", "--name=dark")...)
		want := regexp.MustCompile(`^Requests: 1\nVotes: 2\nComments: 0\nHeld comments: 0\nSubscriptions, sessions and blocks: 0
The same records have these addresses and ids; search for them, too:
  zanzibar-7
Texts that mention the person:
  comment of the request Export as CSV \(` + other + `\)
  title of the request Dark mode \(` + own + `\)\n$`)
		if !want.MatchString(found) {
			t.Errorf("people find: %q", found)
		}
		testExport(t, people("export", "--external-id=zanzibar-7", "--uploads="+uploads), own, file, text)
		without := program.Succeed(t, people("export", "--external-id=zanzibar-7", "--uploads="+t.TempDir(),
			"--output="+filepath.Join(t.TempDir(), "eve"))...)
		if !strings.Contains(without, "files: 0 (missing: 1)") {
			t.Errorf("people export without the file: %q", without)
		}

		folder := filepath.Join(t.TempDir(), "eve")
		failure := fail(t, nil, "", people("export", "--external-id=zanzibar-7", "--output="+folder)...)
		if _, err := os.Stat(folder); failure != "the person attached files; name their place with --uploads" || err == nil {
			t.Errorf("people export without the place of files: %q, %v", failure, err)
		}
		link := c.Want(t, "ok", "requests-status-link", session, program.Params{"id": own}).URL

		got := program.Succeed(t, people("rectify", "--external-id=zanzibar-7", "--new-name=Eve")...)
		if got != "Corrected requests: 1, votes: 1, comments: 0, sessions and blocks: 0.\n" {
			t.Errorf("people rectify: %q", got)
		}
		got = program.Succeed(t, people("find", "--email=nobody@example.com", "--name=eve")...)
		if !strings.Contains(got, "Requests: 0\n") {
			t.Errorf("somebody else: %q", got)
		}

		for want, args := range map[string][]string{
			"name the person with --email, --external-id or both":                               people("find"),
			`there is no account called "Acne"; run gatherkit account list to see all accounts`: people("find", "--account=Acne", "--email=a@b.c"),
			"give the right address with --new-email, the right name with --new-name, or both":  people("rectify", "--email=a@b.c"),
			`"eve" is not an e-mail address`: people(
				"rectify", "--email=a@b.c", "--new-email=eve"),
			"the name must be on one line": people(
				"rectify", "--email=a@b.c", "--new-name=a\nb"),
			"repeat the address or the id of the person with --confirm": people(
				"erase", "--email=a@b.c", "--mode=delete", "--confirm=a"),
			uploads + " exists already; give the folder a new name": people(
				"export", "--email=a@b.c", "--output="+uploads),
		} {
			if got := fail(t, nil, "", args...); got != want {
				t.Errorf("gatherkit %q: %q, want %q", args, got, want)
			}
		}

		c.Want(t, "ok", "comments-update", session, program.Params{"request_id": other, "id": note, "body": "She waits for it."})
		erase := people("erase", "--email=eve@zanzibar.example", "--external-id=zanzibar-7", "--mode=delete", "--confirm=zanzibar-7")
		got = program.Succeed(t, erase...)
		printed := regexp.MustCompile(`^Erased requests: 1 \(deleted: 0\), votes: 2, comments: 0, sessions and blocks: 0\.
The request ` + own + ` stays without the person, because others are behind it\.
Attached files are deleted within an hour\. Backups contain the person until you delete them\.\n$`)
		if !printed.MatchString(got) {
			t.Errorf("people erase: %q", got)
		}
		program.Eventually(t, "nothing is left of the person", func() bool { return len(traces(t, at, uploads, marker)) == 0 })
		if n := c.Want(t, "ok", "requests-list", session, program.Params{"query": "eve@zanzibar.example"}).TotalCount; n != 0 {
			t.Errorf("a search still finds %d requests", n)
		}
		erased := map[string]int{}
		for _, e := range c.Want(t, "ok", "events-list", session, program.Params{"after": 0}).Events {
			if e.Kind == "person.erased" || e.Kind == "request.person_erased" {
				erased[e.Kind+" "+e.RequestID]++
			}
		}
		if erased["request.person_erased "+own] == 0 || erased["request.person_erased "+other] != 1 || erased["person.erased "] != 1 {
			t.Errorf("the feed says of erasures %v", erased)
		}
		_, token, _ := strings.Cut(link, "#")
		c.Want(t, "mine.link_not_found", "mine-list", "", program.Params{"token": token})
		link = c.Want(t, "ok", "requests-export", session, program.Params{"format": "jsonl"}).URL
		_, exported := page(t, c.HTTP, c.URL+link, nil)
		if !strings.Contains(exported, "Dark mode") || strings.Contains(strings.ToLower(exported), marker) {
			t.Errorf("an export: %s", exported)
		}
		if got := program.Succeed(t, append([]string{"recount"}, program.At(at)...)...); got != "All counters are right.\n" {
			t.Errorf("recount: %q", got)
		}
		program.Succeed(t, append([]string{"verify"}, flags...)...)
	})
}

// testExport checks the folder that people export writes.
func testExport(t *testing.T, command []string, request, file, text string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "eve")
	got := program.Succeed(t, append(command, "--output="+folder)...)
	if want := "Wrote requests: 1, votes: 1, comments: 0, files: 1 (missing: 0) to " + folder + ".\n"; got != want {
		t.Errorf("people export: %q, want %q", got, want)
	}
	content, err := os.ReadFile(filepath.Join(folder, "person.json"))
	if err != nil {
		t.Fatal(err)
	}
	var person struct {
		Requests []struct {
			ID       string
			Metadata map[string]string
		}
		Votes, Comments, Mentions []any
	}
	if err := json.Unmarshal(content, &person); err != nil {
		t.Fatal(err)
	}
	if len(person.Requests) != 1 || person.Requests[0].ID != request || person.Requests[0].Metadata["page"] != "https://zanzibar.example" ||
		len(person.Votes) != 1 || len(person.Mentions) != 0 {
		t.Errorf("person.json: %s", content)
	}
	if copied, err := os.ReadFile(filepath.Join(folder, file+"-menu.txt")); err != nil || string(copied) != text {
		t.Errorf("the file: %q, %v", copied, err)
	}
}
