package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// measureFeed measures pages of the feed of changes, each in turn with a page of as many requests, and
// submissions beside callers that wait for changes. The log has an entry for each of o.size requests.
func measureFeed(ctx context.Context, o options, r rig) error {
	f, err := r.fillerOfOneApp(ctx)
	if err != nil {
		return err
	}
	if _, err := f.buildIndex(ctx, o.size, o.size); err != nil {
		return err
	}
	fmt.Printf("\n%d requests and events:\n", o.size)
	if err := r.timeEvents(ctx, o); err != nil {
		return err
	}
	return r.timeWaiting(ctx, o)
}

// pageOfFeed is how many events a measured page has, and how many requests the page that it is compared with.
const pageOfFeed = 100

// timeEvents measures pages at several places of the log.
func (r rig) timeEvents(ctx context.Context, o options) error {
	var calls []*timed
	for _, at := range []struct {
		name  string
		after int
	}{{"first", 0}, {"in the middle", o.size / 2}, {"last", o.size - pageOfFeed}} {
		body := fmt.Sprintf(`{"after":%d,"limit":%d}`, at.after, pageOfFeed)
		calls = append(calls, &timed{name: at.name, call: func(ctx context.Context) error { return r.call(ctx, "events-list", body, nil) }})
	}
	if err := r.timeAll(ctx, o, fmt.Sprintf(`{"limit":%d}`, pageOfFeed), calls); err != nil {
		return err
	}
	fmt.Printf("\n| page of %d events | %s |\n| --- | %s |\n", pageOfFeed, timedHeader, timedRule)
	for _, c := range calls {
		fmt.Printf("| %s | %s |\n", c.name, c.columns())
	}
	return nil
}

// reading is how the callers of timeWaiting follow the feed.
type reading struct {
	name    string
	pause   time.Duration // after events
	submits []figures     // meanwhile
	events  int           // that were read
	took    time.Duration
}

// timeWaiting measures submissions without and with callers that wait for changes, in turn.
func (r rig) timeWaiting(ctx context.Context, o options) error {
	const readers, submitters = 8, 16 // a session may have as many calls that wait
	without := &reading{name: "nobody"}
	all := []*reading{
		without,
		{name: "and pause for a second after events, as the dashboard does", pause: time.Second},
		{name: "and read all events at once"},
	}
	for range o.rounds {
		if err := r.logIn(ctx); err != nil { // the token may have expired
			return err
		}
		for _, m := range all {
			began := time.Now()
			stop := func() (int, error) { return 0, nil }
			if m != without {
				stop = r.readFeed(ctx, readers, m.pause)
			}
			m.submits = append(m.submits, load(ctx, submitters, o.during, r.submit))
			m.took += time.Since(began)
			n, err := stop()
			if err != nil {
				return err
			}
			m.events += n
		}
	}
	fmt.Printf("\n| %d callers wait for events | submissions/s, %d callers | p50 | p99 | ratio | events/s read | failures |\n"+
		"| --- | --- | --- | --- | --- | --- | --- |\n", readers, submitters)
	alone := median(without.submits)
	for _, m := range all {
		f := median(m.submits)
		fmt.Printf("| %s | %.0f | %s | %s | %.2f | %.0f | %d |\n", m.name, f.rate, ms(f.p50), ms(f.p99), f.rate/alone.rate,
			float64(m.events)/m.took.Seconds(), f.failures)
	}
	return nil
}

// readFeed starts callers that follow the feed from its end and pause after events. The returned
// function ends them, and returns how many events they have read.
func (r rig) readFeed(ctx context.Context, callers int, pause time.Duration) (stop func() (int, error)) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	counts, failures := make([]int, callers), make([]error, callers)
	for i := range callers {
		all.Go(func() { counts[i], failures[i] = r.follow(ctx, pause) })
	}
	return func() (n int, err error) {
		cancel()
		all.Wait()
		for _, count := range counts {
			n += count
		}
		return n, errors.Join(failures...)
	}
}

// follow reads the feed until ctx ends, and returns how many events it has read.
func (r rig) follow(ctx context.Context, pause time.Duration) (n int, err error) {
	var page struct {
		Events   []struct{}
		Position int64
	}
	for body := `{}`; ; body = fmt.Sprintf(`{"after":%d,"limit":1000,"wait":10}`, page.Position) {
		err := r.call(ctx, "events-list", body, &page)
		if ctx.Err() != nil {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		n += len(page.Events)
		if pause > 0 && len(page.Events) > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	}
}
