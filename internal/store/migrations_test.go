package store_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMigrationsArePinned: no migration changes by accident. A database that has been through it would not get the change.
// What is changed or new gets its line in migrations.sha256, which "sha256sum *.sql" prints.
func TestMigrationsArePinned(t *testing.T) {
	pinned, err := os.ReadFile("migrations/migrations.sha256")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var now strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&now, "%x  %s\n", sha256.Sum256(text), filepath.Base(file))
	}
	if now.String() != string(pinned) {
		t.Errorf("the migrations are\n%s, but pinned are\n%s", now.String(), pinned)
	}
}
