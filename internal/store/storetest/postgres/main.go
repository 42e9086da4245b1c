// Command postgres runs the PostgreSQL server of a run of tests, until its standard input ends. It prints
// the port of the server, for the variable POSTGRES_OF_TESTS.
package main

import (
	"fmt"
	"os"

	"gatherkit/internal/store/storetest"
)

func main() {
	if err := storetest.Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
