package search

import (
	"slices"
	"strings"
	"testing"
)

func TestScore(t *testing.T) {
	q := NewQuestion("dark mode for the editor")
	weights := []float64{5, 3, 1, 1, 4}
	found := make([]float64, len(weights))
	last := 1.0001
	for _, title := range []string{"dark mode for the editor", "Dark mode in the editor", "Dark mode", "The mode", "Invoices"} {
		score := q.Score(NewTitle(title), weights, found)
		if score < 0 || score > 1.0001 || score >= last {
			t.Errorf("%s: %v after %v", title, score, last)
		}
		last = score
	}
	if q.Score(NewTitle(""), weights, found) != 0 || NewQuestion("?").Score(NewTitle("a"), nil, nil) != 0 {
		t.Error("empty texts are similar to others")
	}
}

// TestScoreOfDescriptions checks that a word only in the description counts half as much as
// one in the title, times its likeness, and that a word in both counts once.
func TestScoreOfDescriptions(t *testing.T) {
	q := NewQuestion("dark editor")
	weights := []float64{1, 3}
	score := func(title string, found ...float64) float64 { return q.Score(NewTitle(title), weights, found) }
	near := func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }
	for _, c := range []struct {
		name         string
		got, wantAdd float64
		from         float64
	}{
		{"nothing of it in the title", score("zzz", 0, 1), questionShare * 3 * 0.5 / 4, score("zzz", 0, 0)},
		{"partly", score("zzz", 0.8, 0), questionShare * 1 * 0.8 * 0.5 / 4, score("zzz", 0, 0)},
		{"also in the title", score("dark", 1, 0), 0, score("dark", 0, 0)},
		{"beside the title", score("dark", 1, 1), questionShare * 3 * 0.5 / 4, score("dark", 1, 0)},
	} {
		if !near(c.got-c.from, c.wantAdd) {
			t.Errorf("%s: the description adds %v, want %v", c.name, c.got-c.from, c.wantAdd)
		}
	}
}

// TestScoreIsBounded checks that no more than maxScored pairs are compared for a title full of
// words that resemble all words of the question. Equal words always count.
func TestScoreIsBounded(t *testing.T) {
	const n = 24
	words := func(n int, first rune) string {
		var b strings.Builder
		for i := range n {
			b.WriteString("stem" + string(first+rune(i)) + " ")
		}
		return b.String()
	}
	q := NewQuestion(words(n, 'a'))
	weights, found := slices.Repeat([]float64{1}, n), make([]float64, n)
	if score := q.Score(NewTitle(words(maxScored/n, 'а')), weights, found); score < 0.6 {
		t.Errorf("as many as may be are alike by %v", score)
	}
	if score := q.Score(NewTitle(words(n, 'а')), weights, found); score > 0.5 {
		t.Errorf("more than that are alike by %v", score)
	}
	if score := q.Score(NewTitle(words(n, 'a')), weights, found); score < 0.999 {
		t.Errorf("itself is alike by %v", score)
	}
}

// TestScoreWithoutTitle checks that a request whose title has no words is found by its
// description like any other.
func TestScoreWithoutTitle(t *testing.T) {
	q := NewQuestion("dark mode")
	weights, found := []float64{1, 1}, []float64{1, 1}
	if got, want := q.Score(NewTitle("…"), weights, found), q.Score(NewTitle("Unlike"), weights, found); got <= 0 || got < want-letterShare {
		t.Errorf("%v, and %v with a title", got, want)
	}
	if got := NewQuestion("…").Score(NewTitle("…"), nil, nil); got != 0 {
		t.Errorf("%v without words", got)
	}
}
