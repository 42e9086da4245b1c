// Command bench measures the Gatherkit binary over HTTP, measures the floors of the machine
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

// options are the options of a run; parse describes them.
type options struct {
	callers  []int
	sizes    []int
	size     int // the one that is measured, if a measurement is repeated by size
	during   time.Duration
	rounds   int
	folder   string
	postgres string
	deleted  int
	searched int
	behind   int
	tries    int
	changed  int
	accounts int
	only     []string // measurements; empty for all
	on       []string // kinds of databases; empty for all
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
	if o.postgres == "" && chosen(o.on, "PostgreSQL") {
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
	fmt.Printf("%s, %d processors, %s, %s per figure, median of %d rounds.\n",
		time.Now().Format(time.DateOnly), runtime.NumCPU(), runtime.Version(), o.during, o.rounds)
	if err := measureProgram(ctx, binary, filepath.Join(o.folder, "cold")); err != nil {
		return err
	}
	for _, k := range kinds {
		if !chosen(o.on, k.name) {
			continue
		}
		fmt.Printf("\n## %s\n", k.name)
		for _, m := range measurements {
			if !chosen(o.only, m.name) {
				continue
			}
			sizes := o.sizes
			if !m.bySize {
				sizes = sizes[:1]
			}
			for _, o.size = range sizes {
				// What fails does not keep the rest from being measured.
				if failure := measure(ctx, o, binary, k, m); failure != nil {
					fmt.Printf("\n%s failed: %v\n", m.name, failure)
					err = errors.Join(err, fmt.Errorf("%s: %s: %w", k.name, m.name, failure))
				}
				if ctx.Err() != nil {
					return err
				}
			}
		}
	}
	return err
}

// chosen reports whether names contains a name, or is empty.
func chosen(names []string, name string) bool {
	return len(names) == 0 || slices.Contains(names, name)
}

func parse(args []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	callers := flags.String("callers", "1,16,64,256", "numbers of concurrent callers that submit")
	sizes := flags.String("sizes", "1000,60000,1000000", "numbers of requests in the measured lists and searches")
	flags.DurationVar(&o.during, "during", 2*time.Second, "duration of each measurement")
	flags.IntVar(&o.rounds, "rounds", 3, "number of rounds; the results are medians")
	flags.StringVar(&o.folder, "folder", "", "folder on the disk to measure; the default is the system's temporary folder")
	flags.StringVar(&o.postgres, "postgres", "", "URL of a PostgreSQL database, to create others beside; by default, a server is started")
	flags.IntVar(&o.deleted, "deleted", 300000, "number of requests in the app that is deleted during submissions")
	flags.IntVar(&o.searched, "searched", 12000, "number of searched requests in an app of its own, at most half of them")
	flags.IntVar(&o.behind, "behind", 50000, "number of new requests with which the index is behind")
	flags.IntVar(&o.tries, "tries", 20, "number of new requests for measuring how soon they are found")
	flags.IntVar(&o.changed, "changed", 100000, "number of requests that change during submissions")
	flags.IntVar(&o.accounts, "accounts", 10000, "number of accounts of a large installation")
	only := flags.String("only", "", "what to measure, such as lists,search; everything by default")
	on := flags.String("on", "", "the database to measure on, SQLite or PostgreSQL; both by default")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	var err error
	if o.only, err = names(*only, func(name string) bool {
		return slices.ContainsFunc(measurements, func(m measurement) bool { return m.name == name })
	}); err != nil {
		return o, err
	}
	if o.on, err = names(*on, func(name string) bool {
		return slices.ContainsFunc(kinds, func(k kind) bool { return k.name == name })
	}); err != nil {
		return o, err
	}
	if o.callers, err = numbers(*callers); err != nil {
		return o, err
	}
	o.sizes, err = numbers(*sizes)
	return o, err
}

// numbers parses a comma-separated list of positive numbers.
func numbers(list string) ([]int, error) {
	var parsed []int
	for part := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a list of positive numbers, such as 1,16,64", list)
		}
		parsed = append(parsed, n)
	}
	return parsed, nil
}

// names parses a comma-separated list of known names.
func names(list string, known func(string) bool) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	parsed := strings.Split(list, ",")
	for _, name := range parsed {
		if !known(name) {
			return nil, fmt.Errorf("%q is not the name of something that can be measured", name)
		}
	}
	return parsed, nil
}
