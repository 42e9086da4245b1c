package storetest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

// budgets are the tests of this process that have a share of the processors.
var budgets sync.Map

// Budget waits for a processor and keeps it until the test ends. It is for tests that start a browser or
// make many calls: together, those of all test processes take as many as the machine has, so that it is
// never busier than the tests make sense. A test that calls Budget again keeps the processor that it has.
func Budget(t testing.TB) {
	t.Helper()
	if _, has := budgets.LoadOrStore(t, nil); has {
		return
	}
	release := processor(t)
	t.Cleanup(func() {
		budgets.Delete(t)
		release()
	})
}

// processor locks one of as many files as there are processors. The kernel unlocks it when the process ends.
func processor(t testing.TB) (release func()) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for ; ; <-tick.C {
		for i := range runtime.NumCPU() {
			path := filepath.Join(os.TempDir(), fmt.Sprintf("gatherkit-tests-%d-processor-%d", os.Getuid(), i))
			file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
			if err == nil {
				return func() { _ = file.Close() } // which unlocks it
			}
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
			if !errors.Is(err, syscall.EWOULDBLOCK) {
				t.Fatal(err)
			}
		}
	}
}
