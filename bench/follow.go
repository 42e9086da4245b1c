package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// buildIndex adds n requests while the service does not run, and returns how many the indexer
// then processes per second.
func (f *filler) buildIndex(ctx context.Context, n, inFirst int) (rate float64, err error) {
	f.stop()
	if err := f.fill(ctx, n, inFirst); err != nil {
		return 0, err
	}
	if err := vacuum(ctx, f.db, f.database); err != nil {
		return 0, err
	}
	if err := f.start(ctx); err != nil {
		return 0, err
	}
	began := time.Now()
	err = f.untilIndexed(ctx)
	return float64(n) / time.Since(began).Seconds(), errors.Join(err, f.logIn(ctx))
}

// timeFollowing measures the indexer with many new requests to process, while nothing else
// happens and while callers submit, and these submissions with and without such a backlog.
// built is the rate at which it processed the first requests.
func (f *filler) timeFollowing(ctx context.Context, o options, built float64) error {
	const callers = 16
	during := 3 * o.during // the indexer pauses for up to a second
	idle, err := f.buildIndex(ctx, o.behind, 0)
	if err != nil {
		return err
	}
	var without, with, indexed []figures
	left := int64(0)
	for range o.rounds {
		without = append(without, load(ctx, callers, during, f.submit))
		if err := f.untilIndexed(ctx); err != nil {
			return err
		}
		if err := f.fill(ctx, o.behind, 0); err != nil {
			return err
		}
		before, err := f.backlog(ctx)
		if err != nil {
			return err
		}
		began := time.Now()
		w := load(ctx, callers, during, f.submit)
		took := time.Since(began).Seconds()
		after, err := f.backlog(ctx)
		if err != nil {
			return err
		}
		with, left = append(with, w), left+after
		indexed = append(indexed, figures{rate: float64(before+int64(w.calls)-after) / took})
		if err := f.untilIndexed(ctx); err != nil {
			return err
		}
	}
	alone, beside := median(without), median(with)
	fmt.Printf("\n| the index has | new requests | meanwhile | indexed/s | submissions/s | p50 | p99 | ratio | failures |\n" +
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	fmt.Printf("| nothing | %d | nothing | %.0f | | | | | |\n", o.size, built)
	fmt.Printf("| %d | %d | nothing | %.0f | | | | | |\n", o.size, o.behind, idle)
	fmt.Printf("| %d | none | %d callers submit | | %.0f | %s | %s | 1.00 | %d |\n",
		o.size, callers, alone.rate, ms(alone.p50), ms(alone.p99), alone.failures)
	fmt.Printf("| %d | %d | %d callers submit | %.0f | %.0f | %s | %s | %.2f | %d |\n", o.size, o.behind, callers,
		median(indexed).rate, beside.rate, ms(beside.p50), ms(beside.p99), beside.rate/alone.rate, beside.failures)
	if left == 0 {
		fmt.Print("\nThe index had processed them before the submissions ended; choose a larger -behind.\n")
	}
	return nil
}

var backlogLine = regexp.MustCompile(`(?m)^gatherkit_index_backlog (\S+)$`)

// backlog returns how many changes the index has not processed yet.
func (s *service) backlog(ctx context.Context) (n int64, err error) {
	for range 10 {
		n, err = s.readBacklog(ctx)
		if !errors.Is(err, errNoBacklog) {
			break
		}
	}
	return n, err
}

// errNoBacklog means that the database did not answer the service in time.
var errNoBacklog = errors.New("the metrics do not contain the backlog of the index")

func (s *service) readBacklog(ctx context.Context) (int64, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.metrics+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close() //nolint:errcheck // the body is read below
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	match := backlogLine.FindSubmatch(text)
	if match == nil {
		return 0, errNoBacklog
	}
	n, err := strconv.ParseFloat(string(match[1]), 64)
	return int64(n), err
}

// untilIndexed waits until the index has processed all changes.
func (s *service) untilIndexed(ctx context.Context) error {
	least, progress := int64(-1), time.Now()
	for time.Since(progress) < 2*time.Minute {
		n, err := s.backlog(ctx)
		if err != nil || n == 0 {
			return err
		}
		if least < 0 || n < least {
			least, progress = n, time.Now()
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("the index does not get further than %d changes from the end", least)
}
