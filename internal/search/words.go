// Package search says how text is taken apart into words, which words are near
// another, and how alike two texts are: for every language the same, and without
// a database.
package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"
)

const (
	// maxWord is how many letters of a word count.
	maxWord = 32
	// maxDescribed is how many words of a description are looked at: what somebody
	// wants comes first, and each word is a row.
	maxDescribed = 24
	// describedLetters is as much of a description as can hold them.
	describedLetters = 2000
	// maxTerms is how many words of a question count.
	maxTerms = 32
)

// Words returns the words under which a request is found, each once and in the order
// of their bytes: all of its title, and the first of its description.
func Words(title, description string) []string {
	var words []string
	split(fold(title), true, func(word string) bool {
		words = append(words, word)
		return true
	})
	left := maxDescribed
	split(fold(cut(description, describedLetters)), true, func(word string) bool {
		words = append(words, word)
		left--
		return left > 0
	})
	slices.Sort(words)
	return slices.Compact(words)
}

// Terms returns the words of a question, each once, in their order.
func Terms(text string) []string { return termsOf(fold(text)) }

func termsOf(folded string) []string {
	var terms []string
	split(folded, false, func(term string) bool {
		if !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
		return len(terms) < maxTerms
	})
	return terms
}

// Query returns the words of a query: those of which a request must have each, and at
// last the one that may be the beginning of a word, as somebody may be typing it.
func Query(text string) []string {
	var words []string
	last := ""
	split(fold(text), false, func(word string) bool {
		if last != "" && !slices.Contains(words, last) {
			words = append(words, last)
		}
		last = word
		return len(words) < maxTerms-1
	})
	if last == "" {
		return nil
	}
	return append(words, last)
}

func cut(text string, letters int) string {
	for i := range text {
		if letters == 0 {
			return text[:i]
		}
		letters--
	}
	return text
}

// fold makes spellings of the same word the same: NFKC, without case, and without
// the accents of alphabets, which people leave out. Marks of other scripts are letters.
func fold(text string) string {
	if ascii(text) {
		return strings.ToLower(text)
	}
	folded := norm.NFKD.String(cases.Fold().String(compose(text)))
	folded = strings.Map(func(r rune) rune {
		switch {
		case r >= 0x300 && r <= 0x36f:
			return -1
		case unicode.Is(unicode.Cherokee, r): // of these, Fold makes small letters capital and capital ones small
			return unicode.ToLower(r)
		}
		return r
	}, folded)
	return norm.NFKC.String(folded)
}

// compose is NFKC, up to a little more letters than the text has: one character may stand
// for eighteen, and nobody writes many such characters.
func compose(text string) string {
	n := utf8.RuneCountInString(text)
	left := n + n/4 + 16
	var composed []byte
	var characters norm.Iter
	for characters.InitString(norm.NFKC, text); !characters.Done() && left > 0; {
		next := characters.Next()
		composed = append(composed, next...)
		left -= utf8.RuneCount(next)
	}
	return string(composed)
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// kind is what a character is part of.
type kind int

const (
	gap  kind = iota
	word      // of a script with spaces between its words
	gram      // of one without: each two neighbours are taken for a word
)

// unspaced are the scripts that put no spaces between words.
var unspaced = rangetable.Merge(unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)

func kindOf(r rune) kind {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return word
		}
		return gap
	case r == 'ー': // belongs to no script, as two of them have it
		return gram
	case !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r):
		return gap
	case unicode.Is(unspaced, r):
		return gram
	}
	return word
}

// split calls yield for each word of a folded text until it returns false. With ends, the last
// character of a run without spaces is a word, too, so that every single one is found.
func split(folded string, ends bool, yield func(string) bool) {
	var run []rune
	was := gap
	for _, r := range folded + " " {
		is := kindOf(r)
		if is != was {
			if !emit(run, was, ends, yield) {
				return
			}
			run, was = run[:0], is
		}
		run = append(run, r)
	}
}

// emit yields the words of characters of one kind.
func emit(run []rune, of kind, ends bool, yield func(string) bool) bool {
	switch {
	case of == gap:
		return true
	case of == word:
		return yield(string(run[:min(len(run), maxWord)]))
	case len(run) == 1:
		return yield(string(run))
	}
	for i := range len(run) - 1 {
		if !yield(string(run[i : i+2])) {
			return false
		}
	}
	return !ends || yield(string(run[len(run)-1:]))
}

// isGram reports whether a word is of a script without spaces.
func isGram(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return kindOf(r) == gram
}
