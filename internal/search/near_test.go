package search

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func vocabularyOf(words ...string) *Vocabulary {
	slices.Sort(words)
	v := &Vocabulary{}
	for _, word := range slices.Compact(words) {
		v.Add(word)
	}
	return v
}

// plainNear finds similar words by comparing a term with every word.
func plainNear(words []string, term string, most int) []Variant {
	near := &nearest{most: len(words) + 1}
	for _, word := range words {
		if like := plainLikeness(term, word); word != term && like >= minLikeness {
			near.add(Variant{word, like})
		}
	}
	return near.variants[:min(len(near.variants), most)]
}

// TestNear compares the results of a vocabulary with those of plainNear.
func TestNear(t *testing.T) {
	word := rapid.OneOf(
		rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 3, 14, -1),
		rapid.StringOfN(rapid.RuneFrom([]rune("abcdéж")), 3, 12, -1),
		rapid.StringOfN(rapid.RuneFrom([]rune("abcdefghijklmno")), 1, maxWord, -1),
		rapid.Custom(func(t *rapid.T) string {
			stem := strings.Repeat("stem", rapid.IntRange(1, 6).Draw(t, "stems"))
			return stem + rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 0, 8, -1).Draw(t, "end")
		}),
	)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(word, 0, 60).Draw(t, "words")
		term := word.Draw(t, "term")
		if len(words) > 0 && rapid.Bool().Draw(t, "slip") {
			letters := []rune(words[0])
			at := rapid.IntRange(0, len(letters)-1).Draw(t, "at")
			term = string(slices.Delete(letters, at, at+1))
		}
		most := rapid.IntRange(1, 9).Draw(t, "most")
		slices.Sort(words)
		checkNear(t, slices.Compact(words), term, most)
	})
}

func checkNear(t interface{ Fatalf(string, ...any) }, words []string, term string, most int) {
	v, spelled := vocabularyOf(words...), spell(term)
	got, left := v.near(&spelled, most, len(words))
	if want := plainNear(words, term, most); !slices.Equal(got, want) {
		t.Fatalf("near %q of %q: %v, want %v", term, words, got, want)
	}
	if left < 0 || left > len(words) {
		t.Fatalf("near %q of %q: %d comparisons are left", term, words, left)
	}
	for _, word := range words {
		if v.Has(word) != fuzzy(word) {
			t.Fatalf("%q is there: %v", word, v.Has(word))
		}
	}
}

// TestNearAtItsBounds checks words that are just similar enough, and more of them than the
// limit.
func TestNearAtItsBounds(t *testing.T) {
	for _, c := range []struct{ term, words string }{
		{"kale", "kalexxxx kalexxxxxxxx kalexxxxxxxxx"},
		{"abcdefgh", "abcdefxyz abcdexyzz"},
		{"invoice", "invoices invoicing invoce invoicer voice xinvoicexx inovice invoic envoice"},
	} {
		for most := range 9 {
			words := strings.Fields(c.words)
			slices.Sort(words)
			checkNear(t, words, c.term, most+1)
		}
	}
}

// FuzzNear compares the results of a vocabulary with those of plainNear.
func FuzzNear(f *testing.F) {
	f.Add("invocie", "invoice invoices voice invoicing")
	f.Add("größe", "grosse größen grö")
	f.Fuzz(func(t *testing.T, term, text string) {
		terms, words := Terms(term), Terms(text)
		slices.Sort(words)
		if len(terms) > 0 {
			checkNear(t, words, terms[0], 4)
		}
	})
}

// TestNearIsBounded checks that no more words are compared than the budget allows, always
// the same ones, and the most promising ones first.
func TestNearIsBounded(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"calendar"}
	for range 5000 {
		letters := []byte("calendarcalen")
		random.Shuffle(len(letters), func(i, j int) { letters[i], letters[j] = letters[j], letters[i] })
		words = append(words, string(letters[:8+random.IntN(6)]))
	}
	v, term := vocabularyOf(words...), spell("calendarcale")
	unbounded, left := v.near(&term, 3, len(words))
	needed := len(words) - left
	if needed < 100 {
		t.Fatalf("%d comparisons say nothing", needed)
	}
	for _, budget := range []int{0, 1, needed - 1, needed} {
		first, left := v.near(&term, 3, budget)
		second, _ := v.near(&term, 3, budget)
		if left != 0 || !slices.Equal(first, second) {
			t.Errorf("with %d comparisons: %v and %v, and %d are left", budget, first, second, left)
		}
		if budget == 0 && first != nil || budget == needed && !slices.Equal(first, unbounded) {
			t.Errorf("with %d comparisons: %v", budget, first)
		}
	}
	// Words of the most promising length come first.
	near := vocabularyOf(append(slices.Clone(words), "calendarcble")...)
	if got, _ := near.near(&term, 1, 1000); len(got) != 1 || got[0].Word != "calendarcble" {
		t.Errorf("%v", got)
	}
}

// TestVariants checks that a compound matches its two parts, and two words their compound.
func TestVariants(t *testing.T) {
	for _, c := range []struct{ words, question, want string }{
		{"darkmode", "dark mode", "darkmode/darkmode"},
		{"darkmode", "the dark mode now", "/darkmode/darkmode/"},
		{"dark mode", "darkmode", "dark:0.45 mode:0.45"},
		{"dark", "darkmode", ""},
		{"mode", "darkmode", ""},
		{"darkmode", "mode dark", "/"},
		{"modedark", "dark mode", "/"},
		{"dar kmode dark mode", "darkmode", "dar:0.45 kmode:0.45 dark:0.45 mode:0.45"},
		{"темная тема", "темнаятема", "темная:0.45 тема:0.45"},
	} {
		q := NewQuestion(c.question)
		variants, err := vocabularyOf(strings.Fields(c.words)...).Variants(t.Context(), q, 0)
		if err != nil {
			t.Fatal(err)
		}
		var terms []string
		for _, some := range variants {
			var words []string
			for _, v := range some {
				switch v.Likeness {
				case compoundLikeness:
					words = append(words, v.Word)
				case compoundLikeness / 2:
					words = append(words, v.Word+":0.45")
				default:
					t.Errorf("%s: %v", c.question, v)
				}
			}
			terms = append(terms, strings.Join(words, " "))
		}
		if got := strings.Join(terms, "/"); got != c.want {
			t.Errorf("%q in %q: %q, want %q", c.question, c.words, got, c.want)
		}
	}
}

// TestVariantsShareTheBudget checks that a term can use what the terms before it leave of
// the budget, and leaves a share to those after it.
func TestVariantsShareTheBudget(t *testing.T) {
	const meant, slip, other, otherSlip = "calendaric", "zalendaric", "zzyyxxwwv", "zzyyxxwwvv"
	random, term := rand.New(rand.NewPCG(3, 4)), spell(meant)
	// Three quarters of the budget are used for words that come before the one with the typo.
	words := map[string]bool{slip: true, otherSlip: true}
	for len(words) < maxCompared*3/4 {
		letters := []rune(meant)
		random.Shuffle(len(letters), func(i, j int) { letters[i], letters[j] = letters[j], letters[i] })
		if word := spell(string(letters)); word.sig.minTypos(term.sig) <= 2 && distance(word.runes, term.runes, 2) > 2 {
			words[word.text] = true
		}
	}
	v := vocabularyOf(slices.Collect(maps.Keys(words))...)
	for question, want := range map[string]string{
		meant:               "zalendaric",
		other + " " + meant: "zzyyxxwwvv zalendaric",
		meant + " " + other: "zzyyxxwwvv",
	} {
		variants, err := v.Variants(t.Context(), NewQuestion(question), 8)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range slices.Concat(variants...) {
			got = append(got, one.Word)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
	}
	gone := errors.New("gone")
	ctx, leave := context.WithCancelCause(t.Context())
	leave(gone)
	if _, err := v.Variants(ctx, NewQuestion("calendar"), 8); !errors.Is(err, gone) {
		t.Errorf("after the context ended: %v", err)
	}
}
