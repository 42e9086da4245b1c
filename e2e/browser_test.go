package e2e_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"gatherkit/internal/store/storetest"
)

// browserTest runs test files in a browser.
type browserTest struct{ node, chromium string }

// newBrowserTest skips or fails the test if Node.js or Chromium is missing.
func newBrowserTest(t *testing.T) browserTest {
	t.Helper()
	return browserTest{node(t), browser(t)}
}

// run runs "node --test" with the arguments and additional environment variables, and logs its
// output.
func (b browserTest) run(t *testing.T, env []string, arguments ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), b.node, append([]string{"--test"}, arguments...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // the browser exits with it
	cmd.Env = append(append(os.Environ(), "CHROMIUM="+b.chromium), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Error(err)
	}
	t.Logf("%s", out)
}

// browser returns the path of Chromium.
func browser(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		storetest.Missing(t, "browser", "install it with `apt-get install chromium`")
	}
	return path
}
