package e2e_test

import (
	"context"
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
	program.Succeed(t, "user", "add", "--data="+filepath.Join(at, "made"), "--account=Acme", "--email=a@example.com", "--name=Ada")
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
		}, "cannot open the database: the data folder cannot be created: mkdir $: not a directory"},
		"no database": {func(data string) {
			folder(data, nobody)
			file(data+"/gatherkit.db", []byte(strings.Repeat("not a database\n", 1000)))
			own(data+"/gatherkit.db", nobody)
		}, "cannot open the database: $/gatherkit.db is damaged or is not a database; restore a backup: file is not a database (26)"},
		"half a database": {func(data string) {
			folder(data, nobody)
			file(data+"/gatherkit.db", made[:5000])
			own(data+"/gatherkit.db", nobody)
		}, "cannot open the database: $/gatherkit.db is damaged or is not a database; restore a backup: database disk image is malformed (11)"},
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
