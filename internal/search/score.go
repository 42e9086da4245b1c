package search

import (
	"math"
	"slices"
)

// Question is a text to which similar titles are looked for.
type Question struct {
	Terms  []string // its words, each once
	thirds []third
}

// NewQuestion reads a text.
func NewQuestion(text string) Question { return Question{Terms(text), thirdsOf(text)} }

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

// Score says how alike a request is to the question, from 0 to 1. weights has what each
// term tells, and found how well it was found anywhere in the request.
func (q Question) Score(title string, weights, found []float64) float64 {
	words := Terms(title)
	if len(words) == 0 || len(q.Terms) == 0 {
		return 0
	}
	best := make([]float64, len(words))
	covered, whole := 0.0, 0.0
	for i, term := range q.Terms {
		like := elsewhere * found[i]
		for j, w := range words {
			l := likeness(term, w)
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

// third is three letters that follow each other.
type third [3]rune

// thirdsOf returns the thirds of a text, each once and in order; words begin and end
// with a space.
func thirdsOf(text string) []third {
	letters := []rune{' '}
	for _, r := range fold(text) {
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
		thirds = append(thirds, third(letters[i:i+3]))
	}
	slices.SortFunc(thirds, third.compare)
	return slices.Compact(thirds)
}

func (t third) compare(other third) int { return slices.Compare(t[:], other[:]) }

// overlap is what two sets have in common, from 0 to 1 (Dice).
func overlap(a, b []third) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	common, j := 0, 0
	for _, t := range a {
		for j < len(b) && b[j].compare(t) < 0 {
			j++
		}
		if j < len(b) && b[j] == t {
			common++
		}
	}
	return 2 * float64(common) / float64(len(a)+len(b))
}
