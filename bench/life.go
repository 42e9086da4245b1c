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

// measureSearch times what is found by words: in an app of twelve in a hundred of all
// requests, which the worker has put into its index.
func measureSearch(ctx context.Context, o options, r rig) error {
	var tables strings.Builder
	for i, size := range o.searched {
		s := newSpeech()
		key, app, err := r.addApp(ctx)
		if err != nil {
			return err
		}
		if err := r.share(ctx, app); err != nil {
			return err
		}
		began := time.Now()
		titles, err := r.seedTexts(ctx, s, app, size*12/100, (2*i+1)*10_000_000)
		if err != nil {
			return err
		}
		_, others, err := r.addApp(ctx)
		if err != nil {
			return err
		}
		if _, err := r.seedTexts(ctx, s, others, size-size*12/100, (2*i+2)*10_000_000); err != nil {
			return err
		}
		seeded := time.Since(began)
		indexed, err := r.untilIndexed(ctx)
		if err != nil {
			return err
		}
		fmt.Printf("\nThe index has followed %d requests %s after they were there (seeding took %s).\n", size, indexed.Round(100*time.Millisecond), seeded.Round(100*time.Millisecond))
		if err := r.searches(ctx, o, &tables, size, key, app, s, titles); err != nil {
			return err
		}
	}
	fmt.Print("\n| requests | call | p50, 1 caller | p99 | calls/s, 16 callers | failures |\n| --- | --- | --- | --- | --- | --- |\n" + tables.String())
	return r.measureFreshness(ctx, 3*o.rounds)
}

// searches times the calls that search, and writes a line for each.
func (r rig) searches(ctx context.Context, o options, to io.Writer, size int, key, app string, s *speech, titles []string) error {
	var questions []string
	for _, title := range titles {
		questions = append(questions, s.ask(title))
	}
	var asked atomic.Int64
	question := func() string { return questions[int(asked.Add(1))%len(questions)] }
	list := func(query string) func(context.Context, int) error {
		body := fmt.Sprintf(`{"app_id":%q,"query":%q}`, app, query)
		return func(ctx context.Context, _ int) error { return r.call(ctx, "requests-list", body, nil) }
	}
	for _, c := range []struct {
		name string
		call func(context.Context, int) error
	}{
		{"widget-similar-requests", func(ctx context.Context, _ int) error {
			return r.callWith(ctx, "widget-similar-requests", "X-API-Key", key, fmt.Sprintf(`{"text":%q}`, question()), nil)
		}},
		{"requests-similar", func(ctx context.Context, _ int) error {
			return r.call(ctx, "requests-similar", fmt.Sprintf(`{"app_id":%q,"text":%q}`, app, question()), nil)
		}},
		{"requests-list, the most frequent word", list(s.words[0])},
		{"requests-list, a rare word", list(s.words[3000])},
		{"requests-list, both", list(s.words[0] + " " + s.words[3000])},
		{"requests-list, two letters", list(s.words[0][:2])},
	} {
		one, many := load(ctx, 1, o.during, c.call), load(ctx, 16, o.during, c.call)
		_, err := fmt.Fprintf(to, "| %d | %s | %s | %s | %.0f | %d |\n", size, c.name, ms(one.p50), ms(one.p99), many.rate, one.failures+many.failures)
		if err != nil {
			return err
		}
	}
	return nil
}

// share lets holders of an app's key see all of its requests.
func (r rig) share(ctx context.Context, app string) error {
	return r.call(ctx, "apps-update-settings", fmt.Sprintf(`{"id":%q,"settings":{"sharing":"all"}}`, app), nil)
}

// untilIndexed waits until the index has followed every change.
func (r rig) untilIndexed(ctx context.Context) (time.Duration, error) {
	began, left := time.Now(), 1
	for left > 0 {
		err := r.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM account_seq q LEFT JOIN index_progress i ON i.account_id = q.account_id WHERE q.last > COALESCE(i.seq, 0)").Scan(&left)
		if err != nil {
			return 0, err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(began), nil
}

// measureFreshness reports how long a new request takes to be found.
func (r rig) measureFreshness(ctx context.Context, tries int) error {
	key, app, err := r.addApp(ctx)
	if err != nil {
		return err
	}
	var found []figures
	slowest := time.Duration(0)
	for i := range tries {
		time.Sleep(time.Duration(i) * 370 * time.Millisecond % time.Second) // not always just after the index was at work
		title := "Unheard of " + rand.Text()
		if err := r.callWith(ctx, "widget-submit-request", "X-API-Key", key, fmt.Sprintf(`{"title":%q,"description":""}`, title), nil); err != nil {
			return err
		}
		began := time.Now()
		for n := 0; n == 0; {
			var list struct {
				Total int `json:"total_count"`
			}
			if err := r.call(ctx, "requests-list", fmt.Sprintf(`{"app_id":%q,"query":%q}`, app, title), &list); err != nil {
				return err
			}
			n = list.Total
		}
		took := time.Since(began)
		slowest = max(slowest, took)
		found = append(found, figures{rate: took.Seconds()})
	}
	fmt.Printf("\nA new request is found after %.0f ms in the middle of %d tries, and %s at the most.\n", median(found).rate*1000, tries, slowest.Round(time.Millisecond))
	return nil
}

// measureVotes times votes of many for one request, beside those for one each.
func measureVotes(ctx context.Context, o options, r rig) error {
	const callers = 64
	key, app, err := r.addApp(ctx)
	if err != nil {
		return err
	}
	if err := r.share(ctx, app); err != nil {
		return err
	}
	var requests [callers]string
	for i := range requests {
		var made struct{ Request struct{ ID string } }
		if err := r.callWith(ctx, "widget-submit-request", "X-API-Key", key, submission, &made); err != nil {
			return err
		}
		requests[i] = made.Request.ID
	}
	ids := feedback.NewIDs(time.Now, rand.Reader)
	vote := func(ctx context.Context, request string) error {
		return r.callWith(ctx, "widget-vote", "X-API-Key", key, fmt.Sprintf(`{"request_id":%q,"voter":%q}`, request, ids.New()), nil)
	}
	var given atomic.Int64
	hot := load(ctx, callers, o.during, func(ctx context.Context, _ int) error {
		err := vote(ctx, requests[0])
		if err == nil {
			given.Add(1)
		}
		return err
	})
	var counted struct{ Request struct{ Votes int64 } }
	if err := r.call(ctx, "requests-get", fmt.Sprintf(`{"id":%q}`, requests[0]), &counted); err != nil {
		return err
	}
	if counted.Request.Votes != given.Load()+1 { // the submitter's
		return fmt.Errorf("%d votes are counted of %d", counted.Request.Votes, given.Load()+1)
	}
	cold := load(ctx, callers, o.during, func(ctx context.Context, caller int) error { return vote(ctx, requests[caller]) })
	fmt.Print("\n| 64 callers vote | votes/s | p50 | p99 | failures |\n| --- | --- | --- | --- | --- |\n")
	fmt.Printf("| for one request | %.0f | %s | %s | %d |\n", hot.rate, ms(hot.p50), ms(hot.p99), hot.failures)
	fmt.Printf("| for a request each | %.0f | %s | %s | %d |\n", cold.rate, ms(cold.p50), ms(cold.p99), cold.failures)
	return nil
}

// measureBulk times the submissions of others while one call changes many requests.
func measureBulk(ctx context.Context, o options, r rig) error {
	app, err := r.seedApp(ctx, o.changed, 8)
	if err != nil {
		return err
	}
	const callers = 16
	before := load(ctx, callers, o.during, r.submit)
	took := make(chan error, 1)
	var lasted time.Duration
	go func() {
		began := time.Now()
		err := r.call(ctx, "requests-bulk-update", fmt.Sprintf(`{"filter":{"app_id":%q},"expected_count":%d,"set":{"status":"in_progress","add_tags":["Next"]}}`, app, o.changed), nil)
		lasted = time.Since(began)
		took <- err
	}()
	while := load(ctx, callers, o.during, r.submit)
	err = <-took
	fmt.Printf("\nChanging %d requests by one call took %s. Submissions of others by %d callers: p99 %s before, %s meanwhile, the slowest %s, %d failures.\n",
		o.changed, lasted.Round(time.Millisecond), callers, ms(before.p99), ms(while.p99), ms(while.slowest), before.failures+while.failures)
	return err
}

// measureExport downloads all requests of an app, with what belongs to them.
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
		_, most, err := r.memory()
		if err != nil {
			return err
		}
		fmt.Printf("\nExporting %d requests as %s: %s, %.0f MB, %d lines. Memory at its highest: %.0f MB before, %.0f MB after.\n", size, format, took.Round(100*time.Millisecond), float64(n)/1e6, lines, before, most)
	}
	return nil
}

// download reads what a link leads to, and counts its bytes and lines.
func download(ctx context.Context, link string) (n int64, lines int, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, link, http.NoBody)
	if err != nil {
		return 0, 0, err
	}
	response, err := (&http.Client{}).Do(request) // without a limit of time
	if err != nil {
		return 0, 0, err
	}
	defer response.Body.Close() //nolint:errcheck // read to its end below
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
