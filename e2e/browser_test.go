package e2e_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"gatherkit/internal/store/storetest"
)

// browserTest is what runs files of tests in a browser.
type browserTest struct{ node, chromium string }

// newBrowserTest ends the test when something is missing, before anything is started for it.
func newBrowserTest(t *testing.T) browserTest {
	t.Helper()
	return browserTest{node(t), browser(t)}
}

// run gives arguments to "node --test", and env to the files. What they print is logged.
func (b browserTest) run(t *testing.T, env []string, arguments ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), b.node, append([]string{"--test"}, arguments...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // the browser ends with it
	cmd.Env = append(append(os.Environ(), "CHROMIUM="+b.chromium), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Error(err)
	}
	t.Logf("%s", out)
}

// browser returns where Chromium is.
func browser(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		storetest.Missing(t, "browser", "install it with `apt-get install chromium`")
	}
	return path
}
