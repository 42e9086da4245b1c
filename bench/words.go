package main

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// speech generates texts with the word frequencies of natural language and some misspelled
// words. It generates the same texts in every run.
type speech struct {
	random *rand.Rand
	often  *rand.Zipf // draws words
	tagged *rand.Zipf // draws tags
	words  []string   // most frequent first
}

const (
	vocabulary = 8000 // words, without misspelled ones
	tagCount   = 400
)

// roots are words of feature requests, most frequent first.
const roots = `the to a for in of and i with it on is we when please add from that be my should would like can as at an not by
	have all or one more if are into only need make want so app new show allow option user customer export list page project
	invoice report file email team data account filter search dashboard mobile view button task date calendar setting field
	message document notification status table column import order support print integration message automatic payment price
	product chart change color login mode dark template contact image upload download password select default custom sort
	group folder menu label comment week month day time zone currency language translate screen keyboard shortcut phone tablet
	browser window link share public private permission role admin manager member guest invite remove delete archive restore
	undo history version backup sync offline connect network slow fast load speed crash error warning alert remind schedule
	repeat event meeting room book cancel confirm approve reject review publish draft edit format text font size bold header
	footer margin layout grid card board kanban timeline gantt milestone depend estimate budget cost hour track bill tax
	discount coupon subscribe plan upgrade trial refund receipt ledger balance bank transfer transaction vendor supplier stock
	warehouse shipping address country city map location route driver delivery parcel barcode scan camera photo video audio
	record stream play pause volume chat call voice channel thread mention emoji reaction vote survey form question answer score
	rating feedback widget embed website domain theme logo brand banner icon avatar profile name signature contract sign legal
	consent cookie privacy secure encrypt token webhook endpoint request response batch queue limit quota storage server cloud
	region cache index query rule workflow trigger action condition formula calculate round percent total average metric goal
	target forecast trend compare segment audience campaign newsletter lead deal pipeline ticket agent knowledge article tutor
	course lesson student teacher grade patient doctor appointment recipe hotel tenant landlord property`

// newSpeech returns a generator whose most frequent words are the roots, followed by words
// that are derived from them.
func newSpeech() *speech {
	random := rand.New(rand.NewPCG(1, 2))
	s := &speech{random: random, often: rand.NewZipf(random, 1.1, 3, vocabulary-1), tagged: rand.NewZipf(random, 1.1, 2, tagCount-1)}
	known := map[string]bool{"": true}
	learn := func(word string) {
		if !known[word] && len(s.words) < vocabulary {
			known[word] = true
			s.words = append(s.words, word)
		}
	}
	stems := strings.Fields(roots)
	for _, stem := range stems {
		learn(stem)
	}
	prefixes := []string{"", "", "", "re", "un", "auto", "multi", "pre", "sub"}
	suffixes := []string{"s", "s", "ing", "ed", "er", "able", "less", "ful", "ment", "ly"}
	for len(s.words) < vocabulary {
		stem := stems[40+random.IntN(len(stems)-40)] // without the words that occur in every text
		if random.IntN(5) == 0 {
			learn(stem + stems[40+random.IntN(len(stems)-40)])
		} else {
			learn(prefixes[random.IntN(len(prefixes))] + stem + suffixes[random.IntN(len(suffixes))])
		}
	}
	return s
}

// frequent returns the most frequent word that begins no other one.
func (s *speech) frequent() string { return s.mostFrequent(func(begun int) bool { return begun == 0 }) }

// beginning returns the most frequent word with which at least ten others begin.
func (s *speech) beginning() string {
	return s.mostFrequent(func(begun int) bool { return begun >= 10 })
}

func (s *speech) mostFrequent(suits func(begun int) bool) string {
	i := slices.IndexFunc(s.words, func(word string) bool {
		begun := -1 // it begins with itself
		for _, other := range s.words {
			if strings.HasPrefix(other, word) {
				begun++
			}
		}
		return suits(begun)
	})
	return s.words[i]
}

// middle and rare return words that about one text in a hundred and one in a thousand have.
func (s *speech) middle() string { return s.words[300] }
func (s *speech) rare() string   { return s.words[3000] }

// tag returns a tag, the most frequent one first.
func (s *speech) tag(i int) string {
	word := s.words[200+i]
	return strings.ToUpper(word[:1]) + word[1:]
}

// tags returns the tags of a request: mostly none, and up to three different ones.
func (s *speech) tags() []string {
	list := []string{}
	for range max(0, s.random.IntN(10)-6) {
		if tag := s.tag(int(s.tagged.Uint64())); !slices.Contains(list, tag) {
			list = append(list, tag)
		}
	}
	return list
}

// say generates a text. One in fifty of its words is misspelled.
func (s *speech) say(least, most int) string {
	text := make([]string, least+s.random.IntN(most-least+1))
	for i := range text {
		if text[i] = s.words[s.often.Uint64()]; s.random.IntN(50) == 0 {
			text[i] = s.misspell(text[i])
		}
	}
	return strings.Join(text, " ")
}

// misspell adds a typo to a word, unless the word is short.
func (s *speech) misspell(word string) string {
	if len(word) < 4 {
		return word
	}
	letters := []byte(word)
	i := 1 + s.random.IntN(len(letters)-2)
	switch s.random.IntN(3) {
	case 0:
		return word[:i] + word[i+1:]
	case 1:
		return word[:i] + word[i-1:]
	}
	letters[i], letters[i+1] = letters[i+1], letters[i]
	return string(letters)
}

// ask returns a title in somebody else's words: in another order, without one of the words,
// with another form of one, and with a typo in the longest.
func (s *speech) ask(title string) string {
	words := strings.Fields(title)
	s.random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
	words = words[1:]
	if form, one := strings.CutSuffix(words[0], "s"); one {
		words[0] = form
	} else {
		words[0] += "s"
	}
	longest := 0
	for i := range words {
		if len(words[i]) > len(words[longest]) {
			longest = i
		}
	}
	words[longest] = s.misspell(words[longest])
	return strings.Join(words, " ")
}
