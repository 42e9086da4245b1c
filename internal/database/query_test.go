package database

import (
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
