package search

import (
	"math"
	"slices"
)

// Question is a text for which similar requests are searched.
type Question struct {
	Terms    []string // the distinct words of the text
	spelled  []spelling
	trigrams []trigram
}

// NewQuestion returns the question for a text.
func NewQuestion(text string) Question {
	folded := fold(text)
	terms := termsOf(folded)
	return Question{terms, spellAll(terms), trigramsOf(folded)}
}

func spellAll(words []string) []spelling {
	spelled := make([]spelling, len(words))
	for i, word := range words {
		spelled[i] = spell(word)
	}
	return spelled
}

// Weight returns the weight of a word that n of all requests contain. Rare words have a
// higher weight (inverse document frequency).
func Weight(n, all int64) float64 { return math.Log(1 + float64(max(all, n)+1)/float64(n+1)) }

// The parts of a score: how much of the question the request contains, how much of the
// title the question contains, and how many trigrams they share.
const (
	questionShare = 0.65
	titleShare    = 0.2
	letterShare   = 0.15
	// descriptionFactor is the factor for words that are only in the description.
	descriptionFactor = 0.5
)

// maxScored limits how many pairs of a word of the question and a word of a title are
// compared letter by letter. Only a title that is made to be expensive has more candidates.
const maxScored = 128

// Title is the title of a request, split into words.
type Title struct {
	folded string
	words  []string
}

// NewTitle splits a title into words.
func NewTitle(title string) Title {
	folded := fold(title)
	return Title{folded, termsOf(folded)}
}

// Has reports whether the title has a word.
func (t Title) Has(word string) bool { return slices.Contains(t.words, word) }

// Score returns how similar a request is to the question, from 0 to 1. weights has the
// weight of each term, and found the likeness of its best match anywhere in the request.
func (q Question) Score(title Title, weights, found []float64) float64 {
	words := spellAll(title.words)
	if len(q.Terms) == 0 {
		return 0
	}
	best := make([]float64, len(words))
	covered, whole := 0.0, 0.0
	left := maxScored
	for i := range q.spelled {
		term, like := &q.spelled[i], descriptionFactor*found[i]
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
	return questionShare*covered/whole + titleShare*titled + letterShare*overlap(q.trigrams, trigramsOf(title.folded))
}

// trigram is three adjacent letters, packed into a number.
type trigram uint64

const letterBits = 21

// trigramsOf returns the distinct trigrams of a folded text, sorted. Each word has a space
// before and after it.
func trigramsOf(folded string) []trigram {
	letters := []rune{' '}
	for _, r := range folded {
		if kindOf(r) == gap {
			r = ' '
		}
		if r != ' ' || letters[len(letters)-1] != ' ' {
			letters = append(letters, r)
		}
	}
	return trigramsIn(append(letters, ' '))
}

// trigramsIn returns the distinct trigrams of letters, sorted.
func trigramsIn(letters []rune) []trigram {
	trigrams := make([]trigram, 0, len(letters))
	for i := range len(letters) - 2 {
		a, b, c := letters[i], letters[i+1], letters[i+2]
		trigrams = append(trigrams, trigram(a)<<(2*letterBits)|trigram(b)<<letterBits|trigram(c)) //nolint:gosec // letters are not negative
	}
	slices.Sort(trigrams)
	return slices.Compact(trigrams)
}

// overlap returns the Dice coefficient of two sets, from 0 to 1.
func overlap(a, b []trigram) float64 {
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
