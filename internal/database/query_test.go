package database

import (
	"maps"
	"slices"
	"testing"
)

// TestPadded: a list gets the length of the next power of two, and the values that it had.
func TestPadded(t *testing.T) {
	for _, c := range []struct{ list, want []int }{
		{nil, nil},
		{[]int{1}, []int{1}},
		{[]int{1, 2}, []int{1, 2}},
		{[]int{1, 2, 3}, []int{1, 2, 3, 3}},
		{[]int{1, 2, 3, 4, 5}, []int{1, 2, 3, 4, 5, 5, 5, 5}},
	} {
		spare := append(slices.Clone(c.list), 9)
		if got := Padded(spare[:len(c.list)]); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.list, got, c.want)
		}
		if spare[len(c.list)] != 9 {
			t.Errorf("%v: wrote past its end", c.list)
		}
	}
}

// TestPieces: a list is cut into few pieces of few different lengths.
func TestPieces(t *testing.T) {
	lengths := map[int]bool{}
	for n := range 1000 {
		list := make([]int, n)
		for i := range list {
			list[i] = i
		}
		pieces := Pieces(list)
		if joined := slices.Concat(pieces...); !slices.Equal(joined, list) {
			t.Fatalf("%d elements: %d", n, joined)
		}
		if n <= 71 && len(pieces) > 2 {
			t.Errorf("%d elements make %d pieces", n, len(pieces))
		}
		for _, piece := range pieces {
			lengths[len(piece)] = true
		}
	}
	if len(lengths) != 21 || !lengths[256] {
		t.Errorf("%d lengths: %v", len(lengths), slices.Sorted(maps.Keys(lengths)))
	}
}
