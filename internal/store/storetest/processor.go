package storetest

import (
	"syscall"
	"testing"
	"time"
)

// Measures is Proof for a test that measures processor time. The race detector would distort it.
func Measures(t testing.TB) {
	t.Helper()
	Proof(t)
	if RaceDetector {
		t.Skip("make proof measures without the race detector")
	}
}

// ProcessorTime returns how much processor time this process has used.
func ProcessorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // the arguments are valid
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
