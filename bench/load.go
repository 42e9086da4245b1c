package main

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// figures are the results of a measurement.
type figures struct {
	calls    int     // successful ones
	rate     float64 // of them per second
	p50, p99 time.Duration
	slowest  time.Duration
	failures int
}

// load runs callers that each make one call after the other, for the given time.
func load(ctx context.Context, callers int, during time.Duration, call func(ctx context.Context, caller int) error) figures {
	ctx, cancel := context.WithTimeout(ctx, during+30*time.Second)
	defer cancel()
	began := time.Now()
	return loadWhile(ctx, callers, func() bool { return time.Since(began) < during }, call)
}

// loadWhile is like load, and runs while running returns true.
func loadWhile(
	ctx context.Context, callers int, running func() bool, call func(ctx context.Context, caller int) error,
) figures {
	var mu sync.Mutex
	var times []time.Duration
	failures := 0
	var group sync.WaitGroup
	began := time.Now()
	for caller := range callers {
		group.Go(func() {
			var own []time.Duration
			failed := 0
			for running() && ctx.Err() == nil {
				start := time.Now()
				if err := call(ctx, caller); err != nil {
					failed++
					continue
				}
				own = append(own, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			times = append(times, own...)
			failures += failed
		})
	}
	group.Wait()
	return figuresOf(times, failures, time.Since(began))
}

// figuresOf returns the figures of calls that took the given times.
func figuresOf(times []time.Duration, failures int, during time.Duration) figures {
	f := figures{calls: len(times), rate: float64(len(times)) / during.Seconds(), failures: failures}
	if len(times) > 0 {
		slices.Sort(times)
		f.p50, f.p99, f.slowest = times[len(times)/2], times[len(times)*99/100], times[len(times)-1]
	}
	return f
}

// median returns the run with the median rate. Its failures are those of all runs.
func median(runs []figures) figures {
	sorted := slices.Clone(runs)
	slices.SortFunc(sorted, func(a, b figures) int { return cmp.Compare(a.rate, b.rate) })
	m := sorted[len(sorted)/2]
	m.failures = 0
	for _, run := range runs {
		m.failures += run.failures
	}
	return m
}
