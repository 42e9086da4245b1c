package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"gatherkit/internal/feedback"
)

// measureVotes measures votes of many callers for the same request, and for different ones.
func measureVotes(ctx context.Context, o options, r rig) error {
	const callers = 64
	key, app, err := r.addApp(ctx)
	if err != nil {
		return err
	}
	if err := r.share(ctx, app); err != nil {
		return err
	}
	fmt.Printf("\n| %d callers vote | votes/s | p50 | p99 | failures |\n| --- | --- | --- | --- | --- |\n", callers)
	for _, c := range []struct {
		name     string
		requests int
	}{{"for one request", 1}, {"for a request each", callers}} {
		f, err := r.vote(ctx, o, key, callers, c.requests)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %.0f | %s | %s | %d |\n", c.name, f.rate, ms(f.p50), ms(f.p99), f.failures)
	}
	return nil
}

// vote measures votes for new requests, each by another person, and checks that all
// acknowledged votes are counted.
func (r rig) vote(ctx context.Context, o options, key string, callers, requests int) (figures, error) {
	var ids []string
	for range requests {
		var created struct{ Request struct{ ID string } }
		if err := r.callWith(ctx, "widget-submit-request", "X-API-Key", key, submission, &created); err != nil {
			return figures{}, err
		}
		ids = append(ids, created.Request.ID)
	}
	var acknowledged atomic.Int64
	voters := feedback.NewIDs(time.Now, rand.Reader)
	f := load(ctx, callers, o.during, func(ctx context.Context, caller int) error {
		body := fmt.Sprintf(`{"request_id":%q,"voter":%q}`, ids[caller%requests], voters.New())
		err := r.callWith(ctx, "widget-vote", "X-API-Key", key, body, nil)
		if err == nil {
			acknowledged.Add(1)
		}
		return err
	})
	counted := int64(-requests) // the votes of the submitters do not count
	for _, id := range ids {
		var now struct{ Request struct{ Votes int64 } }
		if err := r.call(ctx, "requests-get", fmt.Sprintf(`{"id":%q}`, id), &now); err != nil {
			return f, err
		}
		counted += now.Request.Votes
	}
	if counted != acknowledged.Load() {
		return f, fmt.Errorf("%d votes were acknowledged, but %d are counted", acknowledged.Load(), counted)
	}
	return f, nil
}

// measureBulk measures submissions before and while many requests get another status.
func measureBulk(ctx context.Context, o options, r rig) error {
	f, err := r.fillerOfOneApp(ctx)
	if err != nil {
		return err
	}
	from := f.at
	if _, err := f.buildIndex(ctx, o.changed, o.changed); err != nil {
		return err
	}
	const callers = 16
	before := load(ctx, callers, o.during, r.submit)
	var bulks, whiles []figures
	for round := range o.rounds {
		if err := r.logIn(ctx); err != nil { // the token may have expired
			return err
		}
		status := []string{"in_progress", "planned"}[round%2]
		var answered atomic.Bool
		bulk := make(chan figures, 1)
		go func() {
			calls := r.changeAll(ctx, f.apps[0].String(), status, from, f.at, o.changed)
			answered.Store(true)
			bulk <- calls
		}()
		whiles = append(whiles, loadWhile(ctx, callers, func() bool { return !answered.Load() }, r.submit))
		bulks = append(bulks, <-bulk)
	}
	calls, while := median(bulks), median(whiles)
	fmt.Printf("\n%d requests get a status in %.1f s, in calls of at most %d: p50 %s, the slowest %s, %d failures. "+
		"Submissions to another app by %d callers: p99 %s before, %s meanwhile, the slowest %s, %d failures.\n",
		o.changed, 1/calls.rate, maxBulk, ms(calls.p50), ms(calls.slowest), calls.failures,
		callers, ms(before.p99), ms(while.p99), ms(while.slowest), before.failures+while.failures)
	return nil
}

// maxBulk is how many requests a call changes at most, as in the dashboard.
const maxBulk = 1_000

// changeAll sets the status of all n requests that a filler added to an app between two times.
// It returns the figures of its calls; their rate is that of the whole.
func (r rig) changeAll(ctx context.Context, app, status string, from, to time.Time, n int) figures {
	gap, pieces := to.Sub(from)/time.Duration(n), max(2, (n+maxBulk-1)/maxBulk)
	at := func(i int) string { return from.Add(time.Duration(i) * gap).UTC().Format("2006-01-02T15:04:05.000Z") }
	var times []time.Duration
	failures, began := 0, time.Now()
	for i := range pieces {
		first, end := i*n/pieces, (i+1)*n/pieces
		body := fmt.Sprintf(`{"filter":{"app_id":%q,"created_after":%q,"created_before":%q},"expected_count":%d,"set":{"status":%q}}`,
			app, at(first), at(end), end-first, status)
		start := time.Now()
		if err := r.call(ctx, "requests-bulk-update", body, nil); err != nil {
			fmt.Fprintln(os.Stderr, err)
			failures++
			continue
		}
		times = append(times, time.Since(start))
	}
	calls := figuresOf(times, failures, time.Since(began))
	calls.rate = 1 / time.Since(began).Seconds()
	return calls
}

// measureExport measures the export of all requests of an app, and the memory that it needs.
func (r rig) measureExport(ctx context.Context, app string, size int) error {
	_, before, err := r.memory()
	if err != nil {
		return err
	}
	for _, format := range []string{"csv", "jsonl"} {
		var link struct{ URL string }
		if err := r.call(ctx, "requests-export", fmt.Sprintf(`{"app_id":%q,"format":%q}`, app, format), &link); err != nil {
			return err
		}
		began := time.Now()
		n, lines, err := download(ctx, r.url+link.URL)
		if err != nil {
			return err
		}
		took := time.Since(began)
		_, after, err := r.memory()
		if err != nil {
			return err
		}
		fmt.Printf("\nExporting %d requests as %s: %s, %.0f MB, %d lines. Peak memory: %.0f MB before, %.0f MB after.\n",
			size, format, took.Round(100*time.Millisecond), float64(n)/1e6, lines, before, after)
	}
	return nil
}

// download downloads a link and returns the number of its bytes and lines.
func download(ctx context.Context, link string) (n int64, lines int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, link, http.NoBody)
	if err != nil {
		return 0, 0, err
	}
	response, err := (&http.Client{}).Do(request) // without a timeout
	if err != nil {
		return 0, 0, err
	}
	defer response.Body.Close() //nolint:errcheck // the body is read below
	if response.StatusCode != http.StatusOK {
		return 0, 0, errors.New(response.Status)
	}
	piece := make([]byte, 64<<10)
	for {
		k, err := response.Body.Read(piece)
		n += int64(k)
		lines += strings.Count(string(piece[:k]), "\n")
		if errors.Is(err, io.EOF) {
			return n, lines, nil
		}
		if err != nil {
			return n, lines, err
		}
	}
}
