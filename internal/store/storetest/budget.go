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

// Budget waits for a share of the processors and keeps it until the test ends. It is for tests that start
// a browser or make many calls: those of all test processes together do not make the machine busy. There
// are two shares for a processor, because such a test waits for up to half of its time. A test that calls
// Budget again keeps the share that it has.
func Budget(t testing.TB) {
	t.Helper()
	if _, has := budgets.LoadOrStore(t, nil); has {
		return
	}
	release := share(t)
	t.Cleanup(func() {
		budgets.Delete(t)
		release()
	})
}

// share locks one of as many files as there are shares. The kernel unlocks it when the process ends.
func share(t testing.TB) (release func()) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for ; ; <-tick.C {
		for i := range 2 * runtime.NumCPU() {
			path := filepath.Join(os.TempDir(), fmt.Sprintf("gatherkit-tests-%d-share-%d", os.Getuid(), i))
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
