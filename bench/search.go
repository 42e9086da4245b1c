package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// measureSearch times what is found by words in an app, among more and more requests
// of its account, which the worker has put into its index.
func measureSearch(ctx context.Context, o options, r rig) error {
	key, app, err := r.addApp(ctx)
	if err != nil {
		return err
	}
	if err := r.share(ctx, app); err != nil {
		return err
	}
	_, others, err := r.addApp(ctx)
	if err != nil {
		return err
	}
	s := newSpeech()
	var titles []string
	var similar, lists strings.Builder
	there, sought := 0, o.searched
	for _, size := range o.among {
		n := size - there
		if n < sought {
			return fmt.Errorf("-among: %d leaves no room for %d requests", size, sought)
		}
		some, err := r.seedTexts(ctx, s, app, others, sought, n, there)
		if err != nil {
			return err
		}
		took, err := r.untilIndexed(ctx)
		if err != nil {
			return err
		}
		if err := r.logIn(ctx); err != nil { // it may have taken longer than a token lasts
			return err
		}
		fmt.Printf("\nThe index has followed %d new requests after %s, %.0f a second.\n", n, took.Round(100*time.Millisecond), float64(n)/took.Seconds())
		if err := settle(ctx, r.db, r.database); err != nil {
			return err
		}
		titles, there, sought = append(titles, some...), size, 0
		if err := r.timeSimilar(ctx, o, &similar, size, key, app, s, titles); err != nil {
			return err
		}
		if err := r.timeQueries(ctx, o, &lists, size, app, s); err != nil {
			return err
		}
	}
	fmt.Printf("\nSimilar requests in an app of %d.\n\n| among | call | p50, 1 caller | p99 | calls/s, 16 callers | found | failures |\n| --- | --- | --- | --- | --- | --- | --- |\n%s", o.searched, &similar)
	fmt.Printf("\nA ratio compares with the same list without words.\n\n| requests | words | matches | exact | p50, 1 caller | p99 | ratio | calls/s, 16 callers | failures |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n%s", &lists)
	return r.measureFreshness(ctx, o.tries)
}

// timeSimilar times both calls for similar requests, and adds a line for each that says
// also how often the request that was meant is among the answers.
func (r rig) timeSimilar(ctx context.Context, o options, to *strings.Builder, size int, key, app string, s *speech, titles []string) error {
	var questions []string
	for _, title := range titles {
		questions = append(questions, s.ask(title))
	}
	for _, c := range []struct {
		name string
		ask  func(ctx context.Context, question string) ([]string, error)
	}{
		{"widget-similar-requests", func(ctx context.Context, question string) ([]string, error) {
			return r.similarInWidget(ctx, key, question)
		}},
		{"requests-similar", func(ctx context.Context, question string) ([]string, error) { return r.similar(ctx, app, question) }},
	} {
		found := 0
		for i, question := range questions {
			answers, err := c.ask(ctx, question)
			if err != nil {
				return err
			}
			if slices.Contains(answers, titles[i]) {
				found++
			}
		}
		var asked atomic.Int64
		call := func(ctx context.Context, _ int) error {
			_, err := c.ask(ctx, questions[int(asked.Add(1))%len(questions)])
			return err
		}
		one, many := load(ctx, 1, o.during, call), load(ctx, 16, o.during, call)
		fmt.Fprintf(to, "| %d | %s | %s | %s | %.0f | %.0f %% | %d |\n", size, c.name, ms(one.p50), ms(one.p99), many.rate,
			100*float64(found)/float64(len(questions)), one.failures+many.failures)
	}
	return nil
}

// similar returns the titles of the requests that are like a question.
func (r rig) similar(ctx context.Context, app, question string) ([]string, error) {
	return r.titles(ctx, "requests-similar", "Authorization", "Bearer "+r.token, fmt.Sprintf(`{"app_id":%q,"text":%q}`, app, question))
}

func (r rig) similarInWidget(ctx context.Context, key, question string) ([]string, error) {
	return r.titles(ctx, "widget-similar-requests", "X-API-Key", key, fmt.Sprintf(`{"text":%q}`, question))
}

func (r rig) titles(ctx context.Context, operation, header, value, body string) ([]string, error) {
	var answer struct{ Requests []struct{ Title string } }
	err := r.callWith(ctx, operation, header, value, body, &answer)
	titles := make([]string, len(answer.Requests))
	for i, request := range answer.Requests {
		titles[i] = request.Title
	}
	return titles, err
}

// timeQueries times first pages of lists by words, of the app and of all of its account.
func (r rig) timeQueries(ctx context.Context, o options, to *strings.Builder, size int, app string, s *speech) error {
	for _, of := range []struct {
		name, filter string
	}{
		{fmt.Sprintf("%d of %d", o.searched, size), fmt.Sprintf(`"app_id":%q,`, app)},
		{strconv.Itoa(size), ""},
	} {
		var without figures
		for i, c := range []struct{ name, query string }{
			{"none", ""},
			{"a frequent one", s.frequent()},
			{"a rare one", s.rare()},
			{"a frequent and a rare one", s.frequent() + " " + s.rare()},
			{"two frequent ones", s.words[1] + " " + s.frequent()},
			{"two letters", s.frequent()[:2]},
		} {
			body := fmt.Sprintf(`{%s"query":%q}`, of.filter, c.query)
			var list struct {
				Total int  `json:"total_count"`
				Exact bool `json:"total_exact"`
			}
			if err := r.call(ctx, "requests-list", body, &list); err != nil {
				return err
			}
			call := func(ctx context.Context, _ int) error { return r.call(ctx, "requests-list", body, nil) }
			one, many := load(ctx, 1, o.during, call), load(ctx, 16, o.during, call)
			if i == 0 {
				without = one
			}
			fmt.Fprintf(to, "| %s | %s | %d | %t | %s | %s | %.2f | %.0f | %d |\n", of.name, c.name, list.Total, list.Exact, ms(one.p50), ms(one.p99),
				float64(one.p50)/float64(without.p50), many.rate, one.failures+many.failures)
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
		time.Sleep(10 * time.Millisecond)
		err := r.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM account_seq q LEFT JOIN index_progress i ON i.account_id = q.account_id WHERE q.last > COALESCE(i.seq, 0)").Scan(&left)
		if err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// measureFreshness reports how long it takes until a new request is among the similar ones.
func (r rig) measureFreshness(ctx context.Context, tries int) error {
	key, app, err := r.addApp(ctx)
	if err != nil {
		return err
	}
	if err := r.share(ctx, app); err != nil {
		return err
	}
	var took []time.Duration
	for i := range tries {
		time.Sleep(time.Duration(i) * 370 * time.Millisecond % time.Second) // not always just after the index was at work
		title := "Unheard of " + rand.Text()
		if err := r.callWith(ctx, "widget-submit-request", "X-API-Key", key, fmt.Sprintf(`{"title":%q,"description":""}`, title), nil); err != nil {
			return err
		}
		began := time.Now()
		for seen := false; !seen; time.Sleep(5 * time.Millisecond) {
			inWidget, err := r.similarInWidget(ctx, key, title)
			if err != nil {
				return err
			}
			found, err := r.similar(ctx, app, title)
			if err != nil {
				return err
			}
			seen = slices.Contains(inWidget, title) && slices.Contains(found, title)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	fmt.Printf("\nA new request is among the similar ones after %d ms in the middle of %d tries, and after %d ms at the most.\n", took[len(took)/2].Milliseconds(), tries, took[len(took)-1].Milliseconds())
	return nil
}
