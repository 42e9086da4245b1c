package e2e_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatherkit/e2e/program"
)

// TestAlertRules runs the tests of the rules: with which values each alert fires, and with which not.
func TestAlertRules(t *testing.T) {
	promtool := program.Tool(t, "promtool", "prometheus")
	for _, args := range [][]string{{"check", "rules", "../deploy/alerts.yml"}, {"test", "rules", "testdata/alerts.yml"}} {
		if out, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
	for _, alert := range alertNames(t) {
		if n := strings.Count(program.Read(t, "e2e/testdata/alerts.yml"), "alertname: "+alert+"\n"); n < 2 {
			t.Errorf("%d tests are about %s; want one in which it fires and one in which it does not", n, alert)
		}
	}
}

func alertNames(t *testing.T) (names []string) {
	t.Helper()
	for _, match := range regexp.MustCompile(`(?m)^ +- alert: (\w+)$`).FindAllStringSubmatch(program.Read(t, "deploy/alerts.yml"), -1) {
		names = append(names, match[1])
	}
	return names
}

// TestAlertsAreDocumented tests that the manual has a section for each alert, to which the alert links, and that the alerts and
// the dashboard name only metrics that the manual lists; TestOperatingListsTheMetrics compares
// these with the service's.
func TestAlertsAreDocumented(t *testing.T) {
	var documented []string
	for _, match := range regexp.MustCompile(`(?m)^#### (Gatherkit\w+)$`).FindAllStringSubmatch(program.Read(t, "docs/operating.md"), -1) {
		documented = append(documented, match[1])
	}
	if diff := cmp.Diff(alertNames(t), documented); diff != "" {
		t.Errorf("- alerts, + documented:\n%s", diff)
	}
	for _, alert := range alertNames(t) {
		link := "runbook_url: docs/operating.md#" + strings.ToLower(alert) + "\n"
		if strings.Count(program.Read(t, "deploy/alerts.yml"), link) != 1 {
			t.Errorf("%s has no link to its section", alert)
		}
	}
	known := map[string]bool{}
	for _, row := range table(t, "| metric | type | meaning |") {
		known[row[0]] = true
	}
	used := map[string]bool{}
	for _, file := range []string{"deploy/alerts.yml", "deploy/grafana.json"} {
		for _, name := range regexp.MustCompile(`\bgatherkit_\w+`).FindAllString(program.Read(t, file), -1) {
			name = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
			if used[name] = true; !known[name] {
				t.Errorf("%s uses %s, which does not exist", file, name)
			}
		}
	}
	for name := range known {
		if !used[name] {
			t.Errorf("neither an alert nor the dashboard uses %s", name)
		}
	}
}
