package e2e_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// inFirefox lists tests of the widget, the page of private links, portals and the dashboard that also run in
// Firefox: what everybody does, and what depends on how the browser stores and sends.
var inFirefox = map[string][]string{
	"widget/send": {
		"an idea is stored before it is sent, and reported as sent after the receipt",
		"an idea written offline is sent once on the next visit",
		"when the browser is online again, the idea is sent automatically and the panel says so",
		"several tabs send each idea once",
		"if the service refuses an idea, the form gets text and files back, with the reason",
	},
	"widget/embed": {
		"plain.html: a page without a framework",
		"react.tsx: React 18",
		"react.tsx: React 19",
		"layout.tsx: a document that React hydrates",
		"App.vue: Vue 3",
		"App.svelte: Svelte 5",
		"angular.ts: Angular",
		"turbo.html: Turbo 8",
		"Layout.astro: Astro with view transitions",
		"tag-manager.html: a tag manager",
		"strict-csp.html: a strict policy",
	},
	"widget/files": {
		"files arrive unchanged, and removed files are not sent",
		"if the service refuses a file, the form gets file and text back",
	},
	"widget/host": {
		"React hydrates the whole document after the widget has started",
		"the panel works above a modal dialog of the page: focus-trap",
		"the panel works above a modal dialog of the page: radix",
		"a trigger works inside open shadow roots and in menus that stop events",
		"a text that is too long is kept, and the message counts characters as the service does",
	},
	"widget/identity": {"votes are sent as the identified person"},
	"widget/mine":     {"people on one computer do not see the ideas of each other"},
	"widget/news":     {"after a publication, the launcher has a dot until somebody reads what is new"},
	"mine": {
		"a reply arrives, and the address stays a bookmark",
		"links that do not work say what to do, and post once",
		"the device forgets a link, also the address",
		"a browser without cookies is told so",
	},
	"portal":             {"a visitor votes and comments"},
	"dashboard/triage":   {"twenty requests are triaged with the keyboard only", "a bulk change can be undone"},
	"dashboard/insights": {"without any requests, the page links to the apps"},
}

// TestFirefox runs the tests in inFirefox, each file with its own service.
func TestFirefox(t *testing.T) {
	storetest.Proof(t)
	t.Parallel()
	firefox := newFirefoxTest(t)
	for file, names := range inFirefox {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			place := storetest.SQLite(t)
			program.AddOwner(t, place)
			p := program.Start(t, program.At(place)...)
			quoted := make([]string, len(names))
			for i, name := range names {
				quoted[i] = regexp.QuoteMeta(name)
			}
			out := firefox.run(t, []string{
				"URL=" + p.URL, "EMAIL=" + program.Email, "PASSWORD=" + program.Password,
				"SCREENSHOTS=",          // those of Chromium have the same names
				"TMPDIR=" + t.TempDir(), // for the profile
			}, "--test-reporter=spec", "--test-name-pattern=^("+strings.Join(quoted, "|")+")$", file+".test.mjs")
			for _, name := range names {
				if !strings.Contains(out, "✔ "+name+" (") {
					t.Errorf("no test with this name has passed: %s", name)
				}
			}
		})
	}
}

// newFirefoxTest skips or fails the test if Node.js or Firefox is missing.
func newFirefoxTest(t *testing.T) browserTest {
	t.Helper()
	path, err := exec.LookPath("firefox-esr")
	if err != nil {
		path, err = exec.LookPath("firefox")
	}
	if err != nil {
		storetest.Missing(t, "firefox", "install it with `apt-get install firefox-esr`")
	}
	return browserTest{node(t), "FIREFOX=" + path}
}
