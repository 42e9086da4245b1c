package main

import (
	"fmt"
	"os"
	"testing"

	"gatherkit/internal/store/storetest"
)

// TestMain runs the test binary as the HTTP floor, as main does for the program.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == floorHTTP {
		fmt.Fprintln(os.Stderr, serveFloor(os.Args[3]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestBench runs every measurement with tiny sizes, to check that they work.
func TestBench(t *testing.T) {
	storetest.Proof(t)
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			err := run(t.Context(), []string{
				"-on=" + k.name, "-callers=2", "-sizes=400", "-during=20ms", "-rounds=1", "-deleted=1500", "-searched=50",
				"-behind=100", "-tries=2", "-changed=200", "-accounts=20", "-folder=" + t.TempDir(), "-postgres=" + storetest.Postgres(t),
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	for _, args := range [][]string{{"-callers=1,x"}, {"-sizes=0"}, {"-behind=x"}, {"-only=nothing"}, {"-on=paper"}, {"-nonsense"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
}
