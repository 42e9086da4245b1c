package search

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestWords(t *testing.T) {
	for _, c := range []struct{ title, description, want string }{
		{"Dark mode", "", "dark mode"},
		{"Dark-Mode, DARK mode!", "please", "dark mode please"},
		{"E-Mail für Groß & Klein", "", "e fur gross klein mail"},
		{"Ｆｕｌｌ ﾜｲﾄﾞ", "", "full イド ド ワイ"},
		{"CSV出力", "", "csv 出力 力"},
		{"カレンダー", "", "ー カレ ダー レン ンダ"},
		{"検", "", "検"},
		{"ค้น", "", "ค้ ้น น"},
		{"검색 기능", "", "검색 기능"},
		{"Й ё Ελλάδα", "", "ελλαδα е и"},
		{"हिन्दी", "", "हिन्दी"},
		{"...", "---", ""},
		{strings.Repeat("a", 100), "", strings.Repeat("a", maxWord)},
		{"", strings.Repeat("a ", 50) + "b", "a"},
	} {
		want := strings.Fields(c.want)
		slices.Sort(want)
		if got := Words(c.title, c.description); !slices.Equal(got, want) {
			t.Errorf("%q, %q: %q, want %q", c.title, c.description, got, want)
		}
	}
	if got := Terms("the dark, the DARK 検索"); !slices.Equal(got, []string{"the", "dark", "検索"}) {
		t.Errorf("terms %q", got)
	}
}

// TestTermsAreWords: whoever asks with the words of a title asks for words that the
// title is found by, and none is empty, has a space or is long.
func TestTermsAreWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		title := rapid.StringOfN(rapid.OneOf(rapid.RuneFrom([]rune("aZé ß-漢字カナーกขี์ﷺ한")), rapid.Rune()), 0, 60, -1).Draw(t, "title")
		words := Words(title, "")
		for _, term := range Terms(title) {
			if !slices.Contains(words, term) {
				t.Fatalf("%q is a term and no word: %q", term, words)
			}
		}
		for _, word := range words {
			if word == "" || len(strings.Fields(word)) != 1 || utf8.RuneCountInString(word) > maxWord {
				t.Fatalf("%q is no word", word)
			}
		}
		if !slices.Equal(words, Words(strings.ToUpper(title), "")) && strings.ToLower(strings.ToUpper(title)) == title {
			t.Fatalf("%q has other words in capitals", title)
		}
	})
}

// TestFold: what is folded stays as it is, and letters of either case become the same.
func TestFold(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		folded := fold(string(r))
		if again := fold(folded); again != folded {
			t.Errorf("%U becomes %+q, and that becomes %+q", r, folded, again)
		}
		if upper := unicode.ToUpper(r); unicode.ToLower(upper) == r && fold(string(upper)) != folded {
			t.Errorf("%U becomes %+q, and its capital %U becomes %+q", r, folded, upper, fold(string(upper)))
		}
	}
	// Most texts have the capital letters; the index has always had small ones for them.
	if words := Words("ᏣᎳᎩ Ᏸ", "ꮳꮃꭹ ᏸ"); !slices.Equal(words, []string{"ᏸ", "ꮳꮃꭹ"}) {
		t.Errorf("Cherokee: %q", words)
	}
	texts := rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.RuneFrom(nil, unicode.M)))
	rapid.Check(t, func(t *rapid.T) {
		text := texts.Draw(t, "text")
		if folded := fold(text); fold(folded) != folded {
			t.Fatalf("%+q becomes %+q, and that becomes %+q", text, folded, fold(folded))
		}
	})
}

// TestQuery: the last word stands at the end, also when it is not new.
func TestQuery(t *testing.T) {
	for text, want := range map[string][]string{
		"":                               nil,
		"!":                              nil,
		"Dark":                           {"dark"},
		"dark dark":                      {"dark", "dark"},
		"dark mode Dark":                 {"dark", "mode", "dark"},
		"dark mode dark mo":              {"dark", "mode", "mo"},
		"検索機":                            {"検索", "索機"},
		strings.Repeat("a b ", 40) + "c": {"a", "b", "c"},
	} {
		if got := Query(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestNear: the quick tests leave nothing out that likeness would have found.
func TestNear(t *testing.T) {
	letters := rapid.StringOfN(rapid.RuneFrom([]rune("abcdéж")), 3, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		term := letters.Draw(t, "term")
		words := rapid.SliceOfNDistinct(letters, 0, 40, rapid.ID[string]).Draw(t, "words")
		slices.Sort(words)
		var v Vocabulary
		for _, word := range words {
			v.Add(word)
		}
		near := v.Near(term, 100)
		for _, word := range words {
			like := likeness(term, word)
			found := slices.ContainsFunc(near, func(n Variant) bool { return n.Word == word && n.Likeness == like })
			if want := word != term && like >= leastLike; found != want {
				t.Fatalf("%q beside %q (%v): found %v", word, term, like, found)
			}
			if back := likeness(word, term); back != like {
				t.Fatalf("%q is %v like %q, which is %v like it", word, like, term, back)
			}
			if !v.Has(word) {
				t.Fatalf("%q is missing", word)
			}
		}
	})
}

func TestLikeness(t *testing.T) {
	for _, c := range []struct {
		a, b string
		like bool
	}{
		{"invoice", "invocie", true},
		{"invoice", "invoices", true},
		{"notify", "notifications", true},
		{"kalender", "kalenderansicht", true},
		{"funktion", "suchfunktion", true},
		{"calender", "calendar", true},
		{"2025", "2026", false},
		{"cat", "car", false},
		{"検索", "検査", false},
		{"import", "export", false},
	} {
		if got := likeness(c.a, c.b) >= leastLike; got != c.like {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}

// TestDistance holds it against the definition.
func TestDistance(t *testing.T) {
	text := rapid.StringOfN(rapid.RuneFrom([]rune("abcé")), 0, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := []rune(text.Draw(t, "a")), []rune(text.Draw(t, "b"))
		want := plainDistance(a, b)
		for most := range 3 {
			if got := distance(a, b, most); got != want && (got <= most || want <= most) {
				t.Fatalf("%q, %q: %d, want %d", string(a), string(b), got, want)
			}
		}
	})
}

func plainDistance(a, b []rune) int {
	if len(a) == 0 || len(b) == 0 {
		return len(a) + len(b)
	}
	x, y := len(a)-1, len(b)-1
	change := 1
	if a[x] == b[y] {
		change = 0
	}
	least := min(plainDistance(a[:x], b)+1, plainDistance(a, b[:y])+1, plainDistance(a[:x], b[:y])+change)
	if x > 0 && y > 0 && a[x] == b[y-1] && a[x-1] == b[y] {
		least = min(least, plainDistance(a[:x-1], b[:y-1])+1)
	}
	return least
}

func TestScore(t *testing.T) {
	q := NewQuestion("dark mode for the editor")
	weights := []float64{5, 3, 1, 1, 4}
	found := make([]float64, len(weights))
	last := 1.0001
	for _, title := range []string{"dark mode for the editor", "Dark mode in the editor", "Dark mode", "The mode", "Invoices"} {
		score := q.Score(title, weights, found)
		if score < 0 || score > 1.0001 || score >= last {
			t.Errorf("%s: %v after %v", title, score, last)
		}
		last = score
	}
	if q.Score("", weights, found) != 0 || NewQuestion("?").Score("a", nil, nil) != 0 {
		t.Error("nothing is like something")
	}
}

// FuzzWords: words are what the index and its look-ups can bear: letters and digits alone,
// none of which means anything to LIKE, in order, and all that is asked for in a title is
// among its words.
func FuzzWords(f *testing.F) {
	for _, text := range []string{"Dark mode", "100% of a_b\\c", "検索とメモ帳", "ไทย ภาษา", "Größe ﬁ Ǆ", "e\u0301\u0327", "\xff\xfe", "👩‍👩‍👧 ok", "a\x00b", "ー", "İstanbul"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip("texts are valid")
		}
		words := Words(text, text)
		if !slices.IsSorted(words) || len(slices.Compact(slices.Clone(words))) != len(words) {
			t.Fatalf("%q: %q", text, words)
		}
		for _, word := range slices.Concat(words, Terms(text)) {
			if n := utf8.RuneCountInString(word); n == 0 || n > maxWord || !utf8.ValidString(word) || strings.ContainsFunc(word, func(r rune) bool {
				return r == 0 || kindOf(r) == gap
			}) {
				t.Fatalf("%q has the word %q", text, word)
			}
		}
		for _, term := range Terms(text) {
			if _, has := slices.BinarySearch(words, term); !has {
				t.Fatalf("%q is asked for as %q, which is not among %q", text, term, words)
			}
		}
	})
}
