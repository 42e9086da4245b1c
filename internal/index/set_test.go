package index

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// ordinalsIn draws ordinals as they occur: few of them, runs, and nearly all.
func ordinalsIn(t *rapid.T) []int {
	drawn := rapid.SliceOfDistinct(rapid.IntRange(0, blockSize-1), rapid.ID).Draw(t, "ordinals")
	if rapid.Bool().Draw(t, "many") {
		from := rapid.IntRange(0, blockSize).Draw(t, "from")
		until := rapid.IntRange(from, blockSize).Draw(t, "until")
		step := rapid.IntRange(1, 40).Draw(t, "step")
		for i := from; i < until; i += step {
			drawn = append(drawn, i)
		}
	}
	slices.Sort(drawn)
	return slices.Compact(drawn)
}

func setOf(ordinals []int) (s set) {
	for _, i := range ordinals {
		s.add(i)
	}
	return s
}

func listed(s *set) (ordinals []int) {
	for i := s.next(0); i >= 0; i = s.after(i) {
		ordinals = append(ordinals, i)
	}
	return ordinals
}

// TestSet compares a set with a list of ordinals.
func TestSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := ordinalsIn(t), ordinalsIn(t)
		inA := func(i int) bool { return slices.Contains(a, i) }
		x, y := setOf(a), setOf(b)
		if got := listed(&x); !slices.Equal(got, a) || x.count() != len(a) {
			t.Fatalf("%d ordinals became %d", len(a), len(got))
		}
		back := []int{}
		for i := x.prev(blockSize - 1); i >= 0; i = x.before(i) {
			back = append(back, i)
		}
		slices.Reverse(back)
		if !slices.Equal(back, slices.Concat([]int{}, a)) {
			t.Fatalf("backwards, %d ordinals became %d", len(a), len(back))
		}
		both := slices.DeleteFunc(slices.Clone(b), func(i int) bool { return !inA(i) })
		if n := x.common(&y); n != len(both) {
			t.Fatalf("%d in common, want %d", n, len(both))
		}
		stored := y.encode()
		l, err := newList("", stored)
		if n := l.among(&x); n != len(both) || err != nil {
			t.Fatalf("%d in common with the list, want %d: %v", n, len(both), err)
		}
		if got := l.bytes() - listOverhead; got != min(2*len(b), blockSize/8) {
			t.Fatalf("a list of %d ordinals takes %d bytes", len(b), got)
		}
		either := x
		if err := either.addStored(stored); err != nil {
			t.Fatal(err)
		}
		all := slices.Sorted(slices.Values(append(slices.Clone(a), b...)))
		if got := listed(&either); !slices.Equal(got, slices.Compact(all)) {
			t.Fatalf("%d in either, want %d", len(got), len(all))
		}
		from, until := rapid.IntRange(0, blockSize).Draw(t, "keep from"), rapid.IntRange(0, blockSize).Draw(t, "keep until")
		kept := x
		kept.keep(from, until)
		if got := listed(&kept); !slices.Equal(got, slices.DeleteFunc(slices.Clone(a), func(i int) bool { return i < from || i >= until })) {
			t.Fatalf("kept %d of %d", len(got), len(a))
		}
		var full set
		if n := x.countIn(from, until); n != kept.count() {
			t.Fatalf("%d from %d to %d, want %d", n, from, until, kept.count())
		}
		full.fill(from)
		if full.count() != from || full.prev(blockSize-1) != from-1 {
			t.Fatalf("filled %d of %d", full.count(), from)
		}
		x.and(&y)
		if !slices.Equal(listed(&x), slices.Clip(both)) && len(both) > 0 {
			t.Fatalf("%d in both, want %d", x.count(), len(both))
		}
		if len(stored) > 1+blockSize/8 {
			t.Fatalf("%d bytes", len(stored))
		}
	})
}

// FuzzStored: whatever is stored, it is either refused or a set with one stored form.
func FuzzStored(f *testing.F) {
	few, many := setOf([]int{0, 1, 130, blockSize - 1}), setOf([]int{5})
	many.fill(5000)
	for _, s := range []set{{}, few, many} {
		f.Add(s.encode())
	}
	f.Add([]byte{asGaps, 0x80})
	f.Add([]byte{asGaps, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Add(bytes.Repeat([]byte{asBitmap}, blockSize/8+2))
	f.Fuzz(func(t *testing.T, stored []byte) {
		var s, again set
		_, err := newList("", stored)
		if failed := s.addStored(stored); (failed == nil) != (err == nil) {
			t.Fatalf("%v and %v", failed, err)
		}
		if err != nil {
			return
		}
		if err := again.addStored(s.encode()); err != nil || again != s {
			t.Fatalf("%d ordinals became %d: %v", s.count(), again.count(), err)
		}
	})
}
