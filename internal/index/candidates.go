package index

import (
	"cmp"
	"context"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"gatherkit/internal/database"
	"gatherkit/internal/feedback"
	"gatherkit/internal/search"
)

// wantedWord is a word to look up, and how well it stands for terms of the question.
type wantedWord struct {
	word string
	wordCount
	terms map[int]float64
}

// wordCount is about how many requests of an app have a word, in all and in each block. All
// counts requests in the tail, too, so that those that have changed may count twice.
type wordCount struct {
	n      int64
	blocks []blockCount // the newest first
}

// blockCount is how many requests of a block have a word. at is the block's place in a
// reading, and stored the posting list, or nil if it was not read.
type blockCount struct {
	at     int
	n      int64
	stored []byte
}

const (
	// countedBlocks is in how many blocks the requests with a word are counted. Older blocks
	// are assumed to have as many on average.
	countedBlocks = 8
	// maxLists is how many posting lists are read for one question, apart from those that are counted, and maxPostings
	// is about how many postings these and the counted ones have.
	maxLists    = 768
	maxPostings = 1_000_000
)

// wantedWords returns the words of the index that a question may mean, the most useful
// first, and the weight of each term of the question.
func (r *reading) wantedWords(
	ctx context.Context, q database.Queryer, appID feedback.ID, question search.Question, variants [][]search.Variant,
) ([]wantedWord, []float64, error) {
	meant := meantWords(question, variants)
	all, err := r.liveRequests(ctx, q, appID)
	if err != nil {
		return nil, nil, err
	}
	counts, err := r.wordCounts(ctx, q, appID, meant)
	if err != nil {
		return nil, nil, err
	}
	var wanted []wantedWord
	having := map[string]int64{} // how many requests have each word
	for word, terms := range meant {
		w := wantedWord{word, counts[word], terms}
		for _, d := range r.tail {
			if d.has(word) {
				w.n++
			}
		}
		n := w.n
		for _, d := range r.replaced {
			if d.has(word) {
				n--
			}
		}
		if n > 0 {
			wanted, having[word] = append(wanted, w), n
		}
	}
	weights := weigh(len(question.Terms), wanted, having, all)
	worth := func(w wantedWord) (worth float64) {
		for term, likeness := range w.terms {
			worth = max(worth, likeness*likeness*weights[term])
		}
		return worth
	}
	slices.SortFunc(wanted, func(a, b wantedWord) int {
		return cmp.Or(cmp.Compare(worth(b), worth(a)), strings.Compare(a.word, b.word))
	})
	return wanted[:min(len(wanted), maxWanted)], weights, nil
}

// weigh returns the weight of each term of a question among all requests, of which having says how many have each
// word. It is that of the word the term most probably stands for; of several, the most frequent.
func weigh(terms int, wanted []wantedWord, having map[string]int64, all int64) []float64 {
	weights, best := make([]float64, terms), make([]float64, terms)
	for _, w := range wanted {
		if having[w.word] == 0 {
			continue
		}
		for term, likeness := range w.terms {
			weight := search.Weight(having[w.word], all)
			if likeness > best[term] || likeness == best[term] && weight < weights[term] {
				best[term], weights[term] = likeness, weight
			}
		}
	}
	for i := range weights {
		if best[i] == 0 { // no request has the word or one like it
			weights[i] = search.Weight(all/100, all)
		}
	}
	return weights
}

// meantWords returns how much each of the words that a question may mean is like its terms.
func meantWords(question search.Question, variants [][]search.Variant) map[string]map[int]float64 {
	meant := map[string]map[int]float64{}
	mean := func(word string, term int, likeness float64) {
		if meant[word] == nil {
			meant[word] = map[int]float64{}
		}
		meant[word][term] = max(meant[word][term], likeness)
	}
	for i, term := range question.Terms {
		for _, variant := range variants[i] {
			mean(variant.Word, i, variant.Likeness)
		}
		mean(term, i, 1)
	}
	return meant
}

// liveRequests returns how many requests of an app are live.
func (r *reading) liveRequests(ctx context.Context, q database.Queryer, appID feedback.ID) (n int64, err error) {
	err = q.QueryRowContext(ctx, "SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM request_counts"+
		" WHERE account_id = $1 AND app_id = $2 AND box = $3", r.accountID, appID, string(feedback.Live)).Scan(&n)
	return n, err
}

// wordCounts returns about how many requests have each of the words.
func (r *reading) wordCounts(
	ctx context.Context, q database.Queryer, appID feedback.ID, of map[string]map[int]float64,
) (map[string]wordCount, error) {
	words := slices.Sorted(maps.Keys(of))
	in, err := blocksWith(ctx, q, []appWords{{r.accountID, appID, words}})
	if err != nil {
		return nil, err
	}
	blocks := make(map[string][]blockCount, len(words))
	var keys []listKey
	for word, with := range in[0] {
		var of []blockCount
		for at, b := range slices.Backward(r.blocks) {
			if with.has(blockBit(b.number)) {
				of = append(of, blockCount{at: at})
			}
		}
		for _, b := range of[:min(len(of), countedBlocks)] {
			keys = append(keys, listKey{b.at, word})
		}
		blocks[word] = of
	}
	lists, err := r.pick(ctx, q, appID, keys)
	if err != nil {
		return nil, err
	}
	counts := make(map[string]wordCount, len(words))
	for word, of := range blocks {
		for i := range of[:min(len(of), countedBlocks)] {
			list := lists[listKey{of[i].at, word}]
			of[i].n, of[i].stored = list.n, list.stored
		}
		counts[word] = wordCount{estimate(of), of}
	}
	return counts, nil
}

// estimate sets the counts of the blocks after countedBlocks to the average of those before,
// and returns the sum of all.
func estimate(blocks []blockCount) (sum int64) {
	average := int64(1)
	for i := range blocks {
		if i == countedBlocks {
			average = max(1, sum/countedBlocks)
		}
		if i >= countedBlocks {
			blocks[i].n = average
		}
		sum += blocks[i].n
	}
	return sum
}

// candidate is a request that has some of the words, and how well it matches each term.
type candidate struct {
	standing
	id    feedback.ID
	found []float64
}

// standing says where a candidate is, and how much its words are worth.
type standing struct {
	worth   float32
	at      int32 // the place of its block in the reading, or inTail
	ordinal int64 // above all others, in the same order, for requests in the log's tail
}

const inTail = -1

// candidates returns at most maxCandidates requests that have some of the words, those with
// the highest weights first. It leaves out those that are not among others, unless that is
// nil. all says whether it returns every request that has one of the words. identify sets their ids.
func (r *reading) candidates(
	ctx context.Context, q database.Queryer, appID feedback.ID, wanted []wantedWord, weights []float64, others *found,
) (candidates []candidate, all bool, err error) {
	c := newContest(wanted, weights)
	if c.lists, all, err = r.wantedLists(ctx, q, appID, wanted); err != nil {
		return nil, false, err
	}
	c.tail = r.tail
	if others != nil {
		c.tail = others.tail
	}
	for i := range slices.Backward(c.tail) { // the newest first
		c.addTail(i)
	}
	for at, b := range slices.Backward(r.blocks) {
		if c.lists[at] != nil {
			c.addBlock(at, b.number, r.allowed(&b, others))
		}
	}
	c.cut()
	candidates = make([]candidate, 0, len(c.best))
	for _, s := range c.best {
		of := candidate{standing: s, found: c.found(s)}
		if s.at == inTail {
			of.id = c.documentAt(s).id
		}
		candidates = append(candidates, of)
	}
	return candidates, all && !c.lost && len(wanted) < maxWanted, nil
}

// allowed returns the ordinals of a block that may be candidates.
func (r *reading) allowed(b *block, others *found) (s set) {
	if others != nil {
		i, there := slices.BinarySearchFunc(others.blocks, b.number, func(h hits, number int64) int { return cmp.Compare(h.number, number) })
		if there {
			s = others.blocks[i].set
		}
		return s
	}
	s.fill(b.n)
	for _, ordinal := range r.stale[blockKey{b.appID, b.number}] {
		s.remove(ordinal)
	}
	return s
}

// contest finds the candidates with the highest worth.
type contest struct {
	wanted []wantedWord
	terms  int
	gains  [][]gain // for each term
	lists  [][]*set // for each block of a reading and each word, or nil
	tail   []*document
	best   []standing
	least  float32 // candidates need more
	lost   bool    // whether there are more candidates than are kept
}

// gain is what a word adds to the worth of a request that has it, for a term that it stands for.
type gain struct {
	word  int // its place among the wanted ones
	worth float32
}

func newContest(wanted []wantedWord, weights []float64) *contest {
	c := &contest{wanted: wanted, terms: len(weights), gains: make([][]gain, len(weights))}
	for i := range wanted {
		for term, likeness := range wanted[i].terms {
			c.gains[term] = append(c.gains[term], gain{i, float32(weights[term] * likeness)})
		}
	}
	for _, of := range c.gains { // the best first
		slices.SortFunc(of, func(a, b gain) int { return cmp.Or(cmp.Compare(b.worth, a.worth), cmp.Compare(a.word, b.word)) })
	}
	return c
}

// documentAt returns a request of the tail.
func (c *contest) documentAt(s standing) *document {
	return c.tail[int64(len(c.tail))-(math.MaxInt64-s.ordinal)]
}

// has reports whether a candidate has a word.
func (c *contest) has(s standing, word int) bool {
	if s.at == inTail {
		return c.documentAt(s).has(c.wanted[word].word)
	}
	list := c.lists[s.at][word]
	return list != nil && list.has(int(s.ordinal%blockSize))
}

// found returns how well a candidate matches each term.
func (c *contest) found(s standing) []float64 {
	found := make([]float64, c.terms)
	for word := range c.wanted {
		if !c.has(s, word) {
			continue
		}
		for term, likeness := range c.wanted[word].terms {
			found[term] = max(found[term], likeness)
		}
	}
	return found
}

// addBlock adds the requests of a block that are allowed and have any of the words.
func (c *contest) addBlock(at int, number int64, allowed set) {
	var worth [blockSize]float32
	var having set
	for _, gains := range c.gains {
		var before set // with a better word for the term
		for _, g := range gains {
			list := c.lists[at][g.word]
			if list == nil {
				continue
			}
			for i, word := range list {
				left := word & allowed[i] &^ before[i]
				before[i] |= word
				having[i] |= left
				for ; left != 0; left &= left - 1 {
					worth[i*64+bits.TrailingZeros64(left)] += g.worth
				}
			}
		}
	}
	for i := having.prev(blockSize - 1); i >= 0; i = having.before(i) {
		c.add(standing{worth: worth[i], at: int32(at), ordinal: number*blockSize + int64(i)}) //nolint:gosec // an app has fewer blocks
	}
}

// addTail adds the i-th request of the log's tail, if it has any of the words.
func (c *contest) addTail(i int) {
	of := standing{at: inTail, ordinal: math.MaxInt64 - int64(len(c.tail)-i)}
	for _, gains := range c.gains {
		if i := slices.IndexFunc(gains, func(g gain) bool { return c.has(of, g.word) }); i >= 0 {
			of.worth += gains[i].worth
		}
	}
	c.add(of)
}

// add adds a candidate that comes after those before it in the order of ordinals, the greatest first.
func (c *contest) add(of standing) {
	if of.worth <= c.least {
		return
	}
	if c.best = append(c.best, of); len(c.best) == 8*maxCandidates {
		c.cut()
	}
}

// cut keeps the best candidates.
func (c *contest) cut() {
	slices.SortFunc(c.best, func(a, b standing) int {
		return cmp.Or(cmp.Compare(b.worth, a.worth), cmp.Compare(b.ordinal, a.ordinal))
	})
	if len(c.best) > maxCandidates {
		c.best, c.lost = c.best[:maxCandidates], true
		c.least = c.best[maxCandidates-1].worth
	}
}

// identify sets the ids of candidates.
func (r *reading) identify(ctx context.Context, q database.Queryer, appID feedback.ID, candidates []candidate) error {
	var ordinals []int64
	for i := range candidates {
		if candidates[i].at != inTail {
			ordinals = append(ordinals, candidates[i].ordinal)
		}
	}
	ids, err := r.ids(ctx, q, appID, ordinals)
	for i := range candidates {
		if id, there := ids[candidates[i].ordinal]; there {
			candidates[i].id = id
		}
	}
	return err
}

// wantedLists reads posting lists of the words, for each block of the reading, and reports whether these are all.
func (r *reading) wantedLists(
	ctx context.Context, q database.Queryer, appID feedback.ID, wanted []wantedWord,
) (lists [][]*set, all bool, err error) {
	lists = make([][]*set, len(r.blocks))
	add := func(at, word int, stored []byte) error {
		if lists[at] == nil {
			lists[at] = make([]*set, len(wanted))
		}
		lists[at][word] = new(set)
		return lists[at][word].addStored(stored)
	}
	chosen, all := listsToRead(wanted)
	var unread []listKey
	for word, blocks := range chosen {
		for _, b := range blocks {
			if b.stored == nil {
				unread = append(unread, listKey{b.at, wanted[word].word})
			} else if err := add(b.at, word, b.stored); err != nil {
				return nil, false, err
			}
		}
	}
	slices.SortFunc(unread, func(a, b listKey) int { return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.term, b.term)) })
	read, err := r.pick(ctx, q, appID, unread)
	if err != nil {
		return nil, false, err
	}
	for word := range wanted {
		for _, b := range chosen[word] {
			// Blocks that share a place in index_words need not have the word.
			if l, there := read[listKey{b.at, wanted[word].word}]; there {
				if err := add(b.at, word, l.stored); err != nil {
					return nil, false, err
				}
			}
		}
	}
	return lists, all, nil
}

// listsToRead returns for each word the newest blocks whose posting lists are read, and reports whether these are all
// blocks with the words. The first words are the most useful ones, and are read whole if possible.
func listsToRead(wanted []wantedWord) (chosen [][]blockCount, all bool) {
	chosen, all = make([][]blockCount, len(wanted)), true
	lists, postings := maxLists, int64(maxPostings)
	for word, w := range wanted {
		n := 0
		for ; n < len(w.blocks) && postings > 0; n++ {
			if w.blocks[n].stored == nil {
				if lists == 0 {
					break
				}
				lists--
			}
			postings -= w.blocks[n].n
		}
		chosen[word] = w.blocks[:n]
		all = all && n == len(w.blocks)
	}
	return chosen, all
}
