package index_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/search"
	"gatherkit/internal/store/storetest"
)

// poisoned is how many submissions one stranger gets through.
const poisoned = 3600

// poison is words that a stranger submits to make calls expensive, and the questions that
// go with them.
type poison struct {
	name      string
	word      func(*rand.Rand) string
	questions []string
	queries   []string // beginnings of words that most requests have
}

// noise is n of some letters at random.
func noise(random *rand.Rand, letters string, n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = letters[random.IntN(len(letters))]
	}
	return string(text)
}

// anagram is the letters of a word in another order.
func anagram(random *rand.Rand, word string) string {
	letters := []byte(word)
	random.Shuffle(len(letters), func(i, j int) { letters[i], letters[j] = letters[j], letters[i] })
	return string(letters)
}

func poisons() []poison {
	random := rand.New(rand.NewPCG(5, 6))
	const plain, ligature = "calendar of the invoice list", "ﷺ" // one character, and eighteen when it is folded
	long := func(r *rand.Rand) string { return strings.Repeat("a", 24) + noise(r, "bcdefghi", 8) }
	short := func(r *rand.Rand) string { return noise(r, "aeiln", 5+r.IntN(2)) }
	anagrams := func(r *rand.Rand) string { return anagram(r, "calendar"+noise(r, "inov", 1)) }
	stems := func(r *rand.Rand) string { return "calendar" + noise(r, "abcdefghijklmnop", 4) }
	ligatures := func(*rand.Rand) string { return strings.Repeat(ligature, 10) }
	questionOf := func(word func(*rand.Rand) string) string {
		var words []string
		for utf8.RuneCountInString(strings.Join(words, " ")) < 200 {
			words = append(words, word(random))
		}
		return strings.Join(words[:len(words)-1], " ")
	}
	return []poison{
		{"anagrams", anagrams, []string{plain, "calendairn calendra"}, []string{"c", "cal"}},
		{"stems", stems, []string{plain, "calendarabcd"}, []string{"ca", "calendar"}},
		{"long words", long, []string{questionOf(long)}, []string{"aa", "aaaaaaaa"}},
		{"short words", short, []string{questionOf(short)}, []string{"a", "aei"}},
		{"ligatures", ligatures, []string{"صلى الله عليه وسلم", strings.Repeat(ligature, 200)}, []string{"صل"}},
	}
}

// requests are full of the poison's words.
func (p poison) requests() (requests []feedback.Request) {
	const title, described = 200, 24
	random := rand.New(rand.NewPCG(1, 2))
	for range poisoned {
		words := []string{p.word(random)}
		for letters := 0; letters <= title; letters += utf8.RuneCountInString(words[len(words)-1]) + 1 {
			words = append(words, p.word(random))
		}
		var description []string
		for range described {
			description = append(description, p.word(random))
		}
		requests = append(requests, feedback.NewRequest(strings.Join(words[:len(words)-2], " "), strings.Join(description, " ")))
	}
	return requests
}

// insertWithWords inserts requests, and the index follows.
func insertWithWords(r *storetest.Rig, app feedback.App, requests []feedback.Request) {
	r.T.Helper()
	r.InsertRequests(app, requests)
	r.IndexAll()
}

// cpuTimes returns the processor times of two calls, each the least of some rounds, as the
// work of others can only add to it. The calls take turns: a machine can be slower for a while.
// It takes at least 5 rounds, and up to 50 until the times are good.
func cpuTimes(t *testing.T, one, other func() error, good func(ofOne, ofOther time.Duration) bool) (ofOne, ofOther time.Duration) {
	t.Helper()
	const fewest, most, calls = 5, 50, 3
	ofOne, ofOther = math.MaxInt64, math.MaxInt64
	for round := 0; round < most && (round < fewest || !good(ofOne, ofOther)); round++ {
		for _, side := range []struct {
			call  func() error
			least *time.Duration
		}{{one, &ofOne}, {other, &ofOther}} {
			before := storetest.ProcessorTime()
			for range calls {
				if err := side.call(); err != nil {
					t.Fatal(err)
				}
			}
			*side.least = min(*side.least, (storetest.ProcessorTime()-before)/calls)
		}
	}
	return ofOne, ofOther
}

// TestPoison: whatever words strangers submit, what is done with words costs at most three
// times as much as among as many requests of people.
func TestPoison(t *testing.T) {
	storetest.Measures(t)
	// What takes less than cheap does not slow others down, however little is usual.
	const most, cheap = 3, 4 * time.Millisecond
	affordable := func(took, usually time.Duration) bool { return took <= most*usually || took <= cheap }
	r := storetest.NewRig(t, storetest.SQLite(t))
	if _, err := r.Raw.ExecContext(ctx, "PRAGMA synchronous = OFF"); err != nil {
		t.Fatal(err)
	}
	type call struct {
		name string
		run  func(feedback.App, string) error
	}
	similar := func(name string, statuses ...feedback.Status) call {
		return call{name, func(app feedback.App, text string) error {
			_, err := r.Index.Similar(ctx, app.AccountID, index.Likeness{AppID: app.ID, Text: text, Shared: statuses, Limit: 10})
			return err
		}}
	}
	asked := []call{
		similar("requests-similar"),
		similar("widget-similar-requests", feedback.Opened),
		similar("widget-similar-requests without answers", "planned"),
	}
	sought := []call{
		{"requests-list", func(app feedback.App, query string) error {
			f := index.Filter{Box: feedback.Live, AppID: &app.ID, Query: query}
			_, _, err := r.Index.List(ctx, app.AccountID, f, index.Page{Sort: index.Newest, Limit: 50})
			return err
		}},
		{"requests-facets", func(app feedback.App, query string) error {
			_, err := r.Index.Facets(ctx, app.AccountID, index.Filter{Box: feedback.Live, AppID: &app.ID, Query: query})
			return err
		}},
	}
	// People's questions are of a few words, and of as many as there can be. The dearest words
	// are those that most requests have, here "please".
	normal := r.NewApp(r.NewAccount("People"))
	requests := corpus(t, poisoned-210, readPairs(t, "similar.tsv"))
	for i := range requests {
		requests[i].Description = "Please, " + requests[i].Description
	}
	insertWithWords(r, normal, requests)
	const short = "Please, a calendar of the invoice list"
	var long strings.Builder
	for i := 0; long.Len() < 150; i++ {
		long.WriteString(requests[7*i].Title + " ")
	}
	usual := map[string]func() error{}
	for _, c := range asked {
		usual[c.name+" short"] = func() error { return c.run(normal, short) }
		usual[c.name+" long"] = func() error { return c.run(normal, long.String()) }
	}
	for _, c := range sought {
		usual[c.name] = func() error { return c.run(normal, "pl") }
		usual[c.name+" long"] = func() error { return c.run(normal, long.String()) }
	}
	for _, p := range poisons() {
		app := r.NewApp(r.NewAccount(fmt.Sprintf("Poisoned by %s", strings.ReplaceAll(p.name, " ", ""))))
		insertWithWords(r, app, p.requests())
		check := func(c call, text, against string) {
			took, usually := cpuTimes(t, func() error { return c.run(app, text) }, usual[against], affordable)
			t.Logf("%s: %s %.16q: %v, usually %v: %.1f", p.name, c.name, text, took, usually, float64(took)/float64(usually))
			if !affordable(took, usually) {
				t.Errorf("%s: %s takes %v, which is more than %d times the usual %v", p.name, c.name, took, most, usually)
			}
		}
		for _, c := range asked {
			for _, question := range p.questions {
				kind := " short"
				if len(search.Terms(question)) > len(search.Terms(short)) {
					kind = " long"
				}
				check(c, question, c.name+kind)
			}
		}
		for _, c := range sought {
			for _, query := range p.queries {
				check(c, query, c.name)
			}
			kind := ""
			if len(search.Terms(p.questions[0])) > len(search.Terms(short)) {
				kind = " long"
			}
			check(c, p.questions[0], c.name+kind)
		}
	}
}
