package search

import (
	"cmp"
	"math/bits"
	"slices"
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

// Vocabulary is the words of an app, among which those near another are found. Its
// words must be given in the order of their bytes.
type Vocabulary struct{ words []known }

type known struct {
	text    string
	letters uint64 // a bit for each letter that it has
	length  int
}

// Add adds a word, unless it is one for which Near has no use.
func (v *Vocabulary) Add(text string) {
	if widens(text) {
		v.words = append(v.words, known{text, lettersOf(text), utf8.RuneCountInString(text)})
	}
}

// Len is how many words it holds.
func (v *Vocabulary) Len() int { return len(v.words) }

// Has reports whether a word was added.
func (v *Vocabulary) Has(text string) bool {
	_, found := slices.BinarySearchFunc(v.words, text, func(k known, text string) int { return strings.Compare(k.text, text) })
	return found
}

// Variant is a word that may be meant by another; Likeness is 1 for the word itself.
type Variant struct {
	Word     string
	Likeness float64
}

// Near returns the words most like a term, at most so many: slips of the hand, other
// forms of the same word, and words made of it.
func (v *Vocabulary) Near(term string, most int) []Variant {
	if !widens(term) {
		return nil
	}
	var near []Variant
	letters, length := lettersOf(term), utf8.RuneCountInString(term)
	for i := range v.words {
		k := &v.words[i]
		// The letters rule nearly all of them out without a look at the text.
		slip := bits.OnesCount64(letters^k.letters) <= 2*slips(max(length, k.length))
		part := letters&^k.letters == 0 || k.letters&^letters == 0
		if !slip && !part && !sharesStem(term, k.text) {
			continue
		}
		if like := likeness(term, k.text); like >= leastLike && like < 1 {
			near = append(near, Variant{k.text, like})
		}
	}
	slices.SortFunc(near, func(a, b Variant) int {
		return cmp.Or(cmp.Compare(b.Likeness, a.Likeness), strings.Compare(a.Word, b.Word))
	})
	return near[:min(len(near), most)]
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

func lettersOf(text string) (set uint64) {
	for _, r := range text {
		set |= 1 << (uint64(r) * 0x9e3779b97f4a7c15 >> 58) //nolint:gosec // letters are not negative
	}
	return set
}

// sharesStem is whether two words begin alike.
func sharesStem(a, b string) bool {
	return len(a) >= asStem && len(b) >= asStem && a[:asStem] == b[:asStem]
}

// likeness says how probable it is that one word stands for the other, from 0 to 1.
func likeness(a, b string) float64 {
	if a == b {
		return 1
	}
	if !widens(a) || !widens(b) {
		return 0
	}
	x, y := []rune(a), []rune(b)
	if len(x) > len(y) {
		a, b, x, y = b, a, y, x
	}
	best := 0.0
	if most := slips(len(y)); len(x) >= asTyped-1 && len(y)-len(x) <= most {
		if d := distance(x, y, most); d <= most {
			best = 1 - float64(d)/float64(len(y))
		}
	}
	same := 0
	for same < len(x) && x[same] == y[same] {
		same++
	}
	whole := float64(len(y))
	if same >= asStem && 4*same >= 3*len(x) && 3*same >= len(y) {
		best = max(best, 0.5+0.4*float64(same)/whole)
	}
	if len(x) >= asPart && strings.Contains(b, a) {
		best = max(best, 0.4+0.5*float64(len(x))/whole)
	}
	return best
}

// distance is how many letters must be added, removed, replaced or swapped with their
// neighbour to make a into b (optimal string alignment), or more than most. Words have
// at most maxWord letters.
func distance(a, b []rune, most int) int {
	var rows [3][maxWord + 1]int
	before, above, row := &rows[0], &rows[1], &rows[2]
	for j := range b {
		row[j+1] = j + 1
	}
	for i := range a {
		before, above, row = above, row, before
		row[0] = i + 1
		least := row[0]
		for j := range b {
			if a[i] == b[j] {
				row[j+1] = above[j]
			} else {
				row[j+1] = 1 + min(above[j+1], row[j], above[j])
				if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
					row[j+1] = min(row[j+1], 1+before[j-1])
				}
			}
			least = min(least, row[j+1])
		}
		// A swap reaches two rows back.
		if least > most+1 {
			return least
		}
	}
	return row[len(b)]
}

// joined is how like a word is to the two it is made of.
const joined = 0.9

// Variants returns the words for which a term of a question may stand: those near it,
// it and the next one written as one, and two into which it falls.
func (v *Vocabulary) Variants(terms []string, at, most int) []Variant {
	term := terms[at]
	variants := v.Near(term, most)
	for _, first := range []int{at - 1, at} {
		if first >= 0 && first+1 < len(terms) {
			if both := terms[first] + terms[first+1]; v.Has(both) {
				variants = append(variants, Variant{both, joined})
			}
		}
	}
	for i := range term {
		if v.Has(term[:i]) && v.Has(term[i:]) {
			variants = append(variants, Variant{term[:i], joined / 2}, Variant{term[i:], joined / 2})
		}
	}
	return variants
}
