package storetest

import (
	"flag"
	"sync"
	"testing"
)

// fewer are rapid's flags in "make test": how many random cases a property is tried on, and the seed of these.
var fewer = map[string]string{"rapid.checks": "15", "rapid.seed": "1"}

// given reports whether a flag was on the command line. It is asked before a test sets any.
var given = sync.OnceValue(func() map[string]bool {
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	return given
})

// FewerChecks has rapid try 15 cases instead of 100 until the test ends, and always the same ones, so that
// "make test" fails because of a change and not by chance. It is for properties of which one case is many calls,
// and comes before Each. "make proof" tries 100 random ones, and "make torture" thousands.
func FewerChecks(t *testing.T) {
	t.Helper()
	if InProof() {
		return
	}
	given := given()
	for name, value := range fewer {
		if given[name] {
			continue
		}
		usual := flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := flag.Set(name, usual); err != nil {
				t.Error(err)
			}
		})
	}
}
