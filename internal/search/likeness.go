package search

import (
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// asTyped is the least length of words that may be slips of each other, and
	// asStem that of what related words have in common.
	asTyped = 4
	asStem  = 4
	// asPart is the least length of a word that counts inside another.
	asPart = 5
	// leastLike is the least likeness that counts.
	leastLike = 0.5
)

// spelling is a word with what comparing it needs.
type spelling struct {
	text   string
	runes  []rune
	made   makeup
	widens bool
}

func spell(text string) spelling {
	return spelling{text, []rune(text), makeupOf(text), widens(text)}
}

// widens reports whether other words may be meant by one. Numbers are exact, and of
// scripts without spaces the neighbours are found by what they have in common.
func widens(text string) bool {
	return utf8.RuneCountInString(text) >= asTyped-1 && !isGram(text) && !strings.ContainsFunc(text, unicode.IsNumber)
}

// slips is how many slips of the hand a word of so many letters may have.
func slips(length int) int {
	switch {
	case length < asTyped:
		return 0
	case length < 2*asTyped:
		return 1
	}
	return 2
}

// makeup is of what a word is made: a bit for each of its letters, and one for each
// pair of letters that follow each other.
type makeup struct{ letters, pairs uint64 }

func makeupOf(text string) (m makeup) {
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

// letterSlips is how many slips of the hand there are at least between two words, by
// their letters: one adds, removes, replaces or swaps letters, and changes two at most.
func (m makeup) letterSlips(other makeup) int {
	return (bits.OnesCount64(m.letters^other.letters) + 1) / 2
}

// slips is the same by letters and pairs, of which one changes six at most.
func (m makeup) slips(other makeup) int {
	both := bits.OnesCount64(m.letters^other.letters) + bits.OnesCount64(m.pairs^other.pairs)
	return max(m.letterSlips(other), (both+5)/6)
}

// within reports whether one word may be part of another.
func (m makeup) within(other makeup) bool {
	return m.letters&^other.letters == 0 && m.pairs&^other.pairs == 0
}

// The likeness of two words, of which the longer one has so many letters: by their
// distance, by what they have in common at the beginning, and by the length of the
// one that is part of the other.

func byDistance(d, longer int) float64  { return 1 - float64(d)/float64(longer) }
func byStem(same, longer int) float64   { return 0.5 + 0.4*float64(same)/float64(longer) }
func byPart(length, longer int) float64 { return 0.4 + 0.5*float64(length)/float64(longer) }

// leastStem is how many letters two related words of these lengths have in common at
// the beginning: most of the shorter one, and a third of the longer one.
func leastStem(shorter, longer int) int { return max(asStem, (3*shorter+3)/4, (longer+2)/3) }

// resembles reports whether two words may be alike. It looks at little of them, and
// rules out nearly all that are not.
func (s *spelling) resembles(other *spelling) bool {
	x, y := s, other
	if len(x.runes) > len(y.runes) {
		x, y = y, x
	}
	most := slips(len(y.runes))
	return len(y.runes)-len(x.runes) <= most && x.made.slips(y.made) <= most ||
		len(x.runes) >= asPart && x.made.within(y.made) ||
		len(x.runes) >= asStem && [asStem]rune(x.runes) == [asStem]rune(y.runes)
}

// like says how probable it is that one word stands for the other, from 0 to 1.
func (s *spelling) like(other *spelling) float64 {
	if s.text == other.text {
		return 1
	}
	if !s.widens || !other.widens {
		return 0
	}
	x, y := s, other
	if len(x.runes) > len(y.runes) {
		x, y = y, x
	}
	shorter, longer := len(x.runes), len(y.runes)
	best := 0.0
	if most := slips(longer); longer-shorter <= most && x.made.slips(y.made) <= most {
		if d := distance(x.runes, y.runes, most); d <= most {
			best = byDistance(d, longer)
		}
	}
	same := 0
	for same < shorter && x.runes[same] == y.runes[same] {
		same++
	}
	if same >= leastStem(shorter, longer) {
		best = max(best, byStem(same, longer))
	}
	if shorter >= asPart && x.made.within(y.made) && strings.Contains(y.text, x.text) {
		best = max(best, byPart(shorter, longer))
	}
	return best
}

// distance is how many letters must be added, removed, replaced or swapped with their
// neighbour to make a into b (optimal string alignment), or more than most when that is
// more than most. Words have at most maxWord letters.
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
		// Farther from the diagonal than most, the distance is more than most.
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
