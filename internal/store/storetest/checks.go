package storetest

import (
	"flag"
	"sync"
	"testing"
)

// checks is the flag of rapid that says how many random cases a property is tried on.
const checks = "rapid.checks"

// checksGiven reports whether the flag was on the command line.
var checksGiven = sync.OnceValue(func() (given bool) {
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == checks })
	return given
})

// FewerChecks has rapid try 30 random cases instead of 100 until the test ends, unless the
// flag -rapid.checks is given. It is for properties of which one case is many calls, and
// comes before Each. "make torture" tries thousands.
func FewerChecks(t *testing.T) {
	t.Helper()
	if checksGiven() {
		return
	}
	usual := flag.Lookup(checks).Value.String()
	if err := flag.Set(checks, "30"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := flag.Set(checks, usual); err != nil {
			t.Error(err)
		}
	})
}
