// Package search splits texts into words, finds similar words, and measures how similar two
// texts are. It works the same for all languages, and does not use a database.
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
	// maxWord is how many letters of a word are used.
	maxWord = 32
	// maxDescriptionWords is how many words of a description are indexed. Each word is a row
	// in the index, and people usually say first what they want.
	maxDescriptionWords = 24
	// maxDescriptionLetters is how much of a description is read to find these words.
	maxDescriptionLetters = 2000
	// maxTerms is how many words of a question are used.
	maxTerms = 32
)

// Words returns the words under which a request is indexed: all words of its title, and the
// first maxDescriptionWords of its description. They are distinct and in bytewise order.
func Words(title, description string) []string {
	var words []string
	split(fold(title), true, func(word string) bool {
		words = append(words, word)
		return true
	})
	left := maxDescriptionWords
	split(fold(cut(description, maxDescriptionLetters)), true, func(word string) bool {
		words = append(words, word)
		left--
		return left > 0
	})
	slices.Sort(words)
	return slices.Compact(words)
}

// Person returns the words under which the requests of a person are indexed: those of the
// name and of the e-mail address. The last part of its domain is left out, because it says
// nothing about the person.
func Person(name, email string) []string {
	return Words(name+" "+WithoutTopDomains(email), "")
}

// WithoutTopDomains removes the last part of the domain from each e-mail address in a text.
func WithoutTopDomains(text string) string {
	if !strings.Contains(text, "@") {
		return text
	}
	fields := strings.Fields(text)
	for i, field := range fields {
		if at, dot := strings.LastIndexByte(field, '@'), strings.LastIndexByte(field, '.'); at >= 0 && dot > at {
			fields[i] = field[:dot]
		}
	}
	return strings.Join(fields, " ")
}

// Terms returns the distinct words of a question, in their order.
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

// Query returns the words of a query, in their order. A request must contain each of them.
// The last one may be a prefix of a word, because the user may still be typing it. Addresses
// lose what Person leaves out.
func Query(text string) []string {
	var words []string
	last := ""
	split(fold(WithoutTopDomains(text)), false, func(word string) bool {
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

// fold maps different spellings of a word to the same text: in NFKC, case-folded, and without
// the accents of alphabetic scripts, which people often omit. Marks of other scripts are kept.
func fold(text string) string {
	if ascii(text) {
		return strings.ToLower(text)
	}
	folded := norm.NFKD.String(cases.Fold().String(compose(text)))
	folded = strings.Map(func(r rune) rune {
		switch {
		case r >= 0x300 && r <= 0x36f:
			return -1
		case unicode.Is(unicode.Cherokee, r): // for Cherokee, Fold swaps lower and upper case
			return unicode.ToLower(r)
		}
		return r
	}, folded)
	return norm.NFKC.String(folded)
}

// compose returns text in NFKC, limited to slightly more letters than text has. A single
// character can expand to 18 letters, but normal texts contain few of these.
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

// kind says which kind of word a character is part of.
type kind int

const (
	gap        kind = iota
	spacedWord      // a script with spaces between words
	bigram          // a script without spaces, where each two adjacent characters count as a word
)

// unspaced contains the scripts that put no spaces between words.
var unspaced = rangetable.Merge(
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
)

func kindOf(r rune) kind {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return spacedWord
		}
		return gap
	case r == 'ー': // its script is Common, because Hiragana and Katakana share it
		return bigram
	case !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsNumber(r):
		return gap
	case unicode.Is(unspaced, r):
		return bigram
	}
	return spacedWord
}

// split calls yield for each word of a folded text until yield returns false. If ends is
// true, the last character of a text without spaces is also a word of its own, so that every
// single character can be found.
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

// emit yields the words in a run of characters of the same kind.
func emit(run []rune, of kind, ends bool, yield func(string) bool) bool {
	switch {
	case of == gap:
		return true
	case of == spacedWord:
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

// isBigram reports whether a word is in a script without spaces.
func isBigram(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return kindOf(r) == bigram
}
