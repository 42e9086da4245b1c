package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

var (
	hours   = regexp.MustCompile(`\b(\d+)h\b`)
	minutes = regexp.MustCompile(`\b(\d+)m\b`)
	ages    = regexp.MustCompile(`((?:time\(\)|_seconds\)).* > )(\d+)`)
)

// hurried makes the rules' times short: an hour is 5 seconds, and a minute half a second.
func hurried(rules string) string {
	times := func(text string, pattern *regexp.Regexp, milliseconds int) string {
		return pattern.ReplaceAllStringFunc(text, func(found string) string {
			n, _ := strconv.Atoi(found[:len(found)-1]) // it has only digits
			return fmt.Sprintf("%dms", n*milliseconds)
		})
	}
	rules = times(times(rules, hours, 5000), minutes, 500)
	return ages.ReplaceAllStringFunc(rules, func(found string) string {
		parts := ages.FindStringSubmatch(found)
		seconds, _ := strconv.Atoi(parts[2])
		return parts[1] + fmt.Sprint(float64(seconds)/120)
	})
}

// watched is a service whose metrics a Prometheus collects four times a second.
type watched struct {
	*program.Process
	program.Client
	place      storetest.Place
	token, key string
	metrics    string // address
	prometheus string // URL
}

// watch starts a service and a Prometheus with the hurried rules.
func watch(t *testing.T, place storetest.Place, start func(t *testing.T, args ...string) *program.Process) *watched {
	t.Helper()
	w := &watched{place: place, metrics: program.FreeAddress(t)}
	w.Process = start(t, append(program.At(place), "--metrics-listen="+w.metrics)...)
	w.Client = program.NewClient(t, w.Process)
	w.token, w.key = uploading(t, w.Process)
	w.scrape(t, w.metrics)
	return w
}

// scrape starts Prometheus.
func (w *watched) scrape(t *testing.T, metrics ...string) {
	t.Helper()
	folder, address := t.TempDir(), program.FreeAddress(t)
	targets, err := json.Marshal(metrics)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"alerts.yml": hurried(program.Read(t, "deploy/alerts.yml")),
		"prometheus.yml": "global: {scrape_interval: 250ms, evaluation_interval: 250ms}\nrule_files: [alerts.yml]\n" +
			"scrape_configs: [{job_name: gatherkit, static_configs: [{targets: " + string(targets) + "}]}]\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), program.Tool(t, "prometheus", "prometheus"), "--config.file="+folder+"/prometheus.yml",
		"--storage.tsdb.path="+folder+"/data", "--web.listen-address="+address, "--log.level=error")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	exited := make(chan struct{})
	program.Launch(t, cmd, exited)
	w.prometheus = "http://" + address
	program.Eventually(t, "Prometheus has collected metrics", func() bool {
		return program.Answers(t, w.prometheus+"/-/ready") && w.asks(t, "up").number() == 1
	})
}

// found is the answer of Prometheus to a query.
type found struct {
	Data struct {
		Result []struct{ Value []any }
		Alerts []struct {
			State  string
			Labels map[string]string
		}
	}
}

// number returns the first value, or -1.
func (f found) number() float64 {
	if len(f.Data.Result) == 0 {
		return -1
	}
	n, _ := strconv.ParseFloat(fmt.Sprint(f.Data.Result[0].Value[1]), 64)
	return n
}

func (w *watched) asks(t *testing.T, query string) (answer found) {
	t.Helper()
	_, body := get(t, w.prometheus+"/api/v1/query?query="+url.QueryEscape(query))
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// firing reports whether an alert fires.
func (w *watched) firing(t *testing.T, alert string) bool {
	t.Helper()
	var answer found
	_, body := get(t, w.prometheus+"/api/v1/alerts")
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err)
	}
	for _, a := range answer.Data.Alerts {
		if a.Labels["alertname"] == alert && a.State == "firing" {
			return true
		}
	}
	return false
}

// sql runs a statement past the service.
func (w *watched) sql(t *testing.T, statement string) {
	t.Helper()
	if _, err := w.place.Raw(t).ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// lock locks a table until the test ends, as a command of an operator may.
func (w *watched) lock(t *testing.T, table, mode string) {
	t.Helper()
	tx, err := w.place.Raw(t).Begin()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback() })
	if _, err := tx.ExecContext(t.Context(), "LOCK TABLE "+table+" IN "+mode+" MODE"); err != nil {
		t.Fatal(err)
	}
}

// crowd makes calls at the same time, until the test ends.
func (w *watched) crowd(t *testing.T, callers int, call func()) {
	t.Helper()
	t.Cleanup(program.SubmitWith(callers, func(string) { call() }))
}

// tries submits a request, whatever comes of it.
func (w *watched) tries() {
	_, _ = w.Call("widget-submit-request", w.key, program.Params{"title": "T", "description": ""})
}
