package e2e_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

// TestDashboard runs the test files in the folder dashboard in a browser, each with its own
// service. The variable SCREENSHOTS names a folder for screenshots. The tests log what they
// measure.
func TestDashboard(t *testing.T) {
	t.Parallel()
	inBrowser := newBrowserTest(t)
	tests, err := filepath.Glob(filepath.Join("dashboard", "*.test.mjs"))
	if err != nil || len(tests) == 0 {
		t.Fatalf("there are no tests: %v", err)
	}
	for _, file := range tests {
		name := strings.TrimSuffix(filepath.Base(file), ".test.mjs")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "many" {
				storetest.Proof(t)
			}
			place := storetest.SQLite(t)
			if name != "first" { // it creates the owner itself
				program.AddOwner(t, place)
			}
			requests := program.Times(20_000, 100_000) // more than one call can change
			var many string
			if name == "many" {
				many = fillInbox(t, place, requests)
			}
			p := program.Start(t, append(program.At(place), "--webhook-allow=127.0.0.0/8")...)
			if name == "first" {
				program.Eventually(t, "the service prints its link", func() bool { return strings.Contains(p.Stdout.String(), "/setup#") })
			}
			inBrowser.run(t, []string{
				"URL=" + p.URL, "EMAIL=" + program.Email, "PASSWORD=" + program.Password,
				"PRINTED=" + p.Stdout.String(), "MANY=" + many, "COUNT=" + strconv.Itoa(requests),
			}, "--test-reporter=spec", file)
		})
	}
}
