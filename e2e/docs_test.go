package e2e_test

import (
	"testing"

	"gatherkit/e2e/program"
)

// TestDocs runs docs.test.mjs on the documentation in a browser. The variable SCREENSHOTS names a
// folder for screenshots.
func TestDocs(t *testing.T) {
	t.Parallel()
	inBrowser := newBrowserTest(t)
	inBrowser.run(t, []string{"URL=" + program.Start(t).URL}, "docs.test.mjs")
}
