package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxCompared limits how many words of a vocabulary are compared letter by letter for all
// terms of a question. Only a vocabulary that is made to be expensive has more candidates.
const maxCompared = 16_000

// Vocabulary is the set of the words of an app. It finds the words that are similar to
// another one. Words must be added in bytewise order.
type Vocabulary struct {
	groups [maxWord + 1]wordGroup // by length, in letters
	n      int
}

// wordGroup has the words of one length. The signatures are separate from the texts, because
// a search reads all signatures and only a few texts.
type wordGroup struct {
	texts      []string
	signatures []signature
}

// Add adds a word, unless it is one that Variants never returns.
func (v *Vocabulary) Add(text string) {
	if length := utf8.RuneCountInString(text); length <= maxWord && fuzzy(text) {
		l := &v.groups[length]
		l.texts, l.signatures = append(l.texts, text), append(l.signatures, signatureOf(text))
		v.n++
	}
}

// Len returns the number of words in the vocabulary.
func (v *Vocabulary) Len() int { return v.n }

// Has reports whether the vocabulary has a word.
func (v *Vocabulary) Has(text string) bool {
	length := utf8.RuneCountInString(text)
	if length > maxWord {
		return false
	}
	_, found := slices.BinarySearch(v.groups[length].texts, text)
	return found
}

// Completions returns at most most words that begin with a text and are longer, the shortest
// first.
func (v *Vocabulary) Completions(text string, most int) (words []string) {
	for length := utf8.RuneCountInString(text) + 1; length <= maxWord && len(words) < most; length++ {
		l := &v.groups[length]
		from, until := l.starting(text)
		words = append(words, l.texts[from:min(until, from+most-len(words))]...)
	}
	return words
}

// starting returns the range of the words that start with stem.
func (l *wordGroup) starting(stem string) (from, until int) {
	from, _ = slices.BinarySearch(l.texts, stem)
	n, _ := slices.BinarySearchFunc(l.texts[from:], stem, func(text, stem string) int {
		if strings.HasPrefix(text, stem) {
			return -1
		}
		return 1
	})
	return from, from + n
}

// Variant is a word that a search term also matches.
type Variant struct {
	Word     string
	Likeness float64 // from 0 to 1; it is 1 for the term itself
}

// compare orders variants by likeness, most similar first.
func (v Variant) compare(other Variant) int {
	return cmp.Or(cmp.Compare(other.Likeness, v.Likeness), strings.Compare(v.Word, other.Word))
}

// nearest holds at most most of the best variants, in order.
type nearest struct {
	variants []Variant
	most     int
}

// wants reports whether a variant is among the best so far.
func (n *nearest) wants(v Variant) bool {
	return v.Likeness >= minLikeness && (len(n.variants) < n.most || v.compare(n.variants[n.most-1]) < 0)
}

func (n *nearest) add(v Variant) {
	at, _ := slices.BinarySearchFunc(n.variants, v, Variant.compare)
	n.variants = slices.Insert(n.variants[:min(len(n.variants), n.most-1)], at, v)
}

// lengthBounds says how similar to a term the words of one length can be.
type lengthBounds struct {
	length          int
	shorter, longer int     // the lengths of the term and of the words
	maxTypos        int     // accepted number of typos, or -1 if the lengths differ by more
	stem            int     // number of letters that related words share at the start, or 0 if there are none
	part            bool    // whether one can be part of the other
	best            float64 // maximum likeness
}

func newLengthBounds(term *spelling, length int) lengthBounds {
	n := len(term.runes)
	p := lengthBounds{length: length, shorter: min(n, length), longer: max(n, length), maxTypos: -1}
	if most := maxTypos(p.longer); p.longer-p.shorter <= most {
		p.maxTypos = most
	}
	if stem := minCommonPrefix(p.shorter, p.longer); stem <= p.shorter {
		p.stem = stem
	}
	p.part = p.shorter >= minPartLength && p.shorter < p.longer
	p.best = p.bound(0, p.stem > 0, p.part)
	return p
}

// bound returns the maximum likeness of a word that has at least the given number of typos.
// related and part say whether it may be related to the term, or a part of it or the reverse.
func (p *lengthBounds) bound(typos int, related, part bool) (most float64) {
	if typos = max(1, p.longer-p.shorter, typos); typos <= p.maxTypos {
		most = byDistance(typos, p.longer)
	}
	if related {
		most = max(most, byStem(p.shorter, p.longer))
	}
	if part {
		most = max(most, byPart(p.shorter, p.longer))
	}
	return most
}

// near returns the words that are most similar to a term, at most most of them: words with
// typos, other forms of the word, and compounds. It compares at most budget words letter by
// letter, starting with the most promising lengths, and returns the rest of the budget.
func (v *Vocabulary) near(term *spelling, most, budget int) ([]Variant, int) {
	if !term.fuzzy || most < 1 {
		return nil, budget
	}
	lengths := make([]lengthBounds, 0, len(v.groups))
	for length := range v.groups {
		if len(v.groups[length].texts) > 0 {
			lengths = append(lengths, newLengthBounds(term, length))
		}
	}
	slices.SortStableFunc(lengths, func(a, b lengthBounds) int { return cmp.Compare(b.best, a.best) })
	found := &nearest{most: most}
	for i := range lengths {
		p := &lengths[i]
		if budget == 0 || !found.wants(Variant{"", p.best}) { // the empty word sorts before all others
			break
		}
		budget = v.groups[p.length].near(term, p, found, budget)
	}
	return found.variants, budget
}

// near adds the most similar words of the group to found. It returns the rest of the budget.
func (l *wordGroup) near(term *spelling, p *lengthBounds, found *nearest, budget int) int {
	from, until := 0, 0
	if p.stem > 0 {
		from, until = l.starting(string(term.runes[:p.stem]))
	}
	first, last := 0, len(l.texts)
	if p.maxTypos <= 0 && !p.part {
		first, last = from, until
	}
	var word spelling
	for i := first; i < last; i++ {
		sig, related := l.signatures[i], i >= from && i < until
		// The letters alone rule out most words.
		outside := term.sig.letters&^sig.letters != 0 && sig.letters&^term.sig.letters != 0
		if !related && term.sig.minLetterTypos(sig) > p.maxTypos && (outside || !p.part) {
			continue
		}
		typos := term.sig.minTypos(sig)
		part := p.part && (term.sig.within(sig) || sig.within(term.sig))
		if !related && typos > p.maxTypos && !part {
			continue
		}
		text := l.texts[i]
		if text == term.text || !found.wants(Variant{text, p.bound(typos, related, part)}) {
			continue
		}
		if budget == 0 {
			return 0
		}
		budget--
		word = spelling{text, word.runes[:0], sig, true}
		for _, r := range text {
			word.runes = append(word.runes, r)
		}
		if one := (Variant{text, term.like(&word)}); found.wants(one) {
			found.add(one)
		}
	}
	return budget
}

// compoundLikeness is the likeness of a compound to its two parts.
const compoundLikeness = 0.9

// Variants returns the words that each term of a question also matches: at most most
// similar words, compounds of the term and its neighbors, and two words of which the term is
// a compound. It returns the cause of ctx if ctx ends first.
func (v *Vocabulary) Variants(ctx context.Context, q Question, most int) ([][]Variant, error) {
	variants := make([][]Variant, len(q.Terms))
	left := maxCompared
	for at, term := range q.Terms {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		share := left / (len(q.Terms) - at)
		near, unused := v.near(&q.spelled[at], most, share)
		left -= share - unused
		for _, first := range []int{at - 1, at} {
			if first >= 0 && first+1 < len(q.Terms) {
				if both := q.Terms[first] + q.Terms[first+1]; v.Has(both) {
					near = append(near, Variant{both, compoundLikeness})
				}
			}
		}
		for i := range term {
			if v.Has(term[:i]) && v.Has(term[i:]) {
				near = append(near, Variant{term[:i], compoundLikeness / 2}, Variant{term[i:], compoundLikeness / 2})
			}
		}
		variants[at] = near
	}
	return variants, nil
}
