package index

import (
	"slices"
	"testing"
)

// TestBlocksOfWords: each block has a place of its own, as far as there are places.
func TestBlocksOfWords(t *testing.T) {
	for number, want := range map[int64]int{0: 0, 5: 5, blockSize - 2: blockSize - 2, blockSize - 1: blockSize - 1, 1 << 40: blockSize - 1} {
		if got := blockBit(number); got != want {
			t.Errorf("block %d has place %d, want %d", number, got, want)
		}
	}
}

// TestEstimate: the blocks that are not counted have as many requests with a word as the
// others on average, and one at least.
func TestEstimate(t *testing.T) {
	blocks := func(n int, count int64) []blockCount { return slices.Repeat([]blockCount{{n: count}}, n) }
	for name, c := range map[string]struct {
		blocks []blockCount
		want   int64
	}{
		"none":      {nil, 0},
		"counted":   {blocks(countedBlocks, 3), 3 * countedBlocks},
		"estimated": {append(blocks(countedBlocks, 30), blocks(10, 0)...), 30 * (countedBlocks + 10)},
		"rare":      {append(blocks(countedBlocks, 0), blocks(4, 0)...), 4},
	} {
		if got := estimate(c.blocks); got != c.want {
			t.Errorf("%s: %d requests, want %d", name, got, c.want)
		}
	}
	mixed := append(blocks(1, 8), blocks(countedBlocks, 0)...)
	estimate(mixed)
	if last := mixed[countedBlocks]; last.n != 1 {
		t.Errorf("the last block has %d, want the average of 1", last.n)
	}
}

// TestListsToRead: words are read whole in their order, as long as lists and postings may be read. Lists that were counted
// are there already.
func TestListsToRead(t *testing.T) {
	word := func(blocks, counted int, each int64) (w wantedWord) {
		for i := range blocks {
			b := blockCount{at: blocks - 1 - i, n: each}
			if i < counted {
				b.stored = []byte{asGaps}
			}
			w.blocks = append(w.blocks, b)
		}
		return w
	}
	for _, c := range []struct {
		name   string
		wanted []wantedWord
		read   []int // how many blocks of each word
		all    bool
	}{
		{"all", []wantedWord{word(5, 5, 40), word(30, 8, 2), word(0, 0, 0)}, []int{5, 30, 0}, true},
		{"as many lists as may be", []wantedWord{word(maxLists, 0, 1), word(8, 8, 1)}, []int{maxLists, 8}, true},
		{"more lists", []wantedWord{word(500, 8, 1), word(maxLists, 8, 1), word(9, 8, 1)}, []int{500, maxLists - 500 + 8 + 8, 8}, false},
		{"as many postings as may be", []wantedWord{word(2, 2, maxPostings/2)}, []int{2}, true},
		{"more postings", []wantedWord{word(2, 2, 1), word(3, 2, maxPostings/2), word(1, 1, 1)}, []int{2, 2, 0}, false},
	} {
		chosen, all := listsToRead(c.wanted)
		for i, blocks := range chosen {
			if len(blocks) != c.read[i] || len(blocks) > 0 && blocks[0].at != c.wanted[i].blocks[0].at {
				t.Errorf("%s: %d blocks of word %d are read, want %d, the newest first", c.name, len(blocks), i, c.read[i])
			}
		}
		if all != c.all {
			t.Errorf("%s: all %t", c.name, all)
		}
	}
}
