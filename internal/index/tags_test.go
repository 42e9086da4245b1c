package index

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestTagRows: the row of a block's tags has what was added and not removed again.
func TestTagRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := map[string]map[int]bool{}
		var packed []byte
		for range rapid.IntRange(1, 8).Draw(t, "changes") {
			flips := map[string][]flip{}
			for range rapid.IntRange(1, 6).Draw(t, "flips") {
				term := byTag.term(rapid.SampledFrom([]string{"a", "b", "billing", "ü", "x y"}).Draw(t, "tag"))
				f := flip{rapid.IntRange(0, 5).Draw(t, "ordinal") * 1_433, rapid.Bool().Draw(t, "added")}
				flips[term] = append(flips[term], f)
				if want[term] == nil {
					want[term] = map[int]bool{}
				}
				delete(want[term], f.ordinal)
				if f.added {
					want[term][f.ordinal] = true
				}
			}
			maps.DeleteFunc(want, func(_ string, of map[int]bool) bool { return len(of) == 0 })
			changed, n, err := changeTags(packed, flips)
			if err != nil || n != len(want) {
				t.Fatalf("%d tags, want %d: %v", n, len(want), err)
			}
			packed = changed
		}
		got, before := map[string]map[int]bool{}, ""
		if err := eachTag(packed, func(term string, stored []byte) error {
			if term <= before {
				t.Fatalf("%q follows %q", term, before)
			}
			before, got[term] = term, map[int]bool{}
			return walkAll(stored, func(i int) { got[term][i] = true })
		}); err != nil {
			t.Fatal(err)
		}
		if !maps.EqualFunc(got, want, maps.Equal) {
			t.Fatalf("the row has %v, want %v", got, want)
		}
	})
}

// walkAll calls visit for each ordinal of a stored set.
func walkAll(stored []byte, visit func(int)) error {
	var list set
	err := list.addStored(stored)
	for i := list.next(0); i >= 0; i = list.after(i) {
		visit(i)
	}
	return err
}

// FuzzTagRow: whatever is stored, it is either refused or the lists that it is made of.
func FuzzTagRow(f *testing.F) {
	f.Add([]byte{})
	f.Add(packTags(map[string][]byte{"!tag a": {asGaps, 1}, "!tag b": {asBitmap, 255}}))
	f.Add([]byte{3, 'a'})
	f.Add([]byte{1, 'a', 0})
	f.Add([]byte{1, 'a', 1})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 'a'})
	f.Fuzz(func(t *testing.T, packed []byte) {
		lists, terms := map[string][]byte{}, []string{}
		if err := eachTag(packed, func(term string, stored []byte) error {
			if term == "" || len(stored) == 0 {
				t.Fatalf("a list without a term, or without content: %q %v", term, stored)
			}
			lists[term], terms = stored, append(terms, term)
			return nil
		}); err != nil {
			return
		}
		again := map[string][]byte{}
		if err := eachTag(packTags(lists), func(term string, stored []byte) error {
			again[term] = stored
			return nil
		}); err != nil || !maps.EqualFunc(again, lists, slices.Equal) {
			t.Fatalf("%q became %v: %v", terms, again, err)
		}
	})
}
