// Package deadline makes the deadlines of the program longer in tests.
//
// A test fails because something does not happen, and not because a busy machine is late. So the tests
// build the program with
//
//	-ldflags "-X gatherkit/internal/deadline.patience=30"
//
// which makes each deadline 30 times as long. Tests that are about a deadline build it without.
package deadline

import (
	"strconv"
	"time"
)

// patience is a number that the linker can set. In a release it is 1.
var patience = "1"

var factor = parse(patience)

func parse(s string) time.Duration {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		panic("deadline.patience must be a positive number: " + s)
	}
	return time.Duration(n)
}

// Of returns how long the program waits for something before it gives up: d in a release, and a
// multiple of it in a test.
func Of(d time.Duration) time.Duration { return d * factor }
