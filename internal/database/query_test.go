package database

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
)

// TestEach: rows are visited in their order, until one returns an error. No result is then half of the rows.
func TestEach(t *testing.T) {
	const query = "SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3"
	db, ctx, damaged := openForTest(t), context.Background(), errors.New("damaged")
	for last, want := range map[int]error{2: damaged, 3: damaged, 4: nil} {
		n := 0
		scan := func(r Row) (i int, err error) {
			n++
			if err = r.Scan(&i); i == last {
				err = damaged
			}
			return i, err
		}
		err := Each(ctx, db.Reader(), func(r Row) error { _, err := scan(r); return err }, query)
		if !errors.Is(err, want) || n != min(last, 3) {
			t.Errorf("until %d: %d rows, %v", last, n, err)
		}
		if list, err := All(ctx, db.Reader(), scan, query); !errors.Is(err, want) || err != nil && list != nil || err == nil && len(list) != 3 {
			t.Errorf("all until %d: %v, %v", last, list, err)
		}
	}
}

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
