package index

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPack: terms are the same after they were packed, whatever was packed before.
func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		terms := rapid.SliceOfN(rapid.StringMatching(`[^\x1f]*|the|!box live`), 1, 50).Draw(t, "terms")
		packed, err := pack(terms)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Unpack(packed); err != nil || !slices.Equal(got, terms) {
			t.Fatalf("%q, %v", got, err)
		}
	})
}

// usual are terms of a request.
var usual = strings.Split("!assignee none|!box live|!hidden false|!source widget|!status opened|#e:grace@example.org|@example|@grace|"+
	"a|am|and|bright|browser|colors|dark|for|i|in|is|it|mode|night|please|room|settings|the|theme|thing|to|work", "|")

// TestPackedSize: a usual request has half of the bytes, and a damaged row is an error.
func TestPackedSize(t *testing.T) {
	packed, err := pack(usual)
	if all := len(strings.Join(usual, separator)); err != nil || 2*len(packed) > all {
		t.Errorf("%d bytes of %d, %v", len(packed), all, err)
	}
	if terms, err := Unpack(packed[:len(packed)/2]); err == nil {
		t.Errorf("half of a row is %q", terms)
	}
}

func BenchmarkPack(b *testing.B) {
	for b.Loop() {
		_, _ = pack(usual)
	}
}

func BenchmarkUnpack(b *testing.B) {
	packed, _ := pack(usual)
	for b.Loop() {
		_, _ = Unpack(packed)
	}
}

// TestDictionary: the dictionary does not change by accident: rows that were packed with another one could not be read, or
// would have other terms.
func TestDictionary(t *testing.T) {
	const want = "4ef778671f47af9e"
	if got := fmt.Sprintf("%x", sha256.Sum256(dictionary)); got[:16] != want {
		t.Errorf("%s, want %s: add a migration that empties the index", got[:16], want)
	}
}
