package e2e_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"gatherkit/internal/store/storetest"
)

// browserTest runs test files in a browser. The variable, CHROMIUM or FIREFOX, has its path.
type browserTest struct{ node, variable string }

// fileTime is how long a file of tests may take. It is longer than any wait within it.
const fileTime = 3 * storetest.Patience

// newBrowserTest skips or fails the test if Node.js or Chromium is missing.
func newBrowserTest(t *testing.T) browserTest {
	t.Helper()
	return browserTest{node(t), "CHROMIUM=" + browser(t)}
}

// run runs Node.js with the arguments and additional environment variables, and logs and returns
// its output. The test fails if that takes longer than fileTime, and shows which tests have ended.
func (b browserTest) run(t *testing.T, env []string, arguments ...string) string {
	t.Helper()
	storetest.Budget(t)
	ctx, cancel := context.WithTimeout(t.Context(), fileTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.node, arguments...)              // with --test, a process of its own would run the file
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // the browser exits with it
	cmd.Env = append(append(os.Environ(), b.variable), env...)
	if storetest.InProof() {
		cmd.Env = append(cmd.Env, "PROOF=1") // also with -full
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Error(errors.Join(err, ctx.Err()))
	}
	t.Logf("%s", out)
	return string(out)
}

// browser returns the path of Chromium. Its headless shell has the same engine, but none of the windows around pages,
// which cost half of the time.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	storetest.Missing(t, "browser", "install it with `apt-get install chromium-headless-shell`")
	return ""
}
