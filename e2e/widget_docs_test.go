package e2e_test

import (
	"os"
	"os/exec"
	"testing"

	"gatherkit/e2e/program"
)

// TestWidgetDocs runs in a browser what docs/widget.md shows.
func TestWidgetDocs(t *testing.T) {
	t.Parallel()
	node, chromium := node(t), browser(t)
	p := program.Start(t)
	_, key := setUp(t, p)
	cmd := exec.CommandContext(t.Context(), node, "--test", "widget/docs.test.mjs")
	cmd.Env = append(os.Environ(), "URL="+p.URL, "KEY="+key, "CHROMIUM="+chromium)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
