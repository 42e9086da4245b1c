// Package search splits texts into words, finds similar words, and measures how similar two
// texts are. It works the same for all languages, and does not use a database.
package search

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"
)

const (
	// maxWord is how many letters of a word are used.
	maxWord = 32
	// maxDescriptionWords is how many words of a description are indexed. Each word is a row
	// in the index, and people usually say first what they want. In scripts without spaces, about pairsOfWord pairs of
	// characters say as much as a word.
	maxDescriptionWords = 24
	pairsOfWord         = 3
	// maxDescriptionLetters is how much of a description is read to find these words.
	maxDescriptionLetters = 2000
	// maxTerms is how many words of a question are used.
	maxTerms = 32
)

// Words returns the words under which a request is indexed: all words of its title, and the
// first ones of its description, maxDescriptionWords or as many pairs as say as much. They are
// distinct and in bytewise order.
func Words(title, description string) []string {
	var words []string
	split(fold(title), true, func(word string) bool {
		words = append(words, word)
		return true
	})
	left := maxDescriptionWords * pairsOfWord
	split(fold(cut(description, maxDescriptionLetters)), true, func(word string) bool {
		words = append(words, word)
		if isBigram(word) {
			left--
		} else {
			left -= pairsOfWord
		}
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

//go:generate go run letters_generate.go

// dnsLabel is a part of a domain as DNS has it: xn--bcher-kva for bücher (RFC 5890, section 2.3.2.1).
var dnsLabel = regexp.MustCompile(`(?i)\bxn--[a-z0-9-]{1,59}`)

// fold maps different spellings of a word to the same text: in NFKC, case-folded, and without what people often omit:
// accents, vowel marks of Hebrew and Arabic, strokes through letters, and what cannot be seen. Other marks are kept, such
// as the vowels of Indian scripts and the tones of Thai. Domains are spelled as people write them.
func fold(text string) string {
	if strings.Contains(text, "--") {
		text = dnsLabel.ReplaceAllStringFunc(text, func(label string) string {
			if written, err := idna.Punycode.ToUnicode(strings.ToLower(label)); err == nil {
				return written
			}
			return label
		})
	}
	if ascii(text) {
		return strings.ToLower(text)
	}
	var folded []byte
	for _, r := range norm.NFKD.String(cases.Fold().String(compose(text))) {
		switch {
		case r < utf8.RuneSelf:
			folded = utf8.AppendRune(folded, r)
		case omitted(r):
		case unicode.Is(unicode.Nd, r):
			folded = append(folded, digit(r))
		case unicode.Is(unicode.Cherokee, r): // for Cherokee, Fold swaps lower and upper case
			folded = utf8.AppendRune(folded, unicode.ToLower(r))
		default:
			if letters, ok := sameLetters[r]; ok {
				folded = append(folded, letters...)
			} else {
				folded = utf8.AppendRune(folded, r)
			}
		}
	}
	return norm.NFKC.String(string(folded))
}

// invisible is what is not seen, or only makes a word longer (Joining_Type = Join_Causing in Unicode): soft hyphens,
// controls of direction, variation selectors, the tatweel of Arabic.
var invisible = rangetable.Merge(
	unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, rangetable.New(0x0640, 0x07fa, 0x180a),
)

// vowelled are scripts that are usually written without their vowels.
var vowelled = []*unicode.RangeTable{unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Samaritan, unicode.Mandaic}

// digit returns the ASCII digit with the value of a decimal digit. Each script has its digits in order and next to each
// other, from zero to nine (Unicode Standard, section 4.6).
func digit(r rune) byte {
	value := byte('0')
	for value < '9' && unicode.Is(unicode.Nd, r-1) {
		r--
		value++
	}
	return value
}

// nukta is the combining class of the dot that makes another consonant of one of an Indian script.
const nukta = 7

// omitted reports whether people often omit a character of a text in NFKD.
func omitted(r rune) bool {
	switch {
	case unicode.Is(invisible, r):
		return true
	case !unicode.In(r, unicode.Mn, unicode.Me):
		return false
	case r == 0x3099 || r == 0x309a: // the voiced sounds of kana
		return false
	}
	return unicode.In(r, unicode.Inherited, unicode.Cyrillic, unicode.Nko, unicode.Adlam, unicode.Coptic, unicode.Ethiopic) ||
		unicode.In(r, vowelled...) ||
		norm.NFD.PropertiesString(string(r)).CCC() == nukta
}

// compose returns text in NFKC, limited to four times the letters of text and 64 more. A single
// character can expand to 18 letters, but normal texts contain few of these.
func compose(text string) string {
	left := 4*utf8.RuneCountInString(text) + 64
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
	symbol          // a symbol, such as an emoji, which is a word
)

// unspaced contains the scripts that put no spaces between words, and Hangul, which puts few.
var unspaced = rangetable.Merge(
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Yi, unicode.Hangul,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tai_Le, unicode.New_Tai_Lue, unicode.Tai_Tham, unicode.Tai_Viet,
	unicode.Javanese, unicode.Balinese,
)

// firstSymbol is the first symbol that counts. The ones before belong to names, such as ©.
const firstSymbol = '←'

// pictures are the characters that can be emoji and are no symbols in Go's tables (Emoji and Extended_Pictographic in
// UTS #51): some arrows, squares and dashes, and what is reserved for later versions of Unicode.
var pictures = rangetable.Merge(
	rangetable.New('↔', '⤴', '⤵', '◻', '◼', '◽', '◾', '〰', '〽'),
	&unicode.RangeTable{R32: []unicode.Range32{{Lo: 0x1f000, Hi: 0x1f3fa, Stride: 1}, {Lo: 0x1f400, Hi: 0x1faff, Stride: 1}}},
)

// apostrophes are letters in Unicode, for which people also write the apostrophe of their keyboard: Oʻzbekcha, пʼять.
var apostrophes = rangetable.New(0x02b9, 0x02bb, 0x02bc, 0x02bd, 0x02be, 0x02bf, 0x02c8)

func kindOf(r rune) kind {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return spacedWord
		}
		return gap
	case r == 'ー': // its script is Common, because Hiragana and Katakana share it
		return bigram
	case r >= firstSymbol && unicode.In(r, unicode.So, pictures):
		return symbol
	case unicode.Is(apostrophes, r):
		return gap
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
	case of == symbol:
		for _, r := range run {
			if !yield(string(r)) {
				return false
			}
		}
		return true
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
