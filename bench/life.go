package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
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

// measureBulk measures submissions before and while one call changes many requests.
func measureBulk(ctx context.Context, o options, r rig) error {
	app, err := r.seedApp(ctx, o.changed, 8)
	if err != nil {
		return err
	}
	const callers = 16
	before := load(ctx, callers, o.during, r.submit)
	var bulks, whiles []figures
	for round := range o.rounds {
		body := fmt.Sprintf(`{"filter":{"app_id":%q},"expected_count":%d,"set":{"status":"in_progress","add_tags":["Round %d"]}}`,
			app, o.changed, round)
		var answered atomic.Bool
		var result struct{ Updated int }
		bulk := make(chan error, 1)
		began := time.Now()
		go func() {
			err := r.call(ctx, "requests-bulk-update", body, &result)
			bulks = append(bulks, figures{rate: time.Since(began).Seconds()})
			answered.Store(true)
			bulk <- err
		}()
		whiles = append(whiles, loadWhile(ctx, callers, func() bool { return !answered.Load() }, r.submit))
		if err := <-bulk; err != nil {
			return err
		}
		if result.Updated != o.changed {
			return fmt.Errorf("%d of %d requests were changed", result.Updated, o.changed)
		}
	}
	while := median(whiles)
	fmt.Printf("\nOne call changes %d requests in %.0f ms. Submissions to another app by %d callers: "+
		"p99 %s before, %s meanwhile, the slowest %s, %d failures.\n",
		o.changed, median(bulks).rate*1000, callers, ms(before.p99), ms(while.p99), ms(while.slowest), before.failures+while.failures)
	return nil
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
