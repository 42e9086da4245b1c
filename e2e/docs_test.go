package e2e_test

import (
	"os"
	"os/exec"
	"testing"

	"gatherkit/e2e/program"
)

// TestDocs reads the documentation in a browser; docs.test.mjs says how. With the
// variable SCREENSHOTS it leaves pictures in the folder that this names.
func TestDocs(t *testing.T) {
	t.Parallel()
	node, chromium := node(t), browser(t)
	cmd := exec.CommandContext(t.Context(), node, "--test", "docs.test.mjs")
	cmd.Env = append(os.Environ(), "URL="+program.Start(t).URL, "CHROMIUM="+chromium)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
