// Package torture_test does to the program what it must bear, while clients keep a
// ledger of what was acknowledged to them: the power fails, disks fill, databases
// vanish, callers misbehave. Nothing acknowledged may be lost, and nothing doubled.
//
// By default each test takes a short form; with -full it has the length of which
// docs/reliability.md tells, and the tables of that document are printed at the end.
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

// beside lets the short form of a test run beside others, as it waits for most of its
// time. The long form measures, so it has the machine to itself.
func beside(t *testing.T) {
	if !*program.Full {
		t.Parallel()
	}
}

// late reports whether something took longer than the documents say. Only the long form
// tells: the short one may run on a busy machine, whose clock says nothing of the service.
func late(took, most time.Duration) bool { return *program.Full && took > most }

// report is the table of what was measured.
var report struct {
	mu   sync.Mutex
	rows []string
}

// measured adds a row to the table: the test's name, and what it found.
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
