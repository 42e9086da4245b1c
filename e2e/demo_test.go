package e2e_test

import (
	"os/exec"
	"regexp"
	"testing"

	"gatherkit/e2e/program"
)

// TestDemo runs demo.test.mjs on the demo in a browser.
func TestDemo(t *testing.T) {
	t.Parallel()
	inBrowser := newBrowserTest(t)
	cmd := exec.CommandContext(t.Context(), program.Build(t), "demo")
	cmd.Env = program.CleanEnvironment()
	var printed program.Output
	cmd.Stdout, cmd.Stderr = &printed, &printed
	cmd.Dir = t.TempDir()
	program.Launch(t, cmd, make(chan struct{}))
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	program.Eventually(t, "the demo prints its address", func() bool { return address.MatchString(printed.String()) })
	url := address.FindString(printed.String())
	program.Eventually(t, "the demo answers", func() bool { return program.Answers(t, url+"/readyz") })
	inBrowser.run(t, []string{"URL=" + url}, "demo.test.mjs")
}
