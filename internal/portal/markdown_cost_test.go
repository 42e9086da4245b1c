//go:build linux && !race

package portal

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMarkdownCost checks that no text takes much more processor time than a usual one.
func TestMarkdownCost(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	used := func() time.Duration {
		var of unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &of); err != nil {
			t.Fatal(err)
		}
		return time.Duration(of.Nano())
	}
	cost := func(source string) time.Duration {
		best := time.Hour
		for range 10 {
			start := used()
			if _, err := markdown(source, 2); err != nil {
				t.Fatal(err)
			}
			best = min(best, used()-start)
		}
		return best
	}
	usual := cost(strings.Repeat("word and ", 1111))
	for _, source := range hostileMarkdown() {
		if got := cost(source); got > 70*usual { // it takes up to 22 times as long, and without limits 200 times
			t.Errorf("%.12q takes %v, a usual text %v", source, got, usual)
		}
	}
}
