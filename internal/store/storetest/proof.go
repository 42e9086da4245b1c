package storetest

import (
	"flag"
	"os"
	"testing"
)

// InProof reports whether the test is part of "make proof", which sets the variable PROOF, or takes the
// long form of -full. Many tests then take more data or more time.
func InProof() bool {
	full := flag.Lookup("full")
	return os.Getenv("PROOF") != "" || full != nil && full.Value.String() == "true"
}

// Proof skips a test that is not part of "make test": it takes minutes, or needs a machine of its own,
// as tests do that are about deadlines.
func Proof(t testing.TB) {
	t.Helper()
	if !InProof() {
		t.Skip("this test is part of make proof")
	}
}
