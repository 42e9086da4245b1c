package blob

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"gatherkit/internal/feedback"
)

func TestFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "uploads")
	s, err := Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the test is over
	id := feedback.FirstIDAt(feedback.Time(1).Std())
	open := func() string {
		t.Helper()
		r, err := s.Open(t.Context(), id)
		if errors.Is(err, ErrNotFound) {
			return "not found"
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	accept := func() error {
		_, _, err := s.Accept(t.Context(), id, 5)
		return err
	}
	if target, err := s.Target(t.Context(), id, 5, 1); target != "" || err != nil {
		t.Errorf("%q %v", target, err)
	}
	if err := accept(); !errors.Is(err, ErrNotFound) {
		t.Errorf("nothing was sent: %v", err)
	}
	broken := io.MultiReader(strings.NewReader("half"), iotest.ErrReader(errors.New("it broke off")))
	if err := s.Receive(t.Context(), id, broken); err == nil || !strings.Contains(err.Error(), "it broke off") {
		t.Errorf("broken off: %v", err)
	}
	if err := accept(); !errors.Is(err, ErrNotFound) {
		t.Errorf("a partial file was accepted: %v", err)
	}
	if err := s.Receive(t.Context(), id, strings.NewReader("more than words")); err != nil {
		t.Fatal(err)
	}
	if err := accept(); !errors.Is(err, feedback.ErrInvalidFile) {
		t.Errorf("longer than announced: %v", err)
	}
	if err := s.Receive(t.Context(), id, strings.NewReader("words")); err != nil {
		t.Fatal(err)
	}
	if got := open(); got != "not found" {
		t.Errorf("not accepted yet, but opened: %q", got)
	}
	contentType, size, err := s.Accept(t.Context(), id, 5)
	if contentType != "text/plain" || size != 5 || err != nil || open() != "words" {
		t.Errorf("%s %d %v", contentType, size, err)
	}
	if err := accept(); err != nil || open() != "words" {
		t.Errorf("accepted again: %v", err)
	}
	if err := s.Receive(t.Context(), id, strings.NewReader("other")); err != nil {
		t.Fatal(err)
	}
	if err := accept(); err != nil || open() != "words" {
		t.Errorf("after another file was received: %v, %s", err, open())
	}
	if left := files(t, folder); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
	for range 2 { // the second time, there is no file
		if err := s.Remove(t.Context(), id); err != nil || open() != "not found" {
			t.Errorf("removed: %v", err)
		}
	}
	if left := files(t, folder); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func files(t *testing.T, folder string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestFileTooLarge(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the test is over
	if err := s.Receive(t.Context(), feedback.ID{}, strings.NewReader(strings.Repeat("a", feedback.MaxUpload+1))); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Accept(t.Context(), feedback.ID{}, feedback.MaxUpload+1); !errors.Is(err, feedback.ErrInvalidFile) {
		t.Error(err)
	}
}

func TestLookingEndsWithItsCaller(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the test is over
	if err := s.inspecting.Acquire(t.Context(), inspections); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := s.Accept(ctx, feedback.ID{}, 5); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestTry: it leaves nothing behind, and says when files cannot be stored.
func TestTry(t *testing.T) {
	folder := t.TempDir()
	s, err := Open(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the test is over
	if err := s.Try(t.Context()); err != nil {
		t.Error(err)
	}
	incoming := filepath.Join(folder, "incoming")
	left, err := os.ReadDir(incoming)
	if err != nil || len(left) > 0 {
		t.Errorf("%v %v", left, err)
	}
	if err := errors.Join(os.Remove(incoming), os.WriteFile(incoming, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := s.Try(t.Context()); err == nil {
		t.Error("a folder that is a file was not noticed")
	}
}
