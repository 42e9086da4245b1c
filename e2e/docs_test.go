package e2e_test

import (
	"testing"

	"gatherkit/e2e/program"
)

// TestDocs reads the documentation in a browser; docs.test.mjs says how. With the
// variable SCREENSHOTS it leaves pictures in the folder that this names.
func TestDocs(t *testing.T) {
	t.Parallel()
	inBrowser := newBrowserTest(t)
	inBrowser.run(t, []string{"URL=" + program.Start(t).URL}, "docs.test.mjs")
}
