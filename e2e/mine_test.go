package e2e_test

import (
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestMine runs mine.test.mjs on the page of private links in a browser: on a service of its own, and on
// one that a proxy serves below a path, without TLS.
func TestMine(t *testing.T) {
	t.Parallel()
	inBrowser := newBrowserTest(t)
	for name, public := range map[string]string{"direct": "", "below a path": "http://feedback.test/company/ideas"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if public != "" {
				storetest.Proof(t)
			}
			place := storetest.SQLite(t)
			program.AddOwner(t, place)
			args := program.At(place)
			if public != "" {
				args = append(args, "--public-url="+public)
			}
			p := program.Start(t, args...)
			inBrowser.run(t, []string{
				"URL=" + p.URL, "PUBLIC=" + public, "EMAIL=" + program.Email, "PASSWORD=" + program.Password,
			}, "--test-reporter=spec", "mine.test.mjs")
		})
	}
}
