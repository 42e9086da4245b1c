package e2e_test

import (
	"io"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"gatherkit/e2e/program"
)

// TestDemo runs demo.test.mjs on the demo in a browser.
func TestDemo(t *testing.T) {
	t.Parallel()
	inBrowser := newBrowserTest(t)
	page := startDemo(t)
	_, port, err := net.SplitHostPort(program.FreeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	shared := startDemo(t, "--listen=:"+port)
	base, secret, found := strings.Cut(shared, "/demo#")
	if !found || base != "http://localhost:"+port || len(secret) < 20 {
		t.Fatalf("the demo prints %s", shared)
	}
	for _, path := range []string{"/", "/demo", "/account", "/nothing"} {
		if text := read(t, base+path); strings.Contains(text, secret) || strings.Contains(text, "demo-password") {
			t.Errorf("%s hands the password to strangers: %s", path, text)
		}
	}
	inBrowser.run(t, []string{"URL=" + strings.TrimSuffix(page, "/demo"), "SHARED=" + shared}, "demo.test.mjs")
}

// startDemo runs the demo until the test ends, and returns the link to its page.
func startDemo(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program.Build(t), append([]string{"demo"}, args...)...)
	cmd.Env = program.CleanEnvironment()
	var printed program.Output
	cmd.Stdout, cmd.Stderr = &printed, &printed
	cmd.Dir = t.TempDir()
	program.Launch(t, cmd, make(chan struct{}))
	link := regexp.MustCompile(`Widget: +(http://(?:127\.0\.0\.1|localhost):\d+)(/demo\S*)\n`)
	program.Eventually(t, "the demo prints its address", func() bool { return link.MatchString(printed.String()) })
	found := link.FindStringSubmatch(printed.String())
	program.Eventually(t, "the demo answers", func() bool { return program.Answers(t, found[1]+"/readyz") })
	return found[1] + found[2]
}

// read returns the page at an address, as a browser gets it.
func read(t *testing.T, address string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // only read from
	text, err := io.ReadAll(response.Body)
	if err != nil || !strings.Contains(string(text), "</html>") {
		t.Fatalf("%s: %v, %s", address, err, text)
	}
	return string(text)
}
