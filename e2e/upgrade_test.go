package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestUpgrade starts the program on SQLite databases that earlier versions have written. testdata has their content, as
// sqlite3 prints it with .dump: a user, an app, and six requests, one of which is in the bin. With schema 12, one has a
// vote, tags and a comment, and one is merged.
func TestUpgrade(t *testing.T) {
	for name, test := range map[string]struct {
		key  string
		last string // the status of the last request
	}{
		"schema1":  {"gk_YUeyksTppNDJNRlI6ph0CK4PSLW8rtOy1gmj36", "opened"},
		"schema12": {"gk_Sm2huJmzQGIJ2XI38oqNa42CwwBg6UgR2ime2a", "duplicate"},
	} {
		t.Run(name, func(t *testing.T) {
			place := storetest.SQLite(t)
			if err := os.Chmod(place.Folder, 0o700); err != nil {
				t.Fatal(err)
			}
			raw := place.Raw(t)
			if _, err := raw.ExecContext(t.Context(), program.Read(t, "e2e/testdata/"+name+".sql")); err != nil {
				t.Fatal(err)
			}
			if err := raw.Close(); err != nil {
				t.Fatal(err)
			}
			p := program.Start(t, program.At(place)...)
			c := program.NewClient(t, p)
			token := c.Login(t)
			c.Submit(t, test.key, "Written by the new version")
			got := map[string]string{}
			for _, r := range c.List(t, token) {
				got[r.Title] = r.Status
			}
			want := map[string]string{
				"Dark mode": "opened", "Offline maps": "in_progress", "Export as CSV": "completed", "Single sign-on": "opened",
				"Keyboard shortcuts": test.last, "Written by the new version": "opened",
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("- written, + listed:\n%s", diff)
			}
			program.Eventually(t, "words find a request", func() bool {
				found := c.Want(t, "ok", "requests-list", token, program.Params{"query": "offline"})
				return found.TotalCount == 1 && found.Requests[0].Title == "Offline maps"
			})
			if name == "schema12" {
				checkVotesAndComments(t, c, token)
			}
			if counted := program.Succeed(t, append([]string{"recount"}, program.At(place)...)...); counted != "All counters are right.\n" {
				t.Errorf("recount: %s", counted)
			}
			p.Stop(t)
			if log := p.Stderr.String(); strings.Contains(log, `"ERROR"`) || strings.Contains(log, `"WARN"`) {
				t.Errorf("the log has:\n%s", log)
			}
		})
	}
}

// checkVotesAndComments checks what belongs to the request with tags.
func checkVotesAndComments(t *testing.T, c program.Client, token string) {
	t.Helper()
	tagged := c.Want(t, "ok", "requests-list", token, program.Params{"tag": "night"})
	if len(tagged.Requests) != 1 || tagged.Requests[0].Title != "Dark mode" {
		t.Fatalf("the tags find %+v", tagged.Requests)
	}
	about := fmt.Sprintf(`{"request_id":%q}`, tagged.Requests[0].ID)
	for operation, text := range map[string]string{"votes-list": `"name":"Eve"`, "comments-list": `"body":"We think about it."`} {
		answer := call(t, http.DefaultClient, c.URL+"/api/"+operation, about, "Authorization", "Bearer "+token)
		if !strings.Contains(string(answer.Result), text) {
			t.Errorf("%s: %s; want %s", operation, answer.Result, text)
		}
	}
}
