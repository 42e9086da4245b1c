package search

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// minTypoLength is the minimum length of a word in which typos are accepted, and
	// minStemLength that of the prefix that related words share.
	minTypoLength = 4
	minStemLength = 4
	// twoTyposLength is the minimum length of a word in which two typos are accepted, such as
	// a missing letter and a plural ("invoces" for "invoice").
	twoTyposLength = 7
	// minPartLength is the minimum length of a word that matches as a part of another word.
	minPartLength = 5
	// minLikeness is the minimum likeness of a variant.
	minLikeness = 0.5
)

// spelling is a word with the data for comparing it with others.
type spelling struct {
	text  string
	runes []rune
	sig   signature
	fuzzy bool
}

func spell(text string) spelling {
	return spelling{text, []rune(text), signatureOf(text), fuzzy(text)}
}

// fuzzy reports whether a word also matches words that are similar to it. Numbers must match
// exactly, and texts in scripts without spaces already match by the bigrams they share.
func fuzzy(text string) bool {
	return utf8.RuneCountInString(text) >= minTypoLength-1 && !isBigram(text) && !strings.ContainsFunc(text, unicode.IsNumber)
}

// maxTypos returns how many typos are accepted in a word of the given length.
func maxTypos(length int) int {
	switch {
	case length < minTypoLength:
		return 0
	case length < twoTyposLength:
		return 1
	}
	return 2
}

// signature summarizes the letters of a word, for a quick comparison: it has a bit for each
// letter and one for each pair of adjacent letters.
type signature struct{ letters, pairs uint64 }

func signatureOf(text string) (m signature) {
	const spread = 0x9e3779b97f4a7c15
	last := uint64(0)
	for _, r := range text {
		letter := uint64(r) * spread //nolint:gosec // letters are not negative
		m.letters |= 1 << (letter >> 58)
		if last != 0 {
			m.pairs |= 1 << ((last ^ letter>>7) * spread >> 58)
		}
		last = letter
	}
	return m
}

// minLetterTypos returns a lower bound for the number of typos between two words, based on
// their letters: a typo adds, removes, replaces or swaps letters, and changes at most two
// bits.
func (m signature) minLetterTypos(other signature) int {
	return (bits.OnesCount64(m.letters^other.letters) + 1) / 2
}

// minTypos returns a better lower bound, based on letters and pairs: a typo changes at most
// six bits.
func (m signature) minTypos(other signature) int {
	both := bits.OnesCount64(m.letters^other.letters) + bits.OnesCount64(m.pairs^other.pairs)
	return max(m.minLetterTypos(other), (both+5)/6)
}

// within reports whether a word may be part of another one.
func (m signature) within(other signature) bool {
	return m.letters&^other.letters == 0 && m.pairs&^other.pairs == 0
}

// These functions return the likeness of two words, given the length of the longer one: by
// the distance d, by the number of shared letters at the start, and by the length of the
// word that is part of the other.

func byDistance(d, longer int) float64  { return 1 - float64(d)/float64(longer) }
func byStem(same, longer int) float64   { return 0.5 + 0.4*float64(same)/float64(longer) }
func byPart(length, longer int) float64 { return 0.4 + 0.5*float64(length)/float64(longer) }

// minCommonPrefix returns how many letters two related words of these lengths must share at
// the start: most of the shorter word, and a third of the longer one.
func minCommonPrefix(shorter, longer int) int {
	return max(minStemLength, (3*shorter+3)/4, (longer+2)/3)
}

// resembles reports whether two words may be similar. It is quick, and rules out nearly all
// words that are not.
func (s *spelling) resembles(other *spelling) bool {
	x, y := s, other
	if len(x.runes) > len(y.runes) {
		x, y = y, x
	}
	most := maxTypos(len(y.runes))
	return len(y.runes)-len(x.runes) <= most && x.sig.minTypos(y.sig) <= most ||
		len(x.runes) >= minPartLength && x.sig.within(y.sig) ||
		len(x.runes) >= minStemLength && [minStemLength]rune(x.runes) == [minStemLength]rune(y.runes)
}

// like returns the likeness of two words, from 0 to 1.
func (s *spelling) like(other *spelling) float64 {
	if s.text == other.text {
		return 1
	}
	if !s.fuzzy || !other.fuzzy {
		return 0
	}
	x, y := s, other
	if len(x.runes) > len(y.runes) {
		x, y = y, x
	}
	shorter, longer := len(x.runes), len(y.runes)
	best := 0.0
	if most := maxTypos(longer); longer-shorter <= most && x.sig.minTypos(y.sig) <= most {
		if d := distance(x.runes, y.runes, most); d <= most {
			best = byDistance(d, longer)
		}
	}
	same := 0
	for same < shorter && x.runes[same] == y.runes[same] {
		same++
	}
	if same >= minCommonPrefix(shorter, longer) {
		best = max(best, byStem(same, longer))
	}
	if shorter >= minPartLength && x.sig.within(y.sig) && strings.Contains(y.text, x.text) {
		best = max(best, byPart(shorter, longer))
	}
	return best
}

// distance returns how many letters must be added, removed, replaced or swapped with a
// neighbor to turn a into b (optimal string alignment). If that is more than most, it may
// return any number greater than most. Words have at most maxWord letters.
func distance(a, b []rune, most int) int {
	if max(len(a), len(b))-min(len(a), len(b)) > most {
		return most + 1
	}
	var rows [3][maxWord + 2]int
	before, above, row := &rows[0], &rows[1], &rows[2]
	for j := range min(len(b), most) + 1 {
		row[j] = j
	}
	row[min(len(b), most)+1] = most + 1
	for i := range a {
		before, above, row = above, row, before
		// Cells that are farther from the diagonal than most have a distance above most.
		from, until := max(0, i-most), min(len(b), i+most+1)
		row[from] = most + 1
		if from == 0 {
			row[0] = i + 1
		}
		least := row[from]
		for j := from; j < until; j++ {
			d := above[j]
			if a[i] != b[j] {
				d = 1 + min(above[j+1], row[j], above[j])
				if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
					d = min(d, 1+before[j-1])
				}
			}
			row[j+1] = d
			least = min(least, d)
		}
		row[until+1] = most + 1
		if least > most {
			return least
		}
	}
	return row[len(b)]
}
