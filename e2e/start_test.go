package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// nobody is the user and the group that own nothing, on Debian and on most other systems.
const nobody = 65534

// asNobody runs the service as a user without rights. It must not start, and asNobody returns its
// message.
func asNobody(t *testing.T, binary string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), storetest.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, append([]string{"serve", "--listen=" + program.FreeAddress(t)}, args...)...)
	cmd.Env, cmd.Dir = program.CleanEnvironment(), filepath.Dir(binary)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("exit %d, %v\n%s", cmd.ProcessState.ExitCode(), err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.TrimPrefix(lines[len(lines)-1], "gatherkit: ")
}

// TestUnusableFiles: a service that cannot use its files does not start, and says which file, whose
// it is, and what to do.
func TestUnusableFiles(t *testing.T) {
	if os.Geteuid() != 0 {
		storetest.Missing(t, "root", "the test gives files to other users")
	}
	at, err := os.MkdirTemp("", "gatherkit-start-") // not t.TempDir, which only root can enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(at) })
	if err := os.Chmod(at, 0o755); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(at, "gatherkit")
	program.Succeed(t, "user", "add", "--data="+filepath.Join(at, "made"),
		"--new-account", "--account=Acme", "--email=a@example.com", "--name=Ada")
	made, err := os.ReadFile(filepath.Join(at, "made", "gatherkit.db"))
	if err != nil {
		t.Fatal(err)
	}
	// file writes a file of root, and own gives a path to a user.
	file := func(path string, content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	own := func(path string, id int) {
		if err := os.Chown(path, id, id); err != nil {
			t.Fatal(err)
		}
	}
	folder := func(path string, id int) {
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		own(path, id)
	}
	built, err := os.ReadFile(program.Build(t))
	if err != nil {
		t.Fatal(err)
	}
	file(binary, built)
	if err := os.Chmod(binary, 0o755); err != nil {
		t.Fatal(err)
	}
	own(at, nobody)
	const restore = "restore the latest backup as in docs/operating.md, and check it with gatherkit verify"
	for name, test := range map[string]struct {
		prepare func(data string)
		want    string // $ is the data folder
	}{
		"a database of root": {func(data string) {
			folder(data, nobody)
			file(data+"/gatherkit.db", made)
		}, "cannot open the database: $/gatherkit.db belongs to root, but gatherkit runs as nobody; run chown -R nobody $/gatherkit.db"},
		"a log of root": {func(data string) {
			folder(data, nobody)
			file(data+"/gatherkit.db", made)
			own(data+"/gatherkit.db", nobody)
			file(data+"/gatherkit.db-wal", nil)
		}, "cannot open the database: $/gatherkit.db-wal belongs to root, but gatherkit runs as nobody; run chown -R nobody $/gatherkit.db-wal"},
		"a folder of root": {func(data string) {
			folder(data, 0)
			file(data+"/gatherkit.db", made)
			own(data+"/gatherkit.db", nobody)
		}, "cannot open the database: $ belongs to root, but gatherkit runs as nobody; run chown -R nobody $"},
		"a folder without rights": {func(data string) {
			folder(data, nobody)
			if err := os.Chmod(data, 0o500); err != nil {
				t.Fatal(err)
			}
		}, "cannot open the database: the owner of $, nobody, may not read and write it; run chmod u+rwX $"},
		"a folder that cannot be entered": {func(data string) {
			folder(data, nobody)
			if err := os.Chmod(data, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "cannot open the database: the owner of $, nobody, may not read and write it; run chmod u+rwX $"},
		"a file instead of a folder": {func(data string) {
			file(data, nil)
			own(data, nobody)
		}, "cannot open the database: $ is a file and not a folder; name a folder, such as ./data"},
		"a file instead of a folder of files": {func(data string) {
			folder(data, nobody)
			file(data+"/uploads", nil)
			own(data+"/uploads", nobody)
		}, "cannot open the folder of attached files: $/uploads is a file and not a folder"},
		"no database": {func(data string) {
			folder(data, nobody)
			file(data+"/gatherkit.db", []byte(strings.Repeat("not a database\n", 1000)))
			own(data+"/gatherkit.db", nobody)
		}, "cannot open the database: $/gatherkit.db is damaged or is not a database; " + restore + ": file is not a database (26)"},
		"half a database": {func(data string) {
			folder(data, nobody)
			file(data+"/gatherkit.db", made[:5000])
			own(data+"/gatherkit.db", nobody)
		}, "cannot open the database: $/gatherkit.db is damaged or is not a database; " + restore + ": database disk image is malformed (11)"},
		"uploads of another user": {func(data string) {
			folder(data, nobody)
			folder(data+"/uploads", 1)
		}, "cannot open the folder of attached files: $/uploads belongs to daemon, but gatherkit runs as nobody; run it as daemon"},
		"uploads of root": {func(data string) {
			folder(data, nobody)
			folder(data+"/uploads", 0)
		}, "cannot open the folder of attached files: $/uploads belongs to root, but gatherkit runs as nobody; run chown -R nobody $/uploads"},
		"a folder in uploads of root": {func(data string) {
			folder(data, nobody)
			folder(data+"/uploads", nobody)
			folder(data+"/uploads/incoming", 0)
		}, "cannot open the folder of attached files: $/uploads/incoming belongs to root, but gatherkit runs as nobody;" +
			" run chown -R nobody $/uploads/incoming"},
	} {
		t.Run(name, func(t *testing.T) {
			data := filepath.Join(at, strings.ReplaceAll(name, " ", "-"))
			test.prepare(data)
			if got := strings.ReplaceAll(asNobody(t, binary, "--data="+data), data, "$"); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
	own(at, 0)
	data := filepath.Join(at, "new", "data")
	want := "cannot open the database: $ does not exist, and nobody may not create it in " + at + "; run install -d -m 0700 -o nobody $"
	if got := strings.ReplaceAll(asNobody(t, binary, "--data="+data), data, "$"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestFileAsFolder: every command says that --data is a file, and which folder is meant.
func TestFileAsFolder(t *testing.T) {
	data := t.TempDir()
	program.Succeed(t, "migrate", "--data="+data)
	other, database := filepath.Join(data, "notes.txt"), filepath.Join(data, "gatherkit.db")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"serve"}, {"migrate"}, {"user", "list"}, {"verify"}, {"backup", data + "/copy"}} {
		want := "cannot open the database: " + other + " is a file and not a folder; name a folder, such as ./data"
		if got := fail(t, nil, "", append(args, "--data="+other)...); got != want {
			t.Errorf("%q: %s, want %s", args, got, want)
		}
	}
	want := "cannot open the database: " + database + " is a file and not a folder; name its folder, " + data
	if got := fail(t, []string{"GATHERKIT_DATA=" + database}, "", "serve"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestDamagedDatabase: whatever finds the damage names the file and says what to do.
func TestDamagedDatabase(t *testing.T) {
	for table, commands := range map[string][][]string{
		"accounts":     {{"user", "list"}, {"verify"}, {"backup", "copy"}},
		"installation": {{"serve"}},
	} {
		place := storetest.SQLite(t)
		program.AddOwner(t, place)
		path := filepath.Join(place.Folder, "gatherkit.db")
		damage(t, place, path, table)
		want := path + " is damaged or is not a database; restore the latest backup as in docs/operating.md, and check it with gatherkit verify: "
		for _, args := range commands {
			args = append(args, "--data="+place.Folder)
			if args[0] == "serve" {
				args = append(args, "--listen="+program.FreeAddress(t))
			}
			got := program.Execute(t, nil, "", args...)
			lines := strings.Split(strings.TrimSpace(got.Stderr), "\n")
			if got.Code != 1 || !strings.Contains(lines[len(lines)-1], want) || strings.Count(lines[len(lines)-1], "is damaged") != 1 {
				t.Errorf("%q: exit %d, %s, want %s", args, got.Code, got.Stderr, want)
			}
		}
	}
}

// damage overwrites the first page of a table, which opening the database does not read.
func damage(t *testing.T, place storetest.Place, path, table string) {
	t.Helper()
	raw := place.Raw(t)
	var root, size int64
	if err := raw.QueryRow("SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = $1", table).Scan(&root); err != nil {
		t.Fatal(err)
	}
	if err := raw.QueryRow("PRAGMA page_size").Scan(&size); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteAt(bytes.Repeat([]byte{0xff}, int(size)), (root-1)*size)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestForeignTables: a service whose role does not own the tables does not start, and says what to
// do.
func TestForeignTables(t *testing.T) {
	place := storetest.Place{Name: "postgres", Database: storetest.Postgres(t)}
	const stranger = "postgres://stranger:stranger@"
	role := place.Raw(t)
	for _, statement := range []string{"DROP ROLE IF EXISTS stranger", "CREATE ROLE stranger LOGIN PASSWORD 'stranger'"} {
		if _, err := role.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _, _ = place.Raw(t).Exec("DROP ROLE stranger") })
	_, server, _ := strings.Cut(place.Database, "@")
	const hint = "the user in the URL must own the database and its tables; run ALTER DATABASE … OWNER TO …," +
		" or restore the backup as that user with --no-owner"
	check := func(what string) {
		if got := fail(t, nil, "", "migrate", "--database="+stranger+server); !strings.Contains(got, hint) {
			t.Errorf("%s: %s", what, got)
		}
	}
	check("an empty database of another role")
	program.Succeed(t, append([]string{"migrate"}, program.At(place)...)...)
	check("tables of another role")
}

// TestFirstAnswer: a service that has nothing to migrate refuses connections until it is ready, so that a proxy sends
// its calls to another replica.
func TestFirstAnswer(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		program.AddOwner(t, place)
		p := launch(t, place)
		program.Eventually(t, "the service answers", func() bool {
			response, err := http.Get(p.URL + "/readyz")
			if err != nil {
				return false
			}
			if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
				t.Errorf("the first answer is %s, %v", response.Status, err)
			}
			return true
		})
	})
}

// launch starts a service and does not wait until it is ready.
func launch(t *testing.T, place storetest.Place) *program.Process {
	t.Helper()
	address := program.FreeAddress(t)
	p := &program.Process{Address: address, URL: "http://" + address, Exited: make(chan struct{})}
	p.Cmd = exec.CommandContext(t.Context(), program.Build(t), append([]string{"serve", "--listen", address}, program.At(place)...)...)
	p.Cmd.Dir, p.Cmd.Env = t.TempDir(), program.CleanEnvironment()
	p.Cmd.Stdout, p.Cmd.Stderr = &p.Stdout, &p.Stderr
	program.Launch(t, p.Cmd, p.Exited)
	p.PID = p.Cmd.Process.Pid
	return p
}

// TestStartsBehindMigration: while a service migrates the database, or another process does, it says that it lives and is
// not ready, and names what it waits for. It can be stopped meanwhile.
func TestStartsBehindMigration(t *testing.T) {
	for name, test := range map[string]struct{ block, unblock string }{
		"of another process": {"SELECT pg_advisory_lock(7423001)", "SELECT pg_advisory_unlock(7423001)"},
		"of its own": {
			"DELETE FROM schema_version WHERE version = (SELECT MAX(version) FROM schema_version); COMMIT; BEGIN; LOCK TABLE requests",
			"ROLLBACK",
		},
	} {
		t.Run(name, func(t *testing.T) { startsBehind(t, test.block, test.unblock) })
	}
}

// startsBehind starts services on a database in which another connection has run the statements of block, and runs
// those of unblock.
func startsBehind(t *testing.T, block, unblock string) {
	t.Helper()
	place := storetest.Place{Name: "postgres", Database: storetest.Postgres(t)}
	program.AddOwner(t, place)
	conn, err := place.Raw(t).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // ends the test
	other := func(statement string) {
		t.Helper()
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	other("SET application_name = 'the other process'")
	other(block)
	p, stopped := launch(t, place), launch(t, place)
	for _, one := range []*program.Process{p, stopped} {
		program.Eventually(t, "the process lives", func() bool { return program.Answers(t, one.URL+"/livez") })
	}
	for path, want := range map[string]string{"/readyz": "", "/": "1", "/api/requests-list": "1"} {
		response, err := http.Get(p.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if got := response.Header.Get("Retry-After"); response.StatusCode != http.StatusServiceUnavailable || got != want {
			t.Errorf("%s: %s, Retry-After %q, want 503 and %q", path, response.Status, got, want)
		}
	}
	program.Eventually(t, "the log names what the service waits for", func() bool {
		return strings.Contains(p.Stderr.String(), `"application":"the other process"`)
	})
	stopped.Stop(t)
	if code := stopped.ExitCode(t); code != 0 || !strings.Contains(stopped.Stderr.String(), "stopped before the service was ready") {
		t.Errorf("exit %d\n%s", code, stopped.Stderr.Tail())
	}
	other(unblock)
	program.Eventually(t, "the service is ready", func() bool { return program.Answers(t, p.URL+"/readyz") })
}
