package e2e_test

import (
	"testing"

	"gatherkit/e2e/program"
)

// TestWidgetDocs runs the snippets of docs/widget.md in a browser.
func TestWidgetDocs(t *testing.T) {
	t.Parallel()
	inBrowser := newBrowserTest(t)
	p := program.Start(t)
	_, key := setUp(t, p)
	inBrowser.run(t, []string{"URL=" + p.URL, "KEY=" + key}, "snippets.test.mjs")
}
