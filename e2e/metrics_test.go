package e2e_test

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"gatherkit/e2e/program"
	"gatherkit/internal/store/storetest"
)

func get(t *testing.T, address string) (status int, body string) {
	t.Helper()
	response, err := http.Get(address)
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

// idPattern matches an id.
const idPattern = `[0-9a-f-]{36}`

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
			`gatherkit_account_calls_total\{account="` + idPattern + `"\} [3-9]`,
			`gatherkit_account_call_seconds_total\{account="` + idPattern + `"\} \S*[1-9]\S*`,
			`gatherkit_submit_group_size_sum 2`,
			`gatherkit_write_queue 0`,
			`gatherkit_write_seconds_count [1-9]\d*`,
			`gatherkit_write_retries_total \d+`,
			`gatherkit_calls_in_flight 0`,
			`gatherkit_connections [1-9]\d*`,
			`gatherkit_connections_limit [1-9]\d+`,
			`gatherkit_build_info\{schema="\d+",version="development.*"\} 1`,
			`gatherkit_database_up 1`,
			`gatherkit_database_bytes [1-9]\S+`,
			`gatherkit_database_wal_bytes ` + map[string]string{"sqlite": `[1-9]\S+`, "postgres": "0"}[place.Name],
			`gatherkit_worker_failures_total\{work="index"\} 0`,
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
		program.Eventually(t, "each kind of background work notes when it succeeded", func() bool {
			_, text := get(t, "http://"+metrics+"/metrics")
			at := regexp.MustCompile(`(?m)^gatherkit_worker_success_timestamp_seconds\{work="(?:sweep|index)"\} (\S+)$`)
			found := at.FindAllStringSubmatch(text, -1)
			for _, match := range found {
				if seconds, err := strconv.ParseFloat(match[1], 64); err != nil || time.Since(time.Unix(int64(seconds), 0)).Abs() > time.Hour {
					t.Fatalf("%s: %v", match[0], err)
				}
			}
			return len(found) == 2
		})
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

// TestMetricsWithoutDatabase: what a database that does not answer could tell is absent, so that
// nobody takes it for a number.
func TestMetricsWithoutDatabase(t *testing.T) {
	place := storetest.Place{Name: "postgres", Database: storetest.Postgres(t)}
	metrics := "http://" + program.FreeAddress(t)
	program.Start(t, append(program.At(place), "--metrics-listen="+strings.TrimPrefix(metrics, "http://"))...)
	address, err := url.Parse(place.Database)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(address.Path, "/")
	address.Path = "/postgres"
	raw := storetest.Place{Name: "postgres", Database: address.String()}.Raw(t)
	for _, statement := range []string{
		"ALTER DATABASE " + name + " ALLOW_CONNECTIONS false",
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name + "'",
	} {
		if _, err := raw.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	var text string
	program.Eventually(t, "the metrics say that the database is away", func() bool {
		_, text = get(t, metrics+"/metrics")
		return strings.Contains(text, "\ngatherkit_database_up 0\n")
	})
	for _, name := range []string{"gatherkit_index_backlog", "gatherkit_purge_backlog", "gatherkit_database_bytes"} {
		if strings.Contains(text, name) {
			t.Errorf("%s has a value:\n%s", name, own(text))
		}
	}
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
