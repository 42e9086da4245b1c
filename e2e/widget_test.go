package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestWidget runs the test files in the folder widget, which use the widget on customers' pages
// in a browser. The variable SCREENSHOTS names a folder for screenshots.
func TestWidget(t *testing.T) {
	t.Parallel()
	inBrowser := newBrowserTest(t)
	if _, err := os.Stat(filepath.Join("..", "web", "widget", "node_modules")); err != nil {
		storetest.Missing(t, "browser", "run `npm ci` in the folder web/widget")
	}
	tests, err := filepath.Glob(filepath.Join("widget", "*.test.mjs"))
	if err != nil || len(tests) == 0 {
		t.Fatalf("there are no tests: %v", err)
	}
	place := storetest.SQLite(t)
	program.AddOwner(t, place)
	p := program.Start(t, program.At(place)...)
	for _, file := range tests {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".test.mjs"), func(t *testing.T) {
			t.Parallel()
			inBrowser.run(t, []string{"URL=" + p.URL, "EMAIL=" + program.Email, "PASSWORD=" + program.Password}, file)
		})
	}
}
