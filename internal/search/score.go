package search

import (
	"math"
	"slices"
)

// Question is a text to which similar titles are looked for.
type Question struct {
	Terms   []string // its words, each once
	spelled []spelling
	thirds  []third
}

// NewQuestion reads a text.
func NewQuestion(text string) Question {
	folded := fold(text)
	terms := termsOf(folded)
	return Question{terms, spellAll(terms), thirdsOf(folded)}
}

func spellAll(words []string) []spelling {
	spelled := make([]spelling, len(words))
	for i, word := range words {
		spelled[i] = spell(word)
	}
	return spelled
}

// Weight says how much a word tells that so many of all requests have: the fewer, the more.
func Weight(n, all int64) float64 { return math.Log(1 + float64(max(all, n)+1)/float64(n+1)) }

// Of what a score is made: how much of the question the request has, how much of the
// title the question has, and how far their letters agree.
const (
	ofQuestion = 0.65
	ofTitle    = 0.2
	ofLetters  = 0.15
	// elsewhere is what a word counts that is in the description alone.
	elsewhere = 0.5
)

// maxScored is how many pairs of a word of the question and one of a title are compared
// letter by letter. Only a title that was made for it has more that resemble each other.
const maxScored = 128

// Score says how alike a request is to the question, from 0 to 1. weights has what each
// term tells, and found how well it was found anywhere in the request.
func (q Question) Score(title string, weights, found []float64) float64 {
	title = fold(title)
	words := spellAll(termsOf(title))
	if len(words) == 0 || len(q.Terms) == 0 {
		return 0
	}
	best := make([]float64, len(words))
	covered, whole := 0.0, 0.0
	left := maxScored
	for i := range q.spelled {
		term, like := &q.spelled[i], elsewhere*found[i]
		for j := range words {
			l := 0.0
			if word := &words[j]; word.text == term.text {
				l = 1
			} else if left > 0 && term.resembles(word) {
				l = term.like(word)
				left--
			}
			like, best[j] = max(like, l), max(best[j], l)
		}
		covered += weights[i] * like
		whole += weights[i]
	}
	titled := 0.0
	for _, l := range best {
		titled += l / float64(len(best))
	}
	return ofQuestion*covered/whole + ofTitle*titled + ofLetters*overlap(q.thirds, thirdsOf(title))
}

// third is three letters that follow each other, in the bits of a number.
type third uint64

const letterBits = 21

// thirdsOf returns the thirds of a folded text, each once and in order; words begin and end
// with a space.
func thirdsOf(folded string) []third {
	letters := []rune{' '}
	for _, r := range folded {
		if kindOf(r) == gap {
			r = ' '
		}
		if r != ' ' || letters[len(letters)-1] != ' ' {
			letters = append(letters, r)
		}
	}
	return thirdsIn(append(letters, ' '))
}

// thirdsIn returns the thirds of letters as they stand, each once and in order.
func thirdsIn(letters []rune) []third {
	thirds := make([]third, 0, len(letters))
	for i := range len(letters) - 2 {
		a, b, c := letters[i], letters[i+1], letters[i+2]
		thirds = append(thirds, third(a)<<(2*letterBits)|third(b)<<letterBits|third(c)) //nolint:gosec // letters are not negative
	}
	slices.Sort(thirds)
	return slices.Compact(thirds)
}

// overlap is what two sets have in common, from 0 to 1 (Dice).
func overlap(a, b []third) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	common, j := 0, 0
	for _, t := range a {
		for j < len(b) && b[j] < t {
			j++
		}
		if j < len(b) && b[j] == t {
			common++
		}
	}
	return 2 * float64(common) / float64(len(a)+len(b))
}
