// Command bench measures a built Gatherkit over HTTP, beside floors that are taken
// in the same run, and prints the tables of docs/performance.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gatherkit/internal/store/storetest"
)

// options are what a run can be told.
type options struct {
	callers  []int
	sizes    []int
	during   time.Duration
	rounds   int
	folder   string
	postgres string
	deleted  int
	searched int
	among    []int
	tries    int
	changed  int
	only     []string // all without it
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == floorHTTP {
		fmt.Fprintln(os.Stderr, serveFloor(os.Args[3]))
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	if o.folder, err = os.MkdirTemp(o.folder, "gatherkit-bench-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.folder)) }()
	if err := os.Chmod(o.folder, 0o755); err != nil {
		return err
	}
	binary, err := buildProgram(ctx, o.folder)
	if err != nil {
		return err
	}
	if o.postgres == "" {
		parent, err := os.MkdirTemp(o.folder, "postgres-")
		if err != nil {
			return err
		}
		if err := os.Chmod(parent, 0o777); err != nil {
			return err
		}
		if o.postgres, err = storetest.DurablePostgres(parent); err != nil {
			return err
		}
	}
	fmt.Printf("%s, %d processors, %s, %s a figure, median of %d rounds.\n", time.Now().Format(time.DateOnly), runtime.NumCPU(), runtime.Version(), o.during, o.rounds)
	if err := measureProgram(ctx, binary, filepath.Join(o.folder, "cold")); err != nil {
		return err
	}
	for _, d := range []database{sqliteIn(filepath.Join(o.folder, "sqlite")), postgresAt(o.postgres)} {
		fmt.Printf("\n## %s\n", d.name)
		for _, m := range measures {
			if len(o.only) > 0 && !slices.Contains(o.only, m.name) {
				continue
			}
			if err := measure(ctx, o, binary, d, m); err != nil {
				return fmt.Errorf("%s: %s: %w", d.name, m.name, err)
			}
		}
	}
	return nil
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	callers := flags.String("callers", "1,16,64,256", "numbers of callers that submit")
	sizes := flags.String("sizes", "1000,100000,1000000", "numbers of requests to list among")
	flags.DurationVar(&o.during, "during", 2*time.Second, "time for each figure")
	flags.IntVar(&o.rounds, "rounds", 3, "rounds, of which the median counts")
	flags.StringVar(&o.folder, "folder", "", "folder on the disk to measure; the system's temporary one without it")
	flags.StringVar(&o.postgres, "postgres", "", "URL of an empty PostgreSQL database; without it a server is started")
	flags.IntVar(&o.deleted, "deleted", 300000, "requests of the app that is deleted while others submit")
	flags.IntVar(&o.searched, "searched", 12000, "requests of the app in which something is searched")
	among := flags.String("among", "100000", "numbers of requests of that app's account, each more than the one before")
	flags.IntVar(&o.tries, "tries", 20, "new requests of which is seen how soon they are found")
	flags.IntVar(&o.changed, "changed", 10000, "requests that one call changes while others submit")
	only := flags.String("only", "", "what to measure, such as lists,search; all of it without it")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.only, err = names(*only); err != nil {
		return o, err
	}
	if o.among, err = numbers(*among); err != nil {
		return o, err
	}
	if o.callers, err = numbers(*callers); err != nil {
		return o, err
	}
	o.sizes, err = numbers(*sizes)
	return o, err
}

func numbers(list string) ([]int, error) {
	var all []int
	for part := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no list of numbers such as 1,16,64", list)
		}
		all = append(all, n)
	}
	return all, nil
}

// names are those of measures.
func names(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	only := strings.Split(list, ",")
	for _, name := range only {
		if !slices.ContainsFunc(measures, func(m measurement) bool { return m.name == name }) {
			return nil, fmt.Errorf("%q is none of the measures", name)
		}
	}
	return only, nil
}
