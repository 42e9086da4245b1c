package e2e_test

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// stored is a service with a request that has a file.
type stored struct {
	*program.Process
	place   storetest.Place
	uploads string // the folder of its files
	key     string
}

// storeFile starts a service and submits a request with a file.
func storeFile(t *testing.T, place storetest.Place) stored {
	t.Helper()
	s := stored{place: place, uploads: filepath.Join(place.Folder, "uploads")}
	if place.Database != "" {
		s.uploads = filepath.Join(t.TempDir(), "uploads")
	}
	s.Process = program.Start(t, s.flags()...)
	_, s.key = uploading(t, s.Process)
	s.submit(t, "words")
	return s
}

// flags are those of serve, backup and verify.
func (s stored) flags() []string { return append(program.At(s.place), "--uploads="+s.uploads) }

// submit submits a request with a file and returns the path of the file.
func (s stored) submit(t *testing.T, content string) string {
	t.Helper()
	id := sendFile(t, s.Process, s.key, "a.txt", []byte(content))
	body := `{"title":"With a file","description":"","attachments":["` + id + `"]}`
	call(t, http.DefaultClient, s.URL+"/api/widget-submit-request", body, "X-API-Key", s.key).get(t, "request.id")
	return filepath.Join(s.uploads, "files", id)
}

// filesIn returns the names of the files of a backup.
func filesIn(t *testing.T, backup string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(backup, "uploads", "files", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestBackup(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		s, parent := storeFile(t, place), t.TempDir()
		backup := func(name string) (folder string, got program.Outcome) {
			folder = filepath.Join(parent, name)
			return folder, program.Execute(t, nil, "", append([]string{"backup", folder}, s.flags()...)...)
		}
		// What a backup that was interrupted has left does not matter.
		if err := os.MkdirAll(filepath.Join(parent, "first.part", "uploads"), 0o700); err != nil {
			t.Fatal(err)
		}
		first, got := backup("first")
		printed := "Wrote the backup to " + first + ". Attached files: 1.\nIt contains secrets and personal data; protect it like the database.\n"
		if got.Code != 0 || got.Stdout != printed || got.Stderr != "" {
			t.Errorf("%+v", got)
		}
		lost := s.submit(t, "lost")
		if err := os.Remove(lost); err != nil {
			t.Fatal(err)
		}
		s.submit(t, "more")
		second, got := backup("second")
		if got.Code != 0 || !strings.Contains(got.Stdout, "Attached files: 2.") {
			t.Errorf("%+v", got)
		}
		warning := `: file ` + filepath.Base(lost) + ` ("a.txt") is missing` +
			"\ngatherkit: warning: attached files are missing or damaged in the service and in the backup: 1 of 3\n"
		if !strings.HasPrefix(got.Stderr, "request ") || !strings.HasSuffix(got.Stderr, warning) {
			t.Errorf("the warning is %q", got.Stderr)
		}
		before, after := filesIn(t, first), filesIn(t, second)
		if len(before) != 1 || len(after) != 2 {
			t.Fatalf("the files are %q and %q", before, after)
		}
		if same := filepath.Join(second, "uploads", "files", filepath.Base(before[0])); !sameFile(t, before[0], same) {
			t.Errorf("%s is a copy and not a link of %s", same, before[0])
		}
		if sameFile(t, before[0], filepath.Join(s.uploads, "files", filepath.Base(before[0]))) {
			t.Error("the backup has no copy of the file, but a link of the service's")
		}
		if left, err := filepath.Glob(filepath.Join(parent, "*")); err != nil || len(left) != 2 {
			t.Errorf("the folder has %q, %v; want two backups", left, err)
		}
		if _, got := backup("first"); got.Code != 1 || !strings.HasSuffix(got.Stderr, "exists already; give the folder a new name\n") {
			t.Errorf("a name that is taken: %+v", got)
		}
		if _, got := backup("missing/first"); got.Code != 1 || !strings.HasPrefix(got.Stderr, "gatherkit: cannot write the folder: ") {
			t.Errorf("a missing parent: %+v", got)
		}
	})
}

func sameFile(t *testing.T, one, other string) bool {
	t.Helper()
	a, errA := os.Stat(one)
	b, errB := os.Stat(other)
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	return os.SameFile(a, b)
}

// TestDamagedLinks tests that a backup does not take a damaged file from the backup before.
func TestDamagedLinks(t *testing.T) {
	s, parent := storeFile(t, storetest.SQLite(t)), t.TempDir()
	first, second := filepath.Join(parent, "first"), filepath.Join(parent, "second")
	program.Succeed(t, append([]string{"backup", first}, s.flags()...)...)
	for _, damaged := range []string{"wo", "wards"} {
		if err := errors.Join(os.RemoveAll(second), os.WriteFile(filesIn(t, first)[0], []byte(damaged), 0o600)); err != nil {
			t.Fatal(err)
		}
		program.Succeed(t, append([]string{"backup", second}, s.flags()...)...)
		if content, err := os.ReadFile(filesIn(t, second)[0]); string(content) != "words" {
			t.Errorf("the second backup has %q, %v", content, err)
		}
		if content, err := os.ReadFile(filesIn(t, first)[0]); string(content) != damaged {
			t.Errorf("the first backup has %q, %v", content, err)
		}
	}
}

// TestDamagedFile tests that a backup keeps the copy of the backup before if the service's file is damaged, and says
// so if it has none.
func TestDamagedFile(t *testing.T) {
	s, parent := storeFile(t, storetest.SQLite(t)), t.TempDir()
	first, second := filepath.Join(parent, "first"), filepath.Join(parent, "second")
	program.Succeed(t, append([]string{"backup", first}, s.flags()...)...)
	damage := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, []byte("wards"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := filepath.Join(s.uploads, "files", filepath.Base(filesIn(t, first)[0]))
	damage(old)
	if got := program.Execute(t, nil, "", append([]string{"backup", filepath.Join(t.TempDir(), "alone")}, s.flags()...)...); got.Code != 0 ||
		!strings.HasSuffix(got.Stderr, "in the service and in the backup: 1 of 1\n") {
		t.Errorf("all files are damaged: %+v", got)
	}
	damage(s.submit(t, "whole"))
	got := program.Execute(t, nil, "", append([]string{"backup", second}, s.flags()...)...)
	if got.Code != 0 || !strings.HasSuffix(got.Stderr, `("a.txt") is damaged: its content has changed`+"\n"+
		"gatherkit: warning: attached files are missing or damaged in the service and in the backup: 1 of 2\n") {
		t.Errorf("%+v", got)
	}
	var contents []string
	for _, file := range filesIn(t, second) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		contents = append(contents, string(content))
	}
	if !slices.Equal(contents, []string{"words", "wards"}) {
		t.Errorf("the second backup has %q", contents)
	}
}

// TestBackupOfWrongPlace tests that a backup without any of the attached files fails and is not kept.
func TestBackupOfWrongPlace(t *testing.T) {
	s, backup := storeFile(t, storetest.SQLite(t)), filepath.Join(t.TempDir(), "backup")
	got := program.Execute(t, nil, "", "backup", backup, "--data="+s.place.Folder, "--uploads="+t.TempDir())
	const want = "gatherkit: none of the attached files was found (1); name their place with --uploads," +
		" or back up the database with --without-files\n"
	if _, err := os.Stat(backup); got.Code != 1 || err == nil || !strings.HasSuffix(got.Stderr, want) {
		t.Errorf("%+v, %v", got, err)
	}
	got = program.Execute(t, nil, "", "backup", backup, "--without-files", "--data="+s.place.Folder, "--uploads="+t.TempDir())
	names, err := filepath.Glob(filepath.Join(backup, "*"))
	if got.Code != 0 || got.Stderr != "" || len(names) != 1 || filepath.Base(names[0]) != "gatherkit.db" {
		t.Errorf("without files: %+v, %q, %v", got, names, err)
	}
}

// TestBackupWithoutPlace tests that a backup without --uploads has the database, and says that it has no files.
func TestBackupWithoutPlace(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		s, backup := storeFile(t, place), filepath.Join(t.TempDir(), "backup")
		if err := os.RemoveAll(s.uploads); err != nil { // as if they were in a bucket
			t.Fatal(err)
		}
		got := program.Execute(t, nil, "", append([]string{"backup", backup}, program.At(place)...)...)
		const want = "gatherkit: warning: the backup has none of the attached files (1); name their place with --uploads\n"
		if got.Code != 0 || got.Stderr != want || !strings.Contains(got.Stdout, "Attached files: 0.") {
			t.Errorf("%+v", got)
		}
		if found, err := filepath.Glob(filepath.Join(backup, "gatherkit.*")); len(found) != 1 || err != nil {
			t.Errorf("the backup has %q, %v", found, err)
		}
	})
}

// TestBackupBesideData tests that a backup beside the data folder has copies of its files, not links.
func TestBackupBesideData(t *testing.T) {
	s := storeFile(t, storetest.SQLite(t))
	backup := s.place.Folder + "-backup"
	program.Succeed(t, append([]string{"backup", backup}, s.flags()...)...)
	file := filesIn(t, backup)[0]
	if sameFile(t, file, filepath.Join(s.uploads, "files", filepath.Base(file))) {
		t.Error("the backup has a link of the service's file")
	}
}

// TestBackupBesideChanges tests that a backup has every file that its database names, even if one
// is deleted and another one arrives while the database is copied.
func TestBackupBesideChanges(t *testing.T) {
	s := storeFile(t, storetest.Place{Name: "postgres", Database: storetest.Postgres(t)})
	deleted := s.submit(t, "deleted later")
	backup, tools := filepath.Join(t.TempDir(), "backup"), t.TempDir()
	tool, err := exec.LookPath("pg_dump")
	if err != nil {
		t.Fatal(err)
	}
	// This pg_dump waits until the test has made its changes.
	slow := "#!/bin/sh\ntouch " + tools + "/begun\nwhile [ ! -e " + tools + "/go ]; do sleep 0.05; done\nexec " + tool + ` "$@"` + "\n"
	if err := os.WriteFile(filepath.Join(tools, "pg_dump"), []byte(slow), 0o700); err != nil {
		t.Fatal(err)
	}
	done := make(chan program.Outcome, 1)
	go func() {
		path := []string{"PATH=" + tools + ":" + os.Getenv("PATH")}
		done <- program.Execute(t, path, "", append([]string{"backup", backup}, s.flags()...)...)
	}()
	program.Eventually(t, "pg_dump has begun", func() bool {
		_, err := os.Stat(filepath.Join(tools, "begun"))
		return err == nil
	})
	arrived := s.submit(t, "arrived later")
	if err := os.Remove(deleted); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tools, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := <-done; got.Code != 0 || !strings.Contains(got.Stdout, "Attached files: 3.") {
		t.Fatalf("%+v", got)
	}
	for _, file := range []string{deleted, arrived} {
		if _, err := os.Stat(filepath.Join(backup, "uploads", "files", filepath.Base(file))); err != nil {
			t.Error(err)
		}
	}
}

func TestBackupFails(t *testing.T) {
	folder := t.TempDir()
	backup := filepath.Join(folder, "backup")
	missing := filepath.Join(t.TempDir(), "missing")
	empty := t.TempDir()
	for _, data := range []string{missing, empty} {
		for _, args := range [][]string{{"backup", backup}, {"verify"}, {"recount"}, {"user", "list"}} {
			got := fail(t, nil, "", append(args, "--data="+data)...)
			if got != "cannot open the database: there is no database of Gatherkit in "+data+"; name the folder that has it" {
				t.Errorf("%v in a folder without a database: %q", args, got)
			}
		}
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("backup has created the missing data folder")
	}
	if made, err := os.ReadDir(empty); err != nil || len(made) > 0 {
		t.Errorf("backup has made %v in an empty folder, %v", made, err)
	}
	postgres := "--database=" + storetest.Postgres(t)
	for _, args := range [][]string{{"backup", backup}, {"verify"}, {"distribute", "--dry-run"}} {
		got := fail(t, nil, "", append(args, postgres)...)
		if got != "cannot open the database: there is no database of Gatherkit: it has no tables; check --database and --data" {
			t.Errorf("%v on an empty database: %q", args, got)
		}
	}
	program.Succeed(t, "migrate", postgres)
	uploads := filepath.Join(t.TempDir(), "uploads")
	got := fail(t, nil, "", "verify", postgres, "--uploads="+uploads)
	if _, err := os.Stat(uploads); err == nil || !strings.HasPrefix(got, "cannot find the folder of attached files: stat "+uploads) {
		t.Errorf("a missing folder of files: %q", got)
	}
	got = fail(t, []string{"PATH=/nonexistent"}, "", "backup", backup, postgres)
	if !strings.Contains(got, `"pg_dump": executable file not found`) || !strings.HasSuffix(got, "apt-get install postgresql-client") {
		t.Errorf("without pg_dump: %q", got)
	}
	tool := filepath.Join(t.TempDir(), "pg_dump")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\necho \"$3 $PGPASSWORD\" >&2\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	// Others can read the arguments of a process, but not its environment.
	secret := strings.Replace(postgres, "postgres@", "postgres:two%20words@", 1)
	got = fail(t, []string{"PATH=" + filepath.Dir(tool)}, "", "backup", backup, secret)
	if got != "pg_dump failed: exit status 3: "+strings.Replace(postgres, "--database", "--dbname", 1)+" two words" {
		t.Errorf("pg_dump fails: %q", got)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("failed backups have left %v, %v", left, err)
	}
}

// TestFullDisk: a command that fills a disk names that disk, and not the one of the database that it reads.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	from := storetest.SQLite(t)
	program.AddOwner(t, from)
	postgres := storetest.Postgres(t)
	program.Succeed(t, "migrate", "--database="+postgres)
	for name, command := range map[string]func(folder string) []string{
		"backup":               func(folder string) []string { return []string{"backup", folder, "--data=" + from.Folder} },
		"copy from SQLite":     func(folder string) []string { return []string{"copy", "--from=" + from.Folder, "--data=" + folder} },
		"copy from PostgreSQL": func(folder string) []string { return []string{"copy", "--from=" + postgres, "--data=" + folder} },
	} {
		full := filepath.Join(t.TempDir(), "full")
		mountDisk(t, full, "256k")
		got := fail(t, nil, "", command(full+"/new")...)
		if strings.Count(got, "the disk of ") != 1 || !strings.Contains(got, "the disk of "+full) {
			t.Errorf("%s: %q", name, got)
		}
		if left, err := os.ReadDir(full); name == "backup" && (err != nil || len(left) > 0) {
			t.Errorf("the backup has left %v, %v", left, err)
		}
	}
}

func TestVerify(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		s := storeFile(t, place)
		missing, short, changed := s.submit(t, "missing"), s.submit(t, "short"), s.submit(t, "changed")
		sendFile(t, s.Process, s.key, "a.txt", []byte("not attached"))
		// A file that was never attached may be gone: it is deleted after a day.
		if err := os.Remove(filepath.Join(s.uploads, "files", sendFile(t, s.Process, s.key, "a.txt", []byte("never attached")))); err != nil {
			t.Fatal(err)
		}
		verify := append([]string{"verify"}, s.flags()...)
		checked := map[string]string{"sqlite": "The database is undamaged.\n"}[place.Name]
		if got := program.Succeed(t, verify...); got != checked+"Attached files: 4, missing or damaged: 0.\n" {
			t.Errorf("verify: %q", got)
		}
		if err := errors.Join(os.Remove(missing), os.Truncate(short, 2), os.WriteFile(changed, []byte("changes"), 0o600)); err != nil {
			t.Fatal(err)
		}
		got := program.Execute(t, nil, "", verify...)
		lines := strings.Split(strings.Replace(got.Stdout, checked, "", 1), "\n")
		if got.Code != 1 || len(lines) != 5 || !strings.HasSuffix(lines[0], filepath.Base(missing)+` ("a.txt") is missing`) ||
			!strings.HasSuffix(lines[1], filepath.Base(short)+` ("a.txt") has 2 bytes instead of 5`) ||
			!strings.HasSuffix(lines[2], filepath.Base(changed)+` ("a.txt") is damaged: its content has changed`) ||
			lines[3] != "Attached files: 4, missing or damaged: 3." ||
			got.Stderr != "gatherkit: attached files are missing or damaged; copy them from the backup, or name their place with --uploads\n" {
			t.Errorf("verify: %+v", got)
		}
		if place.Database == "" {
			return
		}
		if got := program.Execute(t, nil, "", append([]string{"verify"}, program.At(place)...)...); got.Code != 1 ||
			!strings.Contains(got.Stdout, "Attached files: 4, missing or damaged: 4.") {
			t.Errorf("without the place of the files: %+v", got)
		}
	})
}

// TestVerifyDamagedDatabase tests that verify reads the whole file: the damage is in the middle.
func TestVerifyDamagedDatabase(t *testing.T) {
	s := storeFile(t, storetest.SQLite(t))
	for range 300 {
		call(t, http.DefaultClient, s.URL+"/api/widget-submit-request",
			`{"title":"`+strings.Repeat("x", 100)+`","description":"`+strings.Repeat("y", 1000)+`"}`, "X-API-Key", s.key)
	}
	s.Stop(t)
	file := filepath.Join(s.place.Folder, "gatherkit.db")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	copy(content[len(content)/2:], make([]byte, 64<<10))
	if err := os.WriteFile(file, content, fs.FileMode(0o600)); err != nil {
		t.Fatal(err)
	}
	got := program.Execute(t, nil, "", append([]string{"verify"}, s.flags()...)...)
	if got.Code != 1 || !strings.Contains(got.Stderr, "damaged") {
		t.Errorf("verify: %+v", got)
	}
}
