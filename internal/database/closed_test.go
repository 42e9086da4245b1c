package database_test

import (
	"context"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"

	"gatherkit/internal/store/storetest"
)

// TestCloseLeavesTheFolderAlone closes the database while its connections are used and opened: no file may come or go
// in its folder afterwards.
func TestCloseLeavesTheFolderAlone(t *testing.T) {
	for range 50 {
		folder := t.TempDir()
		db := open(t, storetest.Place{Name: "sqlite", Folder: folder})
		var callers sync.WaitGroup
		for range 64 {
			callers.Go(func() {
				for {
					// A statement that ends early closes its connection, and the pool opens another one.
					ctx, cancel := context.WithCancel(context.Background())
					go cancel()
					_, err := db.Reader().ExecContext(ctx, "SELECT 1")
					if err != nil && ctx.Err() == nil {
						return // the database is closed
					}
				}
			})
		}
		for range 100 {
			runtime.Gosched()
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		closed := names(t, folder)
		callers.Wait()
		if later := names(t, folder); !slices.Equal(closed, later) {
			t.Fatalf("%q, and later %q", closed, later)
		}
	}
}

// names returns the names of the files in a folder.
func names(t *testing.T, folder string) []string {
	t.Helper()
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]string, len(files))
	for i, file := range files {
		all[i] = file.Name()
	}
	return all
}
