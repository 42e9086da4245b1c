package e2e_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"gatherkit/e2e/program"
	"gatherkit/internal/config"
	"gatherkit/internal/store/storetest"
)

// table returns the rows of the table in docs/operating.md with the given header line.
func table(t *testing.T, header string) [][]string {
	t.Helper()
	_, rest, found := strings.Cut(program.Read(t, "docs/operating.md"), "\n"+header+"\n")
	if !found {
		t.Fatalf("docs/operating.md has no table %s", header)
	}
	rest, _, _ = strings.Cut(rest, "\n\n")
	var rows [][]string
	for line := range strings.Lines(rest) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		rows = append(rows, cells)
	}
	return rows[1:] // without the line below the header
}

func TestDocsShowTheFiles(t *testing.T) {
	shown := map[string]string{}
	documents := program.Read(t, "docs/operating.md") + program.Read(t, "docs/scaling.md") + program.Read(t, "docs/portal.md")
	for _, match := range program.FencedBlock.FindAllStringSubmatch(documents, -1) {
		if _, file, found := strings.Cut(match[1], "file="); found {
			shown[file] = match[2]
		}
	}
	files, err := os.ReadDir("../deploy")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		path := "deploy/" + file.Name()
		switch file.Name() {
		case "alerts.yml", "grafana.json", "kubernetes": // too long; TestAlertsAreDocumented and TestKubernetes are about them
			continue
		}
		if diff := cmp.Diff(program.Read(t, path), shown[path]); diff != "" {
			t.Errorf("the documents do not show the present %s (- file, + shown):\n%s", path, diff)
		}
	}
}

func TestOperatingListsTheSettings(t *testing.T) {
	documented := map[string][]string{}
	for _, row := range table(t, "| flag | variable | default | meaning |") {
		documented[row[0]] = row[1:3]
	}
	parser, err := kong.New(&config.Serve{}, config.Options()...)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string][]string{}
	for _, flag := range parser.Model.Flags {
		if flag.Name != "help" {
			declared["--"+flag.Name] = []string{strings.Join(flag.Envs, " "), flag.Default}
		}
	}
	if diff := cmp.Diff(declared, documented); diff != "" {
		t.Errorf("- declared, + documented:\n%s", diff)
	}
	help, err := exec.CommandContext(t.Context(), program.Build(t), "serve", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	flags := regexp.MustCompile(`(?m)^ +(--[a-z-]+)=`).FindAllStringSubmatch(string(help), -1)
	variables := regexp.MustCompile(`\$(GATHERKIT_\w+)`).FindAllStringSubmatch(string(help), -1)
	if len(flags) != len(documented) || len(variables) != len(documented) {
		t.Fatalf("the help has %d flags and %d variables, the document %d:\n%s", len(flags), len(variables), len(documented), help)
	}
	for i, flag := range flags {
		if row := documented[flag[1]]; len(row) == 0 || row[0] != variables[i][1] {
			t.Errorf("the help has %s with %s, the document %q", flag[1], variables[i][1], row)
		}
	}
}

func TestOperatingListsTheMetrics(t *testing.T) {
	documented := map[string]string{}
	for _, row := range table(t, "| metric | type | meaning |") {
		documented[row[0]] = row[1]
	}
	for name, database := range databases(t) {
		t.Run(name, func(t *testing.T) {
			metrics := program.FreeAddress(t)
			all := []string{"--smtp=smtp://127.0.0.1?from=f@example.com", "--public-url=http://127.0.0.1", "--uploads=" + t.TempDir()}
			p := program.Start(t, slices.Concat(database, all, []string{"--metrics-listen", metrics})...)
			_, key := setUp(t, p)
			submission := `{"title":"Dark mode","description":""}`
			call(t, http.DefaultClient, p.URL+"/api/widget-submit-request", submission, "X-API-Key", key).get(t, "request.id")
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+metrics+"/metrics", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close() //nolint:errcheck // the body is read below
			text, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			served := map[string]string{}
			for _, match := range regexp.MustCompile(`(?m)^# TYPE (gatherkit_\w+) (\w+)$`).FindAllStringSubmatch(string(text), -1) {
				served[match[1]] = match[2]
			}
			if diff := cmp.Diff(served, documented); diff != "" {
				t.Errorf("- served, + documented:\n%s", diff)
			}
		})
	}
}

// databases returns the arguments of serve for each database.
func databases(t *testing.T) map[string][]string {
	t.Helper()
	return map[string][]string{"SQLite": {}, "PostgreSQL": {"--database", storetest.Postgres(t)}}
}

func TestOperatingListsTheFieldsOfTheLog(t *testing.T) {
	documented := []string{"level", "msg", "time"}
	for _, row := range table(t, "| field | meaning |") {
		documented = append(documented, row[0])
	}
	slices.Sort(documented)
	p := program.Start(t)
	token, key := setUp(t, p)
	call(t, http.DefaultClient, p.URL+"/api/widget-submit-request", `{"title":"T","description":""}`, "X-API-Key", key)
	call(t, http.DefaultClient, p.URL+"/api/setup-status", "{}", "Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	p.Stop(t)
	calls, logged := 0, map[string]any{}
	for line := range strings.Lines(p.Stderr.String()) {
		entry := map[string]any{}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if entry["msg"] != "call" {
			continue
		}
		calls++
		maps.Copy(logged, entry)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(logged)), documented); diff != "" {
		t.Errorf("- logged, + documented:\n%s", diff)
	}
	if calls != 4 {
		t.Errorf("%d calls are in the log; want 4", calls)
	}
	for _, secret := range []string{token, key, setupToken.FindString(p.Stdout.String()), "correct horse"} {
		if strings.Contains(p.Stderr.String(), secret) {
			t.Errorf("%s is in the log", secret)
		}
	}
}

// drainTime is how long gatherkit may take to stop: 30 s for calls and 20 s for their writes.
const drainTime = 50 * time.Second

func TestSystemdUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		storetest.Missing(t, "systemd", "install it with `apt-get install systemd`")
	}
	unit := program.Read(t, "deploy/gatherkit.service")
	postgres := program.Replaced(t, unit, "#LoadCredential=", "LoadCredential=", "#Environment=", "Environment=")
	for name, text := range map[string]string{"SQLite": unit, "PostgreSQL": postgres} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "gatherkit.service")
			if err := os.WriteFile(file, []byte(program.Replaced(t, text, "/usr/local/bin/gatherkit", program.Build(t))), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", file).CombinedOutput()
			if err != nil || strings.Contains(string(out), "gatherkit.service") {
				t.Errorf("systemd-analyze verify: %v\n%s", err, out)
			}
			// 100 means no protection. Below 20, systemd rates a unit as well protected.
			out, err = exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--threshold=20", "--no-pager", file).CombinedOutput()
			if err != nil {
				t.Errorf("systemd-analyze security: %v\n%s", err, out)
			}
		})
	}
	stop := regexp.MustCompile(`(?m)^TimeoutStopSec=(\d+)$`).FindStringSubmatch(unit)
	if stop == nil {
		t.Fatal("the unit has no TimeoutStopSec")
	}
	if seconds, err := time.ParseDuration(stop[1] + "s"); err != nil || seconds <= drainTime {
		t.Errorf("systemd kills gatherkit after %v, %v; it may take %v to stop", seconds, err, drainTime)
	}
}

// TestSystemdUnitSettings runs gatherkit migrate with the settings in the unit.
func TestSystemdUnitSettings(t *testing.T) {
	database, state := filepath.Join(t.TempDir(), "database"), t.TempDir()
	if err := os.WriteFile(database, []byte(storetest.Postgres(t)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	unit := program.Read(t, "deploy/gatherkit.service")
	for name, text := range map[string]string{"SQLite": unit, "PostgreSQL": program.Replaced(t, unit, "#Environment=", "Environment=")} {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer("%S", state, "%d", filepath.Dir(database), "127.0.0.1:8080", program.FreeAddress(t)).Replace(text)
			cmd := exec.CommandContext(t.Context(), program.Build(t), "migrate")
			cmd.Env = program.CleanEnvironment()
			for _, match := range regexp.MustCompile(`(?m)^Environment=(.*)$`).FindAllStringSubmatch(text, -1) {
				cmd.Env = append(cmd.Env, match[1])
			}
			out, err := cmd.CombinedOutput()
			if err != nil || strings.Contains(string(out), "warning") {
				t.Errorf("%v\n%s", err, out)
			}
			_, err = os.Stat(filepath.Join(state, "gatherkit", "gatherkit.db"))
			if inFile := err == nil; inFile != (name == "SQLite") {
				t.Errorf("with %s there is a SQLite file: %v", name, inFile)
			}
		})
		if err := os.RemoveAll(filepath.Join(state, "gatherkit")); err != nil {
			t.Fatal(err)
		}
	}
}
