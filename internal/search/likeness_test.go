package search

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func likeness(a, b string) float64 {
	x, y := spell(a), spell(b)
	return x.like(&y)
}

// plainLikeness computes likeness directly by its definition.
func plainLikeness(a, b string) float64 {
	if a == b {
		return 1
	}
	if !fuzzy(a) || !fuzzy(b) {
		return 0
	}
	if utf8.RuneCountInString(a) > utf8.RuneCountInString(b) {
		a, b = b, a
	}
	x, y := []rune(a), []rune(b)
	best := 0.0
	if d := plainDistance(x, y); d <= maxTypos(len(y)) {
		best = 1 - float64(d)/float64(len(y))
	}
	same := 0
	for same < len(x) && x[same] == y[same] {
		same++
	}
	if same >= 4 && 4*same >= 3*len(x) && 3*same >= len(y) {
		best = max(best, 0.5+0.4*float64(same)/float64(len(y)))
	}
	if len(x) >= 5 && strings.Contains(b, a) {
		best = max(best, 0.4+0.5*float64(len(x))/float64(len(y)))
	}
	return best
}

// plainDistance computes the distance directly by its definition, with a full table.
func plainDistance(a, b []rune) int {
	table := make([][]int, len(a)+1)
	for i := range table {
		table[i] = make([]int, len(b)+1)
		for j := range table[i] {
			switch {
			case i == 0 || j == 0:
				table[i][j] = i + j
				continue
			case a[i-1] == b[j-1]:
				table[i][j] = table[i-1][j-1]
			default:
				table[i][j] = 1 + table[i-1][j-1]
			}
			table[i][j] = min(table[i][j], table[i-1][j]+1, table[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				table[i][j] = min(table[i][j], table[i-2][j-2]+1)
			}
		}
	}
	return table[len(a)][len(b)]
}

func TestLikeness(t *testing.T) {
	for _, c := range []struct {
		a, b string
		like bool
	}{
		{"invoice", "invocie", true},
		{"invoice", "invoices", true},
		{"notify", "notifications", true},
		{"kalender", "kalenderansicht", true},
		{"funktion", "suchfunktion", true},
		{"calender", "calendar", true},
		{"2025", "2026", false},
		{"cat", "car", false},
		{"検索", "検査", false},
		{"import", "export", false},
	} {
		if got := likeness(c.a, c.b) >= minLikeness; got != c.like {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}

// TestLikenessIsPlain checks that the shortcuts rule out no words that are similar.
func TestLikenessIsPlain(t *testing.T) {
	word := rapid.StringOfN(rapid.RuneFrom([]rune("abcé")), 3, maxWord, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if rapid.Bool().Draw(t, "near") {
			letters := []rune(a)
			for range rapid.IntRange(1, 3).Draw(t, "typos") {
				at := rapid.IntRange(0, len(letters)-2).Draw(t, "at")
				switch rapid.IntRange(0, 3).Draw(t, "kind") {
				case 0:
					letters[at], letters[at+1] = letters[at+1], letters[at]
				case 1:
					letters[at] = 'x'
				case 2:
					letters = slices.Insert(letters, at, 'y')
				default:
					letters = append(letters[:at:at], letters[at+1:]...)
				}
				if len(letters) < 3 {
					break
				}
			}
			b = string(letters[:min(len(letters), maxWord)])
		}
		want := plainLikeness(a, b)
		if got, back := likeness(a, b), likeness(b, a); got != want || back != want {
			t.Fatalf("%q and %q: %v, and back %v, want %v", a, b, got, back, want)
		}
		x, y := spell(a), spell(b)
		if want > 0 && !x.resembles(&y) || x.resembles(&y) != y.resembles(&x) {
			t.Fatalf("%q and %q: they are alike by %v, and do not resemble each other", a, b, want)
		}
	})
}

// TestDistance compares distance with its definition, for all short words with three
// different letters, and for long ones with two.
func TestDistance(t *testing.T) {
	check := func(a, b string) {
		t.Helper()
		want := plainDistance([]rune(a), []rune(b))
		for most := range 4 {
			if got := distance([]rune(a), []rune(b), most); got != want && (got <= most || want <= most) {
				t.Fatalf("%q, %q, at most %d: %d, want %d", a, b, most, got, want)
			}
		}
	}
	words := []string{""}
	for first, length := 0, 0; length < 4; length++ {
		for _, word := range words[first:] {
			first++
			words = append(words, word+"a", word+"b", word+"é")
		}
	}
	for _, a := range words {
		for _, b := range words {
			check(a, b)
		}
	}
	// The words differ only at the end, in the last rows of the table.
	stem := strings.Repeat("ab", maxWord/2-4)
	for _, a := range []string{"", "a", "ab", "ba", "abc", "bac", "cab", "abab", "baba", "bbaa"} {
		for _, b := range []string{"", "a", "ab", "ba", "abc", "bac", "cab", "abab", "baba", "bbaa"} {
			check(stem+a, stem+b)
			check(a+stem, b+stem)
			check(a+stem[2:]+b, b+stem[2:]+a)
		}
	}
}
