package index_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"gatherkit/internal/feedback"
)

// pair is a question and the title that it means.
type pair struct{ language, kind, question, title string }

func readPairs(t testing.TB, file string) (pairs []pair) {
	t.Helper()
	for _, fields := range readTable(t, file, 4) {
		pairs = append(pairs, pair{fields[0], fields[1], fields[2], fields[3]})
	}
	return pairs
}

func readTable(t testing.TB, file string, columns int) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != columns {
			t.Fatalf("%s: %q", file, line)
		}
		rows = append(rows, fields)
	}
	return rows
}

// distractors makes n different titles with descriptions, in all languages alike.
func distractors(t testing.TB, n int) (requests []feedback.Request) {
	t.Helper()
	parts := map[string][]string{}
	var languages []string
	for _, fields := range slices.Concat(readTable(t, "distractors.tsv", 3), readTable(t, "distractors2.tsv", 3)) {
		language, part, text := fields[0], fields[1], fields[2]
		if len(languages) == 0 || languages[len(languages)-1] != language {
			languages = append(languages, language)
		}
		parts[language+part] = append(parts[language+part], strings.Split(text, ";")...)
	}
	random := rand.New(rand.NewPCG(1, 2))
	sentence := func(language string) string {
		one := func(part string) string {
			list := parts[language+part]
			return list[random.IntN(len(list))]
		}
		text := strings.NewReplacer("{what}", one("what"), "{where}", one("where"), "{whom}", one("whom")).Replace(one("form"))
		first, size := utf8.DecodeRuneInString(text)
		return string(unicode.ToUpper(first)) + text[size:]
	}
	seen := map[string]bool{}
	for len(requests) < n {
		language := languages[len(requests)%len(languages)]
		if title := sentence(language); !seen[title] {
			seen[title] = true
			requests = append(requests, feedback.NewRequest(title, sentence(language)+". "+sentence(language)+"."))
		}
	}
	return requests
}

// corpus is the titles of pairs at random places among n distractors.
func corpus(t testing.TB, n int, pairs []pair) []feedback.Request {
	t.Helper()
	requests := distractors(t, n)
	for _, p := range pairs {
		requests = append(requests, feedback.NewRequest(p.title, ""))
	}
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(requests), func(i, j int) { requests[i], requests[j] = requests[j], requests[i] })
	return requests
}
