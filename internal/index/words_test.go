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

// TestListsToRead: words in few blocks are read whole; of the others, the newest blocks that
// have their shares are read, and altogether no more than maxLists.
func TestListsToRead(t *testing.T) {
	word := func(name string, blocks int, each int64) wantedWord {
		w := wantedWord{word: name}
		for at := blocks - 1; at >= 0; at-- {
			w.blocks = append(w.blocks, blockCount{at: at, n: each})
		}
		return w
	}
	read := func(shares map[string]int64, wanted ...wantedWord) (lists map[string][]int, all bool) {
		chosen, all := listsToRead(wanted, shares)
		lists = map[string][]int{}
		for i, blocks := range chosen {
			for _, b := range blocks {
				lists[wanted[i].word] = append(lists[wanted[i].word], b.at)
			}
		}
		return lists, all
	}
	lists, all := read(map[string]int64{"rare": 100, "often": 100}, word("often", 5, 40), word("rare", 3, 2))
	if !slices.Equal(lists["rare"], []int{2, 1, 0}) || !slices.Equal(lists["often"], []int{4, 3, 2}) || all {
		t.Errorf("read %v, all %v", lists, all)
	}
	if lists, all = read(map[string]int64{"rare": 6}, word("rare", 3, 2)); len(lists["rare"]) != 3 || !all {
		t.Errorf("read %v, all %v", lists, all)
	}
	many := []wantedWord{word("a", 3, 1)}
	shares := map[string]int64{"a": 1 << 40}
	for i := range 31 {
		many = append(many, word(string(rune('b'+i)), 1000, 1))
		shares[many[i+1].word] = 1 << 40
	}
	lists, all = read(shares, many...)
	n := 0
	for name, of := range lists {
		n += len(of)
		if of[0] != 999 && name != "a" {
			t.Errorf("%s is read from block %d first", name, of[0])
		}
	}
	if n != maxLists || len(lists["a"]) != 3 || len(lists) != 32 || all {
		t.Errorf("%d lists of %d words are read, %v of the rare one, all %v", n, len(lists), lists["a"], all)
	}
}
