package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/feedback"
)

// each runs a test on a store in a folder and on one in S3. folder has each file of the store, with
// its key as path.
func each(t *testing.T, test func(t *testing.T, s *Store, folder string)) {
	t.Run("folder", func(t *testing.T) {
		folder := filepath.Join(t.TempDir(), "uploads")
		test(t, opened(t, folder), folder)
	})
	t.Run("s3", func(t *testing.T) {
		s3 := startS3(t)
		test(t, opened(t, s3.Bucket), s3.Folder)
	})
}

func opened(t *testing.T, place string) *Store {
	t.Helper()
	s, err := Open(place)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// startS3 starts an S3 server and sets the credentials for it.
func startS3(t *testing.T) program.S3 {
	t.Helper()
	s3 := program.StartS3(t)
	t.Setenv("AWS_ACCESS_KEY_ID", s3.Key)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s3.Secret)
	return s3
}

// newID returns an id, which differs for each n.
func newID(n int64) feedback.ID { return feedback.FirstIDAt(time.UnixMilli(n)) }

func content(t *testing.T, s *Store, id feedback.ID) string {
	t.Helper()
	r, err := s.Open(t.Context(), id)
	if errors.Is(err, ErrNotFound) {
		return "not found"
	}
	if err != nil {
		t.Fatal(err)
	}
	// http.ServeContent finds the size in this way.
	size, err := r.Seek(0, io.SeekEnd)
	if _, start := r.Seek(0, io.SeekStart); err != nil || start != nil {
		t.Fatal(err, start)
	}
	text, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil || int64(len(text)) != size {
		t.Fatalf("%d bytes instead of %d, %v", len(text), size, err)
	}
	return string(text)
}

func TestStore(t *testing.T) {
	each(t, func(t *testing.T, s *Store, folder string) {
		id := newID(1)
		accept := func() error {
			_, err := s.Accept(t.Context(), feedback.Attachment{ID: id, Size: 5})
			return err
		}
		receive := func(text string) {
			t.Helper()
			if err := s.Receive(t.Context(), id, strings.NewReader(text), int64(len(text))); err != nil {
				t.Fatal(err)
			}
		}
		if err := accept(); !errors.Is(err, ErrNotFound) {
			t.Errorf("nothing was sent: %v", err)
		}
		if _, err := s.Size(t.Context(), id); !errors.Is(err, ErrNotFound) {
			t.Errorf("nothing was accepted: %v", err)
		}
		if _, _, err := s.Sum(t.Context(), id); !errors.Is(err, ErrNotFound) {
			t.Errorf("nothing was accepted: %v", err)
		}
		receive("more than words")
		if err := accept(); !errors.Is(err, feedback.ErrInvalidFile) {
			t.Errorf("longer than announced: %v", err)
		}
		receive("words")
		if got := content(t, s, id); got != "not found" {
			t.Errorf("not accepted yet, but opened: %q", got)
		}
		file, err := s.Accept(t.Context(), feedback.Attachment{ID: id, Size: 5})
		hash := sha256.Sum256([]byte("words"))
		want := Accepted{"text/plain", 5, hash[:]}
		if !reflect.DeepEqual(file, want) || err != nil || content(t, s, id) != "words" {
			t.Errorf("%+v %v", file, err)
		}
		if size, err := s.Size(t.Context(), id); size != 5 || err != nil {
			t.Errorf("%d %v", size, err)
		}
		if size, sum, err := s.Sum(t.Context(), id); size != 5 || !bytes.Equal(sum, hash[:]) || err != nil {
			t.Errorf("%d %x %v", size, sum, err)
		}
		if again, err := s.Accept(t.Context(), feedback.Attachment{ID: id, Size: 5}); !reflect.DeepEqual(again, file) || err != nil {
			t.Errorf("accepted again: %+v %v", again, err)
		}
		if err := accept(); err != nil || content(t, s, id) != "words" {
			t.Errorf("accepted again: %v", err)
		}
		if left := filesIn(t, folder); len(left) != 1 || left[0] != filepath.Join(folder, "files", id.String()) {
			t.Errorf("left: %v", left)
		}
		for range 2 { // the second time, there is no file
			if err := s.Remove(t.Context(), id); err != nil || content(t, s, id) != "not found" {
				t.Errorf("removed: %v", err)
			}
		}
		if left := filesIn(t, folder); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// TestIncompleteFiles: a file that breaks off or whose call ends is not stored, whether its size is
// known or not.
func TestIncompleteFiles(t *testing.T) {
	each(t, func(t *testing.T, s *Store, folder string) {
		const half = "half"
		for _, size := range []int64{2 * int64(len(half)), -1} {
			broken := io.MultiReader(strings.NewReader(half), iotest.ErrReader(errors.New("it broke off")))
			if err := s.Receive(t.Context(), newID(1), broken, size); err == nil || !strings.Contains(err.Error(), "it broke off") {
				t.Errorf("broken off, size %d: %v", size, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := io.MultiReader(strings.NewReader(half), calls(cancel), strings.NewReader(half))
			if err := s.Receive(ctx, newID(1), ended, size); !errors.Is(err, context.Canceled) {
				t.Errorf("ended, size %d: %v", size, err)
			}
			cancel()
			if left := filesIn(t, folder); len(left) > 0 {
				t.Errorf("size %d: left %v", size, left)
			}
		}
	})
}

// calls is a reader without content that calls a function when it is read.
type calls func()

func (c calls) Read([]byte) (int, error) {
	c()
	return 0, io.EOF
}

// TestCopyToFolder copies files as a backup does.
func TestCopyToFolder(t *testing.T) {
	each(t, func(t *testing.T, s *Store, _ string) {
		id := newID(1)
		backup := opened(t, t.TempDir())
		if err := backup.Copy(t.Context(), id, s, id); !errors.Is(err, ErrNotFound) {
			t.Errorf("no file: %v", err)
		}
		if err := s.Receive(t.Context(), id, strings.NewReader("words"), 5); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Accept(t.Context(), feedback.Attachment{ID: id, Size: 5}); err != nil {
			t.Fatal(err)
		}
		if err := backup.Copy(t.Context(), id, s, id); err != nil || content(t, backup, id) != "words" {
			t.Error(err)
		}
		if err := backup.Link(id, s); err == nil {
			t.Error("a link to a file in S3, or over a file")
		}
	})
}

func filesIn(t *testing.T, folder string) (all []string) {
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
	each(t, func(t *testing.T, s *Store, _ string) {
		const size = feedback.MaxUpload + 1
		if err := s.Receive(t.Context(), newID(1), strings.NewReader(strings.Repeat("a", size)), size); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Accept(t.Context(), feedback.Attachment{ID: newID(1), Size: size}); !errors.Is(err, feedback.ErrInvalidFile) {
			t.Error(err)
		}
	})
}

func TestLookingEndsWithItsCaller(t *testing.T) {
	s := opened(t, t.TempDir())
	if err := s.inspecting.Acquire(t.Context(), inspections); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Accept(ctx, feedback.Attachment{ID: feedback.ID{}, Size: 5}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestTry: it leaves nothing behind, and says when files cannot be stored.
func TestTry(t *testing.T) {
	each(t, func(t *testing.T, s *Store, folder string) {
		if err := s.Try(t.Context()); err != nil {
			t.Error(err)
		}
		if left := filesIn(t, folder); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
		incoming := filepath.Join(folder, "incoming")
		if err := errors.Join(os.RemoveAll(incoming), os.WriteFile(incoming, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		if err := s.Try(t.Context()); err == nil {
			t.Error("a folder that is a file was not noticed")
		}
	})
}
