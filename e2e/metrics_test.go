package e2e_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // the body is read below
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestMetrics(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		metrics := program.FreeAddress(t)
		p := program.Start(t, append(program.At(place), "--metrics-listen="+metrics)...)
		token, key := setUp(t, p)
		c := program.NewClient(t, p)
		c.Submit(t, key, "one")
		c.Submit(t, key, "two")
		c.Want(t, "auth.invalid_token", "auth-me", token+"x", program.Params{})
		c.Want(t, "api.unknown_operation", "made-up-by-a-visitor", "", program.Params{})
		status, text := get(t, "http://"+metrics+"/metrics")
		if status != http.StatusOK {
			t.Fatalf("metrics: %d", status)
		}
		for _, want := range []string{
			`gatherkit_calls_total\{code="ok",operation="widget-submit-request"\} 2`,
			`gatherkit_calls_total\{code="auth.invalid_token",operation="auth-me"\} 1`,
			`gatherkit_calls_total\{code="api.unknown_operation",operation="unknown"\} 1`,
			`gatherkit_submit_group_size_sum 2`,
			`gatherkit_write_queue 0`,
			`gatherkit_purge_backlog 0`,
			`gatherkit_index_backlog \d+`,
			`gatherkit_database_connections [1-9]\d*`,
			`gatherkit_database_connections_busy \d+`,
			`gatherkit_database_waits_total \d+`,
			`process_resident_memory_bytes \S+`,
			`go_goroutines \d+`,
		} {
			if !regexp.MustCompile(`(?m)^` + want + `$`).MatchString(text) {
				t.Errorf("the metric %s is missing in\n%s", want, own(text))
			}
		}
		if strings.Contains(text, "made-up-by-a-visitor") {
			t.Error("unknown operations create metrics")
		}
		if status, _ := get(t, p.URL+"/metrics"); status != http.StatusNotFound {
			t.Errorf("/metrics on the main address: %d, want 404", status)
		}
		if status, _ := get(t, "http://"+metrics+"/docs"); status != http.StatusNotFound {
			t.Errorf("/docs on the metrics address: %d, want 404", status)
		}
	})
}

// own returns the lines of Gatherkit's own metrics.
func own(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "gatherkit_") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

func TestMetricsOnAPortInUse(t *testing.T) {
	p := program.Start(t)
	got := fail(t, nil, "", "serve", "--listen="+program.FreeAddress(t), "--metrics-listen="+p.Address)
	if !strings.HasPrefix(got, "cannot listen on "+p.Address) || !strings.HasSuffix(got, "choose another address with --metrics-listen") {
		t.Errorf("%q", got)
	}
}
