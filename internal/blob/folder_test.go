package blob

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// linksFail is set for a test that strace runs, if no hard links can be made.
const linksFail = "GATHERKIT_TEST_LINKS_FAIL"

// TestOneOfManyIsAccepted: of concurrent calls that store an accepted file, one succeeds, and its
// file stays.
func TestOneOfManyIsAccepted(t *testing.T) {
	place := t.TempDir()
	s := opened(t, place)
	if os.Getenv(linksFail) != "" {
		if err := os.Link(os.Args[0], filepath.Join(place, "link")); err == nil {
			t.Fatal("a link can be made")
		}
	}
	for n := range int64(50) {
		key := accepted(newID(n))
		var all sync.WaitGroup
		succeeded := make(chan string, 8)
		for _, text := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			all.Go(func() {
				err := s.files.write(t.Context(), key, strings.NewReader(text), 1)
				switch {
				case err == nil:
					succeeded <- text
				case !errors.Is(err, errAccepted):
					t.Error(err)
				}
			})
		}
		all.Wait()
		close(succeeded)
		first, second := <-succeeded, <-succeeded
		if got := content(t, s, newID(n)); got != first || first == "" || second != "" {
			t.Fatalf("%q and %q were accepted, and %q is stored", first, second, got)
		}
	}
	if left := filesIn(t, place); len(left) != 50 {
		t.Errorf("left: %v", left)
	}
}

// TestAcceptedFilesStay: another file with the same id does not replace one that was accepted.
func TestAcceptedFilesStay(t *testing.T) {
	place := t.TempDir()
	s := opened(t, place)
	for _, text := range []string{"words", "other"} {
		if err := s.Receive(t.Context(), newID(1), strings.NewReader(text), 5); err != nil {
			t.Fatal(err)
		}
		file, err := s.Accept(t.Context(), feedback.Attachment{ID: newID(1), Size: 5})
		if file.ContentType != "text/plain" || file.Size != 5 || err != nil {
			t.Errorf("%+v %v", file, err)
		}
		if got := content(t, s, newID(1)); got != "words" {
			t.Errorf("after %s: %s", text, got)
		}
	}
	if left := filesIn(t, place); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

// TestWithoutHardLinks runs TestOneOfManyIsAccepted as on a disk that has no hard links.
func TestWithoutHardLinks(t *testing.T) {
	storetest.Strace(t, "TestOneOfManyIsAccepted", []string{linksFail + "=1"}, "-e", "trace=linkat", "-e", "inject=linkat:error=EPERM")
}

// TestLinkedFolders: parts of a folder may be elsewhere, and the whole folder may be replaced.
func TestLinkedFolders(t *testing.T) {
	place, elsewhere := filepath.Join(t.TempDir(), "uploads"), t.TempDir()
	s := opened(t, place)
	store := func(id int64) {
		t.Helper()
		if err := s.Receive(t.Context(), newID(id), strings.NewReader("words"), 5); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Accept(t.Context(), feedback.Attachment{ID: newID(id), Size: 5}); err != nil || content(t, s, newID(id)) != "words" {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(elsewhere, filepath.Join(place, "files")); err != nil {
		t.Fatal(err)
	}
	store(1)
	if stored := filesIn(t, elsewhere); len(stored) != 1 {
		t.Errorf("stored: %v", stored)
	}
	if err := os.Rename(place, place+".old"); err != nil {
		t.Fatal(err)
	}
	store(2)
	if stored := filesIn(t, place); len(stored) != 1 {
		t.Errorf("stored: %v", stored)
	}
}

// TestRemoveIncomplete: what an interrupted write has left is removed, and no other file.
func TestRemoveIncomplete(t *testing.T) {
	place := t.TempDir()
	s := opened(t, place)
	now := time.Now()
	if err := s.RemoveIncomplete(t.Context(), now); err != nil {
		t.Errorf("without any file: %v", err)
	}
	for id, age := range map[string]time.Duration{
		"incoming/old.1.tmp": 2 * time.Hour, "files/old.1.tmp": 2 * time.Hour, "incoming/new.1.tmp": 0, "files/new.1.tmp": 0,
		"incoming/whole": 2 * time.Hour, "files/whole": 2 * time.Hour,
	} {
		file := filepath.Join(place, id)
		err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o600), os.Chtimes(file, time.Time{}, now.Add(-age)))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.RemoveIncomplete(t.Context(), now.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, file := range filesIn(t, place) {
		left = append(left, filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file))
	}
	if want := "files/new.1.tmp files/whole incoming/new.1.tmp incoming/whole"; strings.Join(left, " ") != want {
		t.Errorf("left: %q", left)
	}
}

// TestFolderIsPrivate: only the owner can read files and open folders, whatever the umask.
func TestFolderIsPrivate(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	place := filepath.Join(t.TempDir(), "data", "uploads")
	s, backup := opened(t, place), opened(t, filepath.Join(t.TempDir(), "uploads"))
	for _, key := range []string{incoming(newID(1)), accepted(newID(2))} {
		if err := s.files.write(t.Context(), key, strings.NewReader("words"), 5); err != nil {
			t.Fatal(err)
		}
	}
	if err := backup.Link(newID(2), s); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Dir(place), backup.files.(*folder).path} {
		err := filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if info, err := entry.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: %v %v", path, info.Mode(), err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestReceivedThenAccepted is the example that TestWritesAreDurable watches.
func TestReceivedThenAccepted(t *testing.T) {
	s := opened(t, t.TempDir())
	if err := s.Receive(t.Context(), newID(1), strings.NewReader("words"), 5); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Accept(t.Context(), feedback.Attachment{ID: newID(1), Size: 5}); err != nil {
		t.Fatal(err)
	}
	if err := s.files.write(t.Context(), accepted(newID(1)), strings.NewReader("other"), 5); !errors.Is(err, errAccepted) {
		t.Fatal(err)
	}
	backup := opened(t, t.TempDir())
	if err := backup.Link(newID(1), s); err != nil || content(t, backup, newID(1)) != "words" {
		t.Fatal(err)
	}
}

// TestWritesAreDurable: a file is on disk before it gets its name, and its name before anything else
// happens.
func TestWritesAreDurable(t *testing.T) {
	got := storetest.Strace(t, "TestReceivedThenAccepted", nil, "-y", "-e", "trace=fsync,linkat,renameat,renameat2,rename,link,unlinkat")
	var calls []string
	for line := range strings.Lines(got) { // the number of the test's folder and what is below it
		if !strings.Contains(line, "/TestReceivedThenAccepted") || strings.Contains(line, "AT_REMOVEDIR") || strings.Contains(line, "resumed") {
			continue
		}
		call := regexp.MustCompile(`\w+\(`).FindString(line)
		for _, path := range regexp.MustCompile(`/00[12](/[^>" ]*)?`).FindAllString(line, -1) {
			path = strings.ReplaceAll(path, newID(1).String(), "ID")
			call += " " + regexp.MustCompile(`\d+\.tmp`).ReplaceAllString(path, "tmp")
		}
		calls = append(calls, call)
	}
	want := []string{
		"fsync( /001/incoming/ID.tmp", "renameat( /001/incoming/ID.tmp /001/incoming/ID", "fsync( /001/incoming", "fsync( /001",
		"fsync( /001/files/ID.tmp", "linkat( /001/files/ID.tmp /001/files/ID", "unlinkat( /001/files/ID.tmp",
		"fsync( /001/files", "fsync( /001",
		"linkat( /001/files/ID.tmp /001/files/ID", "fsync( /001/files", "fsync( /001", // another file with the id
		"linkat( /001/files/ID /002/files/ID", "fsync( /002/files", "fsync( /002",
	}
	next := 0
	for _, call := range calls {
		if next < len(want) && call == want[next] {
			next++
		}
	}
	if next < len(want) {
		t.Errorf("%s does not follow:\n%s", want[next], strings.Join(calls, "\n"))
	}
}
