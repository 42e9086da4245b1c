package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxCompared is how many words of a vocabulary are compared letter by letter for one
// question. Its terms share them. Only a vocabulary that was made to be expensive has more
// words that come into question.
const maxCompared = 16_000

// Vocabulary is the words of an app, among which those near another are found. Its
// words must be given in the order of their bytes.
type Vocabulary struct {
	lanes [maxWord + 1]lane // by length
	n     int
}

// lane has the words of one length. Of what they are made is apart from the texts: a
// search looks at all of that, and at few texts.
type lane struct {
	texts []string
	made  []makeup
}

// Add adds a word, unless it is one for which Variants has no use.
func (v *Vocabulary) Add(text string) {
	if length := utf8.RuneCountInString(text); length <= maxWord && widens(text) {
		l := &v.lanes[length]
		l.texts, l.made = append(l.texts, text), append(l.made, makeupOf(text))
		v.n++
	}
}

// Len is how many words it holds.
func (v *Vocabulary) Len() int { return v.n }

// Has reports whether a word was added.
func (v *Vocabulary) Has(text string) bool {
	length := utf8.RuneCountInString(text)
	if length > maxWord {
		return false
	}
	_, found := slices.BinarySearch(v.lanes[length].texts, text)
	return found
}

// starting returns the range of the words that start with a stem.
func (l *lane) starting(stem string) (from, until int) {
	from, _ = slices.BinarySearch(l.texts, stem)
	n, _ := slices.BinarySearchFunc(l.texts[from:], stem, func(text, stem string) int {
		if strings.HasPrefix(text, stem) {
			return -1
		}
		return 1
	})
	return from, from + n
}

// Variant is a word that may be meant by another; Likeness is 1 for the word itself.
type Variant struct {
	Word     string
	Likeness float64
}

// compare puts what is more like first.
func (v Variant) compare(other Variant) int {
	return cmp.Or(cmp.Compare(other.Likeness, v.Likeness), strings.Compare(v.Word, other.Word))
}

// nearest holds the best variants, in order.
type nearest struct {
	variants []Variant
	most     int
}

// wants reports whether a variant is one of the best so far.
func (n *nearest) wants(v Variant) bool {
	return v.Likeness >= leastLike && (len(n.variants) < n.most || v.compare(n.variants[n.most-1]) < 0)
}

func (n *nearest) add(v Variant) {
	at, _ := slices.BinarySearchFunc(n.variants, v, Variant.compare)
	n.variants = slices.Insert(n.variants[:min(len(n.variants), n.most-1)], at, v)
}

// prospect says how like a term the words of one length can be.
type prospect struct {
	length          int
	shorter, longer int     // the lengths of the term and of the words, in order
	slips           int     // how many slips they may have, or -1 where their lengths tell that there are more
	stem            int     // how many letters they have in common when they are related, or 0 where they cannot be
	part            bool    // whether one may be part of the other
	best            float64 // the most that their likeness can be
}

func newProspect(term *spelling, length int) prospect {
	n := len(term.runes)
	p := prospect{length: length, shorter: min(n, length), longer: max(n, length), slips: -1}
	if most := slips(p.longer); p.longer-p.shorter <= most {
		p.slips = most
	}
	if stem := leastStem(p.shorter, p.longer); stem <= p.shorter {
		p.stem = stem
	}
	p.part = p.shorter >= asPart && p.shorter < p.longer
	p.best = p.bound(0, p.stem > 0, p.part)
	return p
}

// bound is the most that the likeness of a word can be that may be a slip, is related or
// may be a part, with at least so many slips.
func (p *prospect) bound(slips int, related, part bool) (most float64) {
	if slips = max(1, p.longer-p.shorter, slips); slips <= p.slips {
		most = byDistance(slips, p.longer)
	}
	if related {
		most = max(most, byStem(p.shorter, p.longer))
	}
	if part {
		most = max(most, byPart(p.shorter, p.longer))
	}
	return most
}

// near returns the words most like a term, at most so many: slips of the hand, other
// forms of the same word, and words made of it. It compares no more words letter by
// letter than the budget allows, those of the most promising lengths first, and returns
// what it leaves of that.
func (v *Vocabulary) near(term *spelling, most, budget int) ([]Variant, int) {
	if !term.widens || most < 1 {
		return nil, budget
	}
	prospects := make([]prospect, 0, len(v.lanes))
	for length := range v.lanes {
		if len(v.lanes[length].texts) > 0 {
			prospects = append(prospects, newProspect(term, length))
		}
	}
	slices.SortStableFunc(prospects, func(a, b prospect) int { return cmp.Compare(b.best, a.best) })
	found := &nearest{most: most}
	for i := range prospects {
		p := &prospects[i]
		if budget == 0 || !found.wants(Variant{"", p.best}) { // no word comes before the empty one
			break
		}
		budget = v.lanes[p.length].near(term, p, found, budget)
	}
	return found.variants, budget
}

// near adds the words of the lane that are among the nearest, and returns what is left of
// the budget.
func (l *lane) near(term *spelling, p *prospect, found *nearest, budget int) int {
	from, until := 0, 0
	if p.stem > 0 {
		from, until = l.starting(string(term.runes[:p.stem]))
	}
	first, last := 0, len(l.texts)
	if p.slips <= 0 && !p.part {
		first, last = from, until
	}
	var word spelling
	for i := first; i < last; i++ {
		made, related := l.made[i], i >= from && i < until
		// The letters alone rule most words out.
		outside := term.made.letters&^made.letters != 0 && made.letters&^term.made.letters != 0
		if !related && term.made.letterSlips(made) > p.slips && (outside || !p.part) {
			continue
		}
		slips := term.made.slips(made)
		part := p.part && (term.made.within(made) || made.within(term.made))
		if !related && slips > p.slips && !part {
			continue
		}
		text := l.texts[i]
		if text == term.text || !found.wants(Variant{text, p.bound(slips, related, part)}) {
			continue
		}
		if budget == 0 {
			return 0
		}
		budget--
		word = spelling{text, word.runes[:0], made, true}
		for _, r := range text {
			word.runes = append(word.runes, r)
		}
		if one := (Variant{text, term.like(&word)}); found.wants(one) {
			found.add(one)
		}
	}
	return budget
}

// joined is how like a word is to the two it is made of.
const joined = 0.9

// Variants returns the words for which each term of a question may stand: those near it,
// at most so many, it and the next one written as one, and two into which it falls. It
// fails when the context ends.
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
					near = append(near, Variant{both, joined})
				}
			}
		}
		for i := range term {
			if v.Has(term[:i]) && v.Has(term[i:]) {
				near = append(near, Variant{term[:i], joined / 2}, Variant{term[i:], joined / 2})
			}
		}
		variants[at] = near
	}
	return variants, nil
}
