package index

import (
	"cmp"
	"context"
	"maps"
	"math"
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
	// maxLists is how many posting lists are read for one question.
	maxLists = 512
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
	id      feedback.ID
	ordinal int64 // that of a request in the log's tail is above all others
	found   []float64
	worth   float64
}

// candidates returns at most maxCandidates requests that have some of the words, those with
// the highest weights first. It leaves out those that are not among others, unless that is
// nil. all says whether it returns every request that has one of the words.
func (r *reading) candidates(
	ctx context.Context, q database.Queryer, appID feedback.ID, wanted []wantedWord, weights []float64, others *found,
) (found []candidate, all bool, err error) {
	byOrdinal := map[int64]*candidate{}
	add := func(ordinal int64, w *wantedWord) {
		c := byOrdinal[ordinal]
		if c == nil {
			c = &candidate{ordinal: ordinal, found: make([]float64, len(weights))}
			byOrdinal[ordinal] = c
		}
		for term, likeness := range w.terms {
			c.found[term] = max(c.found[term], likeness)
		}
	}
	if all, err = r.newest(ctx, q, appID, wanted, add); err != nil {
		return nil, false, err
	}
	for key, ordinals := range r.stale {
		for _, ordinal := range ordinals {
			if key.appID == appID {
				delete(byOrdinal, key.number*blockSize+int64(ordinal))
			}
		}
	}
	tail := r.tail
	if others != nil {
		in := map[int64]*set{}
		for i := range others.blocks {
			in[others.blocks[i].number] = &others.blocks[i].set
		}
		maps.DeleteFunc(byOrdinal, func(ordinal int64, _ *candidate) bool {
			list := in[ordinal/blockSize]
			return list == nil || !list.has(int(ordinal%blockSize))
		})
		tail = others.tail
	}
	for i, d := range tail {
		for at := range wanted {
			if d.has(wanted[at].word) {
				add(math.MaxInt64-int64(len(tail)-i), &wanted[at])
			}
		}
	}
	found = make([]candidate, 0, len(byOrdinal))
	for _, c := range byOrdinal {
		for term, likeness := range c.found {
			c.worth += weights[term] * likeness
		}
		found = append(found, *c)
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.worth, a.worth), cmp.Compare(b.ordinal, a.ordinal))
	})
	all = all && len(found) <= maxCandidates
	found = found[:min(len(found), maxCandidates)]
	return found, all, r.identify(ctx, q, appID, tail, found)
}

// identify sets the ids of candidates.
func (r *reading) identify(ctx context.Context, q database.Queryer, appID feedback.ID, tail []*document, candidates []candidate) error {
	var ordinals []int64
	for i := range candidates {
		c := &candidates[i]
		if before := math.MaxInt64 - c.ordinal; before <= int64(len(tail)) {
			c.id = tail[len(tail)-int(before)].id
		} else {
			ordinals = append(ordinals, c.ordinal)
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

// newest calls add for the newest ordinals of each word: for all of the rare words, while
// frequent words share what is left of maxPostings. all says whether these were all.
func (r *reading) newest(
	ctx context.Context, q database.Queryer, appID feedback.ID, wanted []wantedWord, add func(int64, *wantedWord),
) (all bool, err error) {
	all = len(wanted) < maxWanted
	left := shareOut(wanted)
	chosen, complete := listsToRead(wanted, left)
	var unread []listKey
	for i, blocks := range chosen {
		for _, b := range blocks {
			if b.stored == nil {
				unread = append(unread, listKey{b.at, wanted[i].word})
			}
		}
	}
	read, err := r.pick(ctx, q, appID, unread)
	if err != nil {
		return false, err
	}
	for i := range wanted {
		w := &wanted[i]
		for _, b := range chosen[i] {
			stored := b.stored
			if stored == nil {
				stored = read[listKey{b.at, w.word}].stored
			}
			if stored == nil { // blocks that share a place in index_words
				continue
			}
			var list set
			if err := list.addStored(stored); err != nil {
				return false, err
			}
			for i := list.prev(blockSize - 1); i >= 0; i = list.before(i) {
				if left[w.word] == 0 {
					complete = false
					break
				}
				add(r.blocks[b.at].number*blockSize+int64(i), w)
				left[w.word]--
			}
		}
	}
	return all && complete, nil
}

// listsToRead returns, for each word, the newest blocks whose posting lists have its share, and
// reports whether these are all blocks with the words. Words in few blocks come first.
func listsToRead(wanted []wantedWord, shares map[string]int64) (chosen [][]blockCount, all bool) {
	order := make([]int, len(wanted))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(wanted[a].blocks), len(wanted[b].blocks)) })
	chosen, all = make([][]blockCount, len(wanted)), true
	left := maxLists
	for done, i := range order {
		w := &wanted[i]
		most, have, n := left/(len(order)-done), int64(0), 0
		for n < min(most, len(w.blocks)) && have < shares[w.word] {
			have += w.blocks[n].n
			n++
		}
		chosen[i], left = w.blocks[:n], left-n
		all = all && n == len(w.blocks)
	}
	return chosen, all
}

// shareOut returns how many postings of each word are read.
func shareOut(wanted []wantedWord) map[string]int64 {
	order := slices.Clone(wanted)
	slices.SortStableFunc(order, func(a, b wantedWord) int { return cmp.Compare(a.n, b.n) })
	left, shares := int64(maxPostings), map[string]int64{}
	for i, w := range order {
		shares[w.word] = max(leastPostings, left/int64(len(order)-i))
		left -= min(shares[w.word], w.n)
	}
	return shares
}
