package torture_test

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestRestore makes two backups with the documented entry of cron while people submit requests with
// files. It then loses the machine, and restores the second backup with the documented commands.
// Everything from before that backup must be there, with its files.
func TestRestore(t *testing.T) {
	storetest.Proof(t)
	parallel(t)
	storetest.EachInTurn(t, func(t *testing.T, place storetest.Place) {
		d := newDrill(t, place)
		p := program.Start(t, d.flags()...)
		c := program.NewClient(t, p)
		token := c.Login(t)
		key := filesApp(t, c, token).APIKey
		var l program.Ledger
		stop := program.SubmitWith(4, func(title string) {
			if id := submitFile(t, c, key, title); id != "" {
				l.Note(t, id, title)
			}
		})
		some := program.Times(50, 2000)
		l.AwaitMore(t, some)
		d.backup(t, "first")
		l.AwaitMore(t, some)
		before := l.Clone()
		began := time.Now()
		d.backup(t, "second")
		took := time.Since(began)
		stop()
		p.Kill(t)

		began = time.Now()
		d.restore(t, "second")
		p = program.Start(t, d.flags()...)
		restore := time.Since(began)
		c = program.NewClient(t, p)
		restored := c.List(t, token)
		before.Check(t, restored)
		lost, _ := before.Compare(restored)
		measured(t, "a backup of %d requests with files took %v, the restore %v: %d lost", before.Len(),
			took.Round(time.Millisecond), restore.Round(time.Millisecond), lost)
		for id, r := range restored {
			checkFile(t, c, token, id, r.Title)
		}
		// The restored service goes on.
		checkFile(t, c, token, submitFile(t, c, key, "after the restore"), "after the restore")
	})
}

// submitFile submits a request with a file that contains the title, and returns its id, or "" if the
// service has ended.
func submitFile(t *testing.T, c program.Client, key, title string) string {
	file := program.Params{"filename": "a.txt", "content_type": "text/plain", "size": len(title)}
	u, err := c.Call("widget-create-upload", key, file)
	if err != nil {
		return ""
	}
	if _, code, err := put(c, u.Upload, title); err != nil || code != "ok" {
		t.Errorf("a file: %s %v", code, err)
		return ""
	}
	got, err := c.Call("widget-submit-request", key, program.Params{"title": title, "description": "", "attachments": []string{u.Upload.ID}})
	if err != nil || got.Code != "ok" {
		t.Errorf("%s: %s %v", title, got.Code, err)
	}
	return got.Request.ID
}

// checkFile fails the test if a request does not have a file with the given content.
func checkFile(t *testing.T, c program.Client, token, id, content string) {
	t.Helper()
	r := c.Want(t, "ok", "requests-get", token, program.Params{"id": id}).Request
	if len(r.Attachments) != 1 {
		t.Fatalf("request %s has %d files", id, len(r.Attachments))
	}
	response, err := c.HTTP.Get(c.URL + r.Attachments[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // the body is read below
	if got, err := io.ReadAll(response.Body); response.StatusCode != http.StatusOK || string(got) != content || err != nil {
		t.Errorf("the file of %q: %d %q %v", content, response.StatusCode, got, err)
	}
}

// drill is an installation whose backups are made and restored by the commands in docs/operating.md.
type drill struct {
	place             storetest.Place
	uploads           string
	backups, programs string // folders
}

func newDrill(t *testing.T, place storetest.Place) *drill {
	t.Helper()
	parent := t.TempDir()
	d := &drill{place: place, backups: filepath.Join(parent, "backups"), programs: filepath.Join(parent, "programs")}
	d.uploads = filepath.Join(parent, "uploads")
	if place.Database == "" {
		d.place.Folder = filepath.Join(parent, "gatherkit")
		d.uploads = filepath.Join(d.place.Folder, "uploads")
	}
	program.AddOwner(t, d.place)
	for _, folder := range []string{d.backups, d.programs} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(program.Build(t), filepath.Join(d.programs, "gatherkit")); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *drill) flags() []string { return append(program.At(d.place), "--uploads="+d.uploads) }

// backup runs the command of the entry of cron, for another name.
func (d *drill) backup(t *testing.T, name string) {
	t.Helper()
	script := entryOf(t, "* * * gatherkit ")
	places := []string{"/var/lib/gatherkit", d.place.Folder}
	if d.place.Database != "" {
		script = entryOf(t, "* * * root ")
		secret := filepath.Join(d.programs, "database")
		if err := os.WriteFile(secret, []byte(d.place.Database), 0o600); err != nil {
			t.Fatal(err)
		}
		places = []string{"/etc/gatherkit/database", secret, "/var/lib/gatherkit/uploads", d.uploads}
	}
	d.run(t, program.Replaced(t, script, append(places, "/usr/local/bin/gatherkit", "gatherkit", "/var/backups/gatherkit", d.backups,
		`$(date +\%F-\%H\%M)`, name)...))
}

// entryOf returns the command of the entry of cron that begins like this, after minute and hour.
func entryOf(t *testing.T, begin string) string {
	t.Helper()
	_, script, found := strings.Cut(program.Block(t, begin), begin)
	if !found {
		t.Fatalf("no entry has %q", begin)
	}
	return script
}

// restore runs the documented commands on new places, or on that of the lost data.
func (d *drill) restore(t *testing.T, name string) {
	t.Helper()
	pairs := []string{"/var/backups/gatherkit/2026-11-21-0315", filepath.Join(d.backups, name), "chown -R gatherkit:gatherkit", "true"}
	if d.place.Database == "" {
		block := program.Block(t, "mv /var/lib/gatherkit /var/lib/gatherkit.old")
		d.run(t, program.Replaced(t, block, append(pairs, "/var/lib/gatherkit", d.place.Folder)...))
		return
	}
	u, err := url.Parse(d.place.Database)
	if err != nil {
		t.Fatal(err)
	}
	fresh := strings.TrimPrefix(u.Path, "/") + "_2"
	u.Path = fresh
	d.run(t, program.Replaced(t, program.Block(t, "pg_restore "), append(pairs,
		"postgres://gatherkit:password@localhost/gatherkit2", "'"+u.String()+"'", "--owner=gatherkit gatherkit2", fresh,
		"/var/lib/gatherkit/uploads2", d.uploads+"2")...))
	d.place.Database, d.uploads = u.String(), d.uploads+"2"
}

// run runs a script in which the commands that need systemd or another user do without them. It
// fails the test if the service is not stopped first and, if at all, started last.
func (d *drill) run(t *testing.T, script string) {
	t.Helper()
	if at := strings.Index(script, "systemctl stop"); at > 0 || at < 0 && strings.Contains(script, "systemctl start") {
		t.Fatalf("the service is not stopped first:\n%s", script)
	}
	const without = "systemctl() { echo \"$@\"; }\nsudo() { shift 2; \"$@\"; }\n"
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", without+script)
	cmd.Env = append(os.Environ(), "PATH="+d.programs+":"+os.Getenv("PATH"))
	if d.place.Database != "" {
		u, err := url.Parse(d.place.Database)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(cmd.Env, "PGHOST="+u.Hostname(), "PGPORT="+u.Port(), "PGUSER="+u.User.Username())
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, script, out)
	}
	t.Log(strings.TrimSpace(string(out)))
}
