// Package torture_test runs the program under failures: power cuts, full disks, unreachable
// databases, hostile callers. Clients keep a ledger of the requests that were acknowledged.
// No acknowledged request may be lost or stored twice.
//
// By default, each test takes its short form. With -full, it takes as long as described in
// docs/reliability.md, and the tables of that document are printed at the end.
package torture_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"gatherkit/e2e/program"
)

// parallel lets the short form of a test run in parallel with others, because it mostly
// waits. The long form measures, so it runs alone.
func parallel(t *testing.T) {
	if !*program.Full {
		t.Parallel()
	}
}

// late reports whether something took longer than documented. It returns false in the short
// form, which may run on a busy machine.
func late(took, most time.Duration) bool { return *program.Full && took > most }

// report is the table of the results.
var report struct {
	mu   sync.Mutex
	rows []string
}

// measured adds the test's name and result to the report.
func measured(t *testing.T, format string, args ...any) {
	t.Helper()
	found := fmt.Sprintf(format, args...)
	t.Log(found)
	report.mu.Lock()
	defer report.mu.Unlock()
	report.rows = append(report.rows, fmt.Sprintf("| %s | %s |", strings.TrimPrefix(t.Name(), "Test"), found))
}

func TestMain(m *testing.M) {
	flag.Parse()
	status := program.Main(m)
	if len(report.rows) > 0 {
		fmt.Printf("\n| test | found |\n|---|---|\n%s\n\n", strings.Join(report.rows, "\n"))
	}
	os.Exit(status)
}
