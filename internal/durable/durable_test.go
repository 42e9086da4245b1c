package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestSync: files and folders can be synced, and what is missing is reported.
func TestSync(t *testing.T) {
	folder := t.TempDir()
	file, missing := filepath.Join(folder, "file"), filepath.Join(folder, "missing")
	if err := os.WriteFile(file, []byte("words"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Sync(file, folder); err != nil {
		t.Error(err)
	}
	if err := Sync(folder, missing, file); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
