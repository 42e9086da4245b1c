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

// measureSearch measures searches in an app whose account has more and more requests. All of
// them are indexed.
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
	existing, inApp := 0, o.searched
	for _, size := range o.among {
		n := size - existing
		if n < inApp {
			return fmt.Errorf("-among: %d is too few for %d requests in the app", size, inApp)
		}
		some, err := r.seedTexts(ctx, s, app, others, inApp, n, existing)
		if err != nil {
			return err
		}
		took, err := r.untilIndexed(ctx)
		if err != nil {
			return err
		}
		if err := r.logIn(ctx); err != nil { // the token may have expired
			return err
		}
		fmt.Printf("\nThe indexer processes %d new requests in %s, %.0f a second.\n",
			n, took.Round(100*time.Millisecond), float64(n)/took.Seconds())
		if err := settle(ctx, r.db, r.database); err != nil {
			return err
		}
		titles, existing, inApp = append(titles, some...), size, 0
		if err := r.timeSimilar(ctx, o, &similar, size, key, app, s, titles); err != nil {
			return err
		}
		if err := r.timeQueries(ctx, o, &lists, size, app, s); err != nil {
			return err
		}
	}
	fmt.Printf("\nSimilar requests in an app with %d requests:\n\n"+
		"| among | call | p50, 1 caller | p99 | calls/s, 16 callers | found | failures |\n"+
		"| --- | --- | --- | --- | --- | --- | --- |\n%s", o.searched, &similar)
	fmt.Printf("\nLists filtered by words. `ratio` compares with the same list without words.\n\n"+
		"| requests | words | matches | exact | p50, 1 caller | p99 | ratio | calls/s, 16 callers | failures |\n"+
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n%s", &lists)
	return r.measureFreshness(ctx, o.tries)
}

// timeSimilar measures both operations that find similar requests. It adds a line for each to
// the table, which includes how often the request that was meant is found.
func (r rig) timeSimilar(
	ctx context.Context, o options, table *strings.Builder, size int, key, app string, s *speech, titles []string,
) error {
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
		fmt.Fprintf(table, "| %d | %s | %s | %s | %.0f | %.0f %% | %d |\n", size, c.name, ms(one.p50), ms(one.p99), many.rate,
			100*float64(found)/float64(len(questions)), one.failures+many.failures)
	}
	return nil
}

// similar returns the titles of the requests that are similar to a question.
func (r rig) similar(ctx context.Context, app, question string) ([]string, error) {
	body := fmt.Sprintf(`{"app_id":%q,"text":%q}`, app, question)
	return r.titles(ctx, "requests-similar", "Authorization", "Bearer "+r.token, body)
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

// timeQueries measures first pages of lists by words, for the app and for the whole account.
func (r rig) timeQueries(ctx context.Context, o options, table *strings.Builder, size int, app string, s *speech) error {
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
			fmt.Fprintf(table, "| %s | %s | %d | %t | %s | %s | %.2f | %.0f | %d |\n",
				of.name, c.name, list.Total, list.Exact, ms(one.p50), ms(one.p99),
				float64(one.p50)/float64(without.p50), many.rate, one.failures+many.failures)
		}
	}
	return nil
}

// share lets callers with an app's key see all of its requests.
func (r rig) share(ctx context.Context, app string) error {
	return r.call(ctx, "apps-update-settings", fmt.Sprintf(`{"id":%q,"settings":{"sharing":"all"}}`, app), nil)
}

// untilIndexed waits until the index has processed all changes, and returns how long it took.
func (r rig) untilIndexed(ctx context.Context) (time.Duration, error) {
	began, left := time.Now(), 1
	for left > 0 {
		time.Sleep(10 * time.Millisecond)
		err := r.db.QueryRowContext(ctx, `SELECT COUNT(*) FROM account_seq q
			LEFT JOIN index_progress i ON i.account_id = q.account_id WHERE q.last > COALESCE(i.seq, 0)`).Scan(&left)
		if err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// measureFreshness measures how long it takes until a new request is found.
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
		// The pauses vary, so that submissions do not coincide with runs of the indexer.
		time.Sleep(time.Duration(i) * 370 * time.Millisecond % time.Second)
		title := "Unheard of " + rand.Text()
		body := fmt.Sprintf(`{"title":%q,"description":""}`, title)
		if err := r.callWith(ctx, "widget-submit-request", "X-API-Key", key, body, nil); err != nil {
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
	fmt.Printf("\nA new request appears among the similar ones after %d ms (median of %d tries) and after %d ms at most.\n",
		took[len(took)/2].Milliseconds(), tries, took[len(took)-1].Milliseconds())
	return nil
}
