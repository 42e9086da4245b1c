package index

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// world is a small app whose requests have some of the wanted words.
type world struct {
	*contest
	reading reading
	weights []float64
}

func newWorld(t *rapid.T) world {
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	w := world{weights: []float64{1, 2, 0.5}}
	wanted := make([]wantedWord, rapid.IntRange(1, 5).Draw(t, "words"))
	for i := range wanted {
		wanted[i] = wantedWord{word: fmt.Sprint("w", i), terms: map[int]float64{}}
		for range 1 + random.IntN(2) {
			wanted[i].terms[random.IntN(len(w.weights))] = float64(1+random.IntN(4)) / 4
		}
	}
	w.contest = newContest(wanted, w.weights)
	for at := range 3 {
		w.reading.blocks = append(w.reading.blocks, block{number: int64(at * 2), n: blockSize})
		w.lists = append(w.lists, nil)
		if random.IntN(4) == 0 {
			continue
		}
		w.lists[at] = make([]*set, len(wanted))
		for word := range wanted {
			if random.IntN(4) == 0 {
				continue
			}
			w.lists[at][word] = new(set)
			for range rapid.SampledFrom([]int{3, 300, 9000}).Draw(t, "requests") {
				w.lists[at][word].add(random.IntN(blockSize))
			}
		}
	}
	w.reading.stale = map[blockKey][]int{}
	for i := 0; i < blockSize; i += 5 {
		w.reading.stale[blockKey{number: 2}] = append(w.reading.stale[blockKey{number: 2}], i)
	}
	for range rapid.IntRange(0, 20).Draw(t, "tail") {
		d := &document{}
		for _, of := range wanted {
			if random.IntN(2) == 0 {
				d.terms = append(d.terms, of.word)
			}
		}
		w.tail = append(w.tail, d)
	}
	return w
}

// all returns every candidate in their order.
func (w world) all() (all []standing) {
	add := func(s standing, has func(word int) bool) {
		having := false
		for term, weight := range w.weights {
			best := float32(0)
			for word, of := range w.wanted {
				if has(word) {
					having, best = true, max(best, float32(weight*of.terms[term]))
				}
			}
			s.worth += best
		}
		if having {
			all = append(all, s)
		}
	}
	for at, lists := range w.lists {
		for i := range blockSize {
			if lists != nil && !slices.Contains(w.reading.stale[blockKey{number: w.reading.blocks[at].number}], i) {
				add(standing{at: int32(at), ordinal: w.reading.blocks[at].number*blockSize + int64(i)}, func(word int) bool {
					return lists[word] != nil && lists[word].has(i)
				})
			}
		}
	}
	for i, d := range w.tail {
		add(standing{at: inTail, ordinal: math.MaxInt64 - int64(len(w.tail)-i)}, func(word int) bool {
			return slices.Contains(d.terms, w.wanted[word].word)
		})
	}
	slices.SortFunc(all, func(a, b standing) int {
		return cmp.Or(cmp.Compare(b.worth, a.worth), cmp.Compare(b.ordinal, a.ordinal))
	})
	return all
}

// TestContest compares the candidates of a contest with those of a search through all requests.
func TestContest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for i := range slices.Backward(w.tail) {
			w.addTail(i)
		}
		for at, b := range slices.Backward(w.reading.blocks) {
			if w.lists[at] != nil {
				w.addBlock(at, b.number, w.reading.allowed(&b, nil))
			}
		}
		w.cut()
		all := w.all()
		want := all[:min(len(all), maxCandidates)]
		if !slices.Equal(w.best, want) || w.lost != (len(all) > maxCandidates) {
			t.Fatalf("%d of %d candidates, lost %t; want %+v, not %+v", len(w.best), len(all), w.lost, want, w.best)
		}
		for _, s := range w.best {
			worth := float32(0)
			for term, likeness := range w.found(s) {
				worth += float32(w.weights[term] * likeness)
			}
			if worth != s.worth {
				t.Fatalf("%+v matches the terms by %v, which is worth %v", s, w.found(s), worth)
			}
		}
	})
}

// TestAllowed: of each block, those are allowed that are among the others.
func TestAllowed(t *testing.T) {
	others := &found{}
	for _, number := range []int64{0, 2, 5, 6, 9} {
		h := hits{block: &block{number: number}}
		h.add(int(number) + 1)
		others.blocks = append(others.blocks, h)
	}
	for number := range int64(11) {
		r := reading{}
		got := r.allowed(&block{number: number, n: blockSize}, others)
		want := set{}
		if slices.Contains([]int64{0, 2, 5, 6, 9}, number) {
			want.add(int(number) + 1)
		}
		if got != want {
			t.Errorf("block %d allows %v", number, listed(&got))
		}
	}
}
