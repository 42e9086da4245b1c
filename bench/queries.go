package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// queries are the measured calls. Words in braces are replaced by values.
var queries = []struct{ operation, name, body string }{
	{"requests-list", "none", `{}`},
	{"requests-list", "an app", `{"app_id":"{app}"}`},
	{"requests-list", "an app, not hidden", `{"app_id":"{app}","hidden":false}`},
	{
		"requests-list", "an app, not hidden, four statuses, by votes",
		`{"app_id":"{app}","hidden":false,"status":["opened","planned","in_progress","completed"],"sort":"most_voted"}`,
	},
	{"requests-list", "an app, trending", `{"app_id":"{app}","sort":"trending"}`},
	{"requests-list", "a status", `{"status":"planned"}`},
	{"requests-list", "a frequent word", `{"query":"{frequent}"}`},
	{"requests-list", "a frequent word, which begins others", `{"query":"{beginning}"}`},
	{"requests-list", "a frequent word, an app", `{"query":"{frequent}","app_id":"{app}"}`},
	{"requests-list", "two frequent words", `{"query":"{beginning} {frequent}"}`},
	{"requests-list", "a word of one in a hundred", `{"query":"{middle}"}`},
	{"requests-list", "a rare word", `{"query":"{rare}"}`},
	{"requests-list", "a frequent and a rare word", `{"query":"{rare} {frequent}"}`},
	{"requests-list", "two letters", `{"query":"re"}`},
	{"requests-list", "a frequent word, a status, a tag", `{"query":"{frequent}","status":"planned","tag":"{tag}"}`},
	{"requests-list", "a frequent tag", `{"tag":"{tag}"}`},
	{"requests-list", "a rare tag", `{"tag":"{rare tag}"}`},
	{"requests-list", "an assignee", `{"assignee_id":"{user}"}`},
	{"requests-list", "unassigned", `{"assignee_id":"none"}`},
	{"requests-list", "the most frequent source", `{"source":"widget"}`},
	{"requests-list", "another source", `{"source":"api"}`},
	{"requests-list", "created in 30 days", `{"created_after":"{month}"}`},
	{"requests-list", "created in 30 days, a frequent word", `{"created_after":"{month}","query":"{frequent}"}`},
	{"requests-list", "created in 30 days, two letters", `{"created_after":"{month}","query":"re"}`},
	{"requests-list", "created in 30 days, a frequent tag", `{"created_after":"{month}","tag":"{tag}"}`},
	{"requests-facets", "none", `{}`},
	{"requests-facets", "a frequent word", `{"query":"{frequent}"}`},
	{"requests-facets", "a frequent word, which begins others", `{"query":"{beginning}"}`},
	{"requests-facets", "a frequent word, a tag", `{"query":"{frequent}","tag":"{tag}"}`},
	{"requests-stats", "90 days", `{"from":"{first day}"}`},
}

// timeQueries measures the queries, each in turn with the plain list.
func (r rig) timeQueries(ctx context.Context, o options, f *filler, app string) error {
	now := time.Now()
	values := strings.NewReplacer(
		"{frequent}", f.frequent(), "{beginning}", f.beginning(), "{middle}", f.middle(), "{rare}", f.rare(),
		"{tag}", f.tag(0), "{rare tag}", f.tag(tagCount/2), "{user}", f.users[0].String(), "{app}", app,
		"{month}", now.AddDate(0, 0, -30).Format(time.RFC3339), "{first day}", now.AddDate(0, 0, -filledDays).Format(time.DateOnly),
	)
	counts := make([]count, len(queries))
	calls := make([]*timed, len(queries))
	for i, q := range queries {
		body := values.Replace(q.body)
		calls[i] = &timed{
			name: q.operation + ", " + q.name,
			call: func(ctx context.Context) error { return r.call(ctx, q.operation, body, nil) },
		}
		calls[i].failed(r.call(ctx, q.operation, body, &counts[i]))
	}
	if err := r.timeAll(ctx, o, "{}", calls); err != nil {
		return err
	}
	fmt.Printf("\nThe words: %q is frequent, %q also begins others, %q is in one text in a hundred, and %q is rare.\n",
		f.frequent(), f.beginning(), f.middle(), f.rare())
	fmt.Printf("\n| operation | filter | total | exact | %s |\n| --- | --- | --- | --- | %s |\n", timedHeader, timedRule)
	for i, q := range queries {
		fmt.Printf("| %s | %s | %s | %s |\n", q.operation, q.name, counts[i], calls[i].columns())
	}
	return nil
}

// count is what an answer says about the number of requests.
type count struct {
	total *int
	exact string // whether all numbers are; empty without an answer
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *count) UnmarshalJSON(text []byte) error {
	var answer struct {
		Listed  *int `json:"total_count"`
		Counted *int `json:"total"`
	}
	c.exact = strconv.FormatBool(!bytes.Contains(text, []byte(`exact":false`)))
	err := json.Unmarshal(text, &answer)
	if c.total = answer.Counted; answer.Listed != nil {
		c.total = answer.Listed
	}
	return err
}

// String returns two columns of a table.
func (c count) String() string {
	total := "–"
	if c.total != nil {
		total = strconv.Itoa(*c.total)
	}
	return total + " | " + cmp.Or(c.exact, "–")
}

// timed is a call, with its times and those of the plain list that was called in turn with it.
type timed struct {
	name       string
	call       func(context.Context) error
	own, plain []time.Duration
	many       figures // of 16 callers
	failures   int
}

// failed counts err as a failure, if it is one.
func (t *timed) failed(err error) bool {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", t.name, err)
		t.failures++
	}
	return err != nil
}

// timeAll measures calls, each in turn with the plain list with the given parameters, and in rounds
// so that slow seconds of the machine affect all alike. A call that fails is not made again.
func (r rig) timeAll(ctx context.Context, o options, list string, calls []*timed) error {
	plain := func(ctx context.Context) error { return r.call(ctx, "requests-list", list, nil) }
	for round := range o.rounds + 1 {
		for _, t := range calls {
			if t.failures > 0 {
				continue
			}
			if err := r.logIn(ctx); err != nil { // the token may have expired
				return err
			}
			if round < o.rounds {
				t.alternate(ctx, o.during, plain)
			} else {
				t.many = load(ctx, 16, o.during, func(ctx context.Context, _ int) error { return t.call(ctx) })
				t.failures += t.many.failures
			}
		}
	}
	return ctx.Err()
}

// alternate makes the call in turn with the plain list, for a time and at least three times.
func (t *timed) alternate(ctx context.Context, during time.Duration, plain func(context.Context) error) {
	began := time.Now()
	for n := 0; n < 3 || time.Since(began) < during; n++ {
		start := time.Now()
		if t.failed(plain(ctx)) {
			return
		}
		middle := time.Now()
		if t.failed(t.call(ctx)) {
			return
		}
		t.plain, t.own = append(t.plain, middle.Sub(start)), append(t.own, time.Since(middle))
	}
}

const (
	timedHeader = "p50, 1 caller | p99 | ratio | calls/s, 16 callers | failures"
	timedRule   = "--- | --- | --- | --- | ---"
)

// columns returns the columns of timedHeader.
func (t *timed) columns() string {
	if len(t.own) == 0 {
		return fmt.Sprintf("– | – | – | – | %d", t.failures)
	}
	own, plain := figuresOf(t.own, 0, time.Second), figuresOf(t.plain, 0, time.Second)
	return fmt.Sprintf("%s | %s | %.2f | %.0f | %d",
		ms(own.p50), ms(own.p99), float64(own.p50)/float64(plain.p50), t.many.rate, t.failures)
}
