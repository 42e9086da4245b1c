package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"
)

// timeBacklog prints how long it takes until searches find a request in other accounts while the index has many changes of
// one account to process, without and with callers that submit meanwhile.
func (r rig) timeBacklog(ctx context.Context, o options, tenants []tenant) error {
	f, err := r.fillerOfOneApp(ctx)
	if err != nil {
		return err
	}
	fmt.Print("\n| meanwhile | changes of one account | of these processed | submissions in others | found after | slowest | failures |\n" +
		"| --- | --- | --- | --- | --- | --- | --- |\n")
	busy, quiet := tenants[:len(tenants)/2], tenants[len(tenants)/2:]
	for _, callers := range []int{0, 16} {
		r.stop()
		if err := f.fill(ctx, o.behind, 0); err != nil {
			return err
		}
		if err := r.start(ctx); err != nil {
			return err
		}
		during, next := 5*o.during, 0
		var others sync.WaitGroup
		others.Go(func() {
			choices := zipf(max(callers, 1), len(busy))
			load(ctx, callers, during, func(ctx context.Context, caller int) error {
				return r.callWith(ctx, "widget-submit-request", "X-API-Key", busy[choices[caller].Uint64()].key, submission, nil)
			})
		})
		waits := load(ctx, 1, during, func(ctx context.Context, _ int) error {
			next++
			return r.submitAndWait(ctx, quiet[next%len(quiet)])
		})
		left, err := f.lag(ctx)
		if err != nil {
			return err
		}
		others.Wait()
		meanwhile := "nothing"
		if callers > 0 {
			meanwhile = fmt.Sprintf("%d callers submit", callers)
		}
		fmt.Printf("| %s | %d | %d | %d | %s | %s | %d |\n", meanwhile, o.behind, o.behind-left, waits.calls,
			ms(waits.p50), ms(waits.slowest), waits.failures)
		if err := r.untilIndexed(ctx); err != nil {
			return err
		}
	}
	return nil
}

// submitAndWait submits a request in an account, and searches for it until it is found.
func (r rig) submitAndWait(ctx context.Context, t tenant) error {
	title := "Title " + rand.Text()
	body := fmt.Sprintf(`{"title":%q,"description":""}`, title)
	if err := r.callWith(ctx, "widget-submit-request", "X-API-Key", t.key, body, nil); err != nil {
		return err
	}
	for {
		var answer struct{ Requests []struct{ Title string } }
		query := fmt.Sprintf(`{"query":%q}`, title)
		if err := r.callWith(ctx, "requests-list", "Authorization", "Bearer "+t.token, query, &answer); err != nil {
			return err
		}
		if len(answer.Requests) > 0 && answer.Requests[0].Title == title {
			return nil
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// lag returns how many changes of the filler's account the index has not processed.
func (f *filler) lag(ctx context.Context) (n int, err error) {
	err = f.db.QueryRowContext(ctx, "SELECT q.last - COALESCE(i.seq, 0) FROM account_seq q"+
		" LEFT JOIN index_followed i ON i.account_id = q.account_id WHERE q.account_id = $1", f.account).Scan(&n)
	return n, err
}
