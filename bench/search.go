package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
)

// measureSearch measures everything that depends on the index, with o.size requests: how fast
// the index is built and how large it is, lists, facets, statistics and similar requests, and
// how the index keeps up.
func measureSearch(ctx context.Context, o options, r rig) error {
	empty, err := r.bytes(ctx)
	if err != nil {
		return err
	}
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
	f, err := newFiller(ctx, r, s, app, others)
	if err != nil {
		return err
	}
	inApp := min(o.searched, o.size/2)
	fmt.Printf("\n%d requests, %d of them in an app of its own:\n", o.size, inApp)
	built, err := f.buildIndex(ctx, o.size, inApp)
	if err != nil {
		return err
	}
	if err := f.printBytes(ctx, o.size, empty); err != nil {
		return err
	}
	if err := r.timeQueries(ctx, o, f, app); err != nil {
		return err
	}
	if err := r.timeSimilar(ctx, o, f, key, app, others); err != nil {
		return err
	}
	if err := f.timeFollowing(ctx, o, built); err != nil {
		return err
	}
	return r.measureFreshness(ctx, o.tries)
}

// printBytes prints how many bytes a request needs, with everything that belongs to it.
func (f *filler) printBytes(ctx context.Context, n int, empty int64) error {
	if err := vacuum(ctx, f.db, f.database); err != nil {
		return err
	}
	full, err := f.bytes(ctx)
	if err != nil {
		return err
	}
	parts, err := f.bytesOfParts(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("\n| of %.0f MB | bytes per request |\n| --- | --- |\n| all | %d |\n", float64(full)/1e6, (full-empty)/int64(n))
	for _, p := range parts {
		if p.bytes >= full/200 {
			fmt.Printf("| %s | %d |\n", p.name, p.bytes/int64(n))
		}
	}
	return nil
}

// timeSimilar measures the operations that find similar requests, and how often they find the
// request that was meant.
func (r rig) timeSimilar(ctx context.Context, o options, f *filler, key, app, others string) error {
	type finder struct {
		*timed
		among, found, of int
	}
	var finders []finder
	var calls []*timed
	for _, c := range []struct {
		name string
		app  int
		ask  func(ctx context.Context, question string) ([]string, error)
	}{
		{"widget-similar-requests", 0, func(ctx context.Context, q string) ([]string, error) { return r.similarInWidget(ctx, key, q) }},
		{"requests-similar", 0, func(ctx context.Context, q string) ([]string, error) { return r.similar(ctx, app, q) }},
		{"requests-similar", 1, func(ctx context.Context, q string) ([]string, error) { return r.similar(ctx, others, q) }},
	} {
		inApp := min(o.searched, o.size/2)
		line := finder{timed: &timed{name: c.name}, among: []int{inApp, o.size - inApp}[c.app], of: len(f.titles[c.app])}
		questions := make([]string, line.of)
		for i, title := range f.titles[c.app] {
			questions[i] = f.ask(title)
			answers, err := c.ask(ctx, questions[i])
			if line.failed(err) {
				break
			}
			if slices.Contains(answers, title) {
				line.found++
			}
		}
		var asked atomic.Int64
		line.call = func(ctx context.Context) error {
			_, err := c.ask(ctx, questions[int(asked.Add(1))%len(questions)])
			return err
		}
		finders, calls = append(finders, line), append(calls, line.timed)
	}
	if err := r.timeAll(ctx, o, "{}", calls); err != nil {
		return err
	}
	fmt.Printf("\n| similar requests | in an app with | found | %s |\n| --- | --- | --- | %s |\n", timedHeader, timedRule)
	for _, c := range finders {
		fmt.Printf("| %s | %d | %.0f %% | %s |\n", c.name, c.among, 100*float64(c.found)/float64(c.of), c.columns())
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

// share lets callers with an app's key see all of its requests.
func (r rig) share(ctx context.Context, app string) error {
	return r.call(ctx, "apps-update-settings", fmt.Sprintf(`{"id":%q,"settings":{"sharing":"all"}}`, app), nil)
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
