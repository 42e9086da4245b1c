package e2e_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gatherkit/e2e/program"
)

// withoutUmask returns the path of a script that runs gatherkit with umask 000, so that new files
// are readable by everybody unless gatherkit prevents it.
func withoutUmask(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "withoutUmask")
	if err := os.WriteFile(file, []byte("#!/bin/sh\numask 000\nexec "+program.Build(t)+" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return file
}

// readableByOthers returns the files and folders below a folder to which group or others have
// access, and the number of files.
func readableByOthers(t *testing.T, folder string) (found []string, files int) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if !entry.IsDir() {
			files++
		}
		if info.Mode().Perm()&0o077 != 0 {
			found = append(found, path+" "+info.Mode().String())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found, files
}

// TestFilesArePrivate tests that only the owner can read what the program stores, with any umask.
// Starting the service also removes the permissions of others on an existing database.
func TestFilesArePrivate(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	program.Succeed(t, "migrate", "--data="+folder)
	database := filepath.Join(folder, "gatherkit.db")
	if err := os.Chmod(database, 0o644); err != nil {
		t.Fatal(err)
	}
	p := program.StartBinary(t, withoutUmask(t), program.FreeAddress(t), nil, "--data="+folder)
	_, key := uploading(t, p)
	sendFile(t, p, key, "a.txt", []byte("words"))
	if a := announce(t, p, key, "b.txt", "text/plain", 5); !a.OK {
		t.Fatalf("%+v", a)
	}
	if found, files := readableByOthers(t, folder); len(found) > 0 || files < 4 { // the database, its two logs, a file
		t.Errorf("%d files, readable by others: %q", files, found)
	}
	if strings.Contains(p.Stderr.String(), "chmod 700") {
		t.Errorf("a warning about a private folder:\n%s", p.Stderr.String())
	}

	backups := t.TempDir()
	if err := os.Chmod(backups, 0o700); err != nil {
		t.Fatal(err)
	}
	backup := exec.CommandContext(t.Context(), withoutUmask(t), "backup", filepath.Join(backups, "copy"), "--data="+folder)
	if output, err := backup.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	if found, files := readableByOthers(t, backups); len(found) > 0 || files != 2 { // the database and a file
		t.Errorf("%d files, readable by others: %q", files, found)
	}
}

// TestWarnsOfOpenFolders tests that the log has a warning for each folder to which others have
// access.
func TestWarnsOfOpenFolders(t *testing.T) {
	folder, uploads := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "files")
	for name, mode := range map[string]fs.FileMode{folder: 0o750, uploads: 0o701} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	p := program.Start(t, "--data="+folder, "--uploads="+uploads)
	for _, name := range []string{folder, uploads} {
		if log := p.Stderr.String(); !strings.Contains(log, `"level":"WARN"`) || !strings.Contains(log, `"folder":"`+name+`"`) {
			t.Errorf("no warning about %s:\n%s", name, log)
		}
	}
}
