package search

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/unicode/rangetable"
	"golang.org/x/text/unicode/runenames"
	"pgregory.net/rapid"
)

func TestWords(t *testing.T) {
	for _, c := range []struct{ title, description, want string }{
		{"Dark mode", "", "dark mode"},
		{"Dark-Mode, DARK mode!", "please", "dark mode please"},
		{"E-Mail für Groß & Klein", "", "e fur gross klein mail"},
		{"Ｆｕｌｌ ﾜｲﾄﾞ", "", "full イド ド ワイ"},
		{"CSV出力", "", "csv 出力 力"},
		{"ＣＳＶ", "", "csv"},
		{"Ёё", "", "ее"},
		{"カレンダー", "", "ー カレ ダー レン ンダ"},
		{"検", "", "検"},
		{"ค้น", "", "ค้ ้น น"},
		{"검색 기능", "", "검색 기능 색 능"},
		{"배경색상변경", "", "배경 경색 색상 상변 변경 경"},
		{"🚀 Dark 👩🏽‍💻🇩🇪 ©", "", "🚀 dark 👩 💻 🇩 🇪"},
		{"❤️ 1️⃣", "", "❤ 1"},
		{"C++ C# .NET v2.10.1 https://a.example/b?c=d", "", "c net v2 10 1 https a example b d"},
		{"Й ё Ελλάδα", "", "ελλαδα е и"},
		{"हिन्दी", "", "हिन्दी"},
		{"تقرير ﷺ والنبي ﷺ الوصول", "", "تقرير صلي الله عليه وسلم والنبي الوصول"},
		{strings.Repeat("…", 40) + "wombat", "", "wombat"},
		{"Oʻzbekcha п'ять пʼять", "", "o zbekcha п ять"},
		{"↔️ 🫩 🛘 ◻ → ∞", "", "↔ 🫩 🛘 ◻"},
		{"ꦲꦏ꧀ꦱꦫ ㄅㄆㄇ", "", "ꦲꦏ ꦏ꧀ ꧀ꦱ ꦱꦫ ꦫ ㄅㄆ ㄆㄇ ㄇ"},
		{"...", "---", ""},
		{"XN--Bcher-KVA.example xn--mgbaal8b0b9b2b.example", "", "bucher example افغانستا"},
		{"xn--", "xn--a-- max--xn--bcher-kva", "xn a max bucher"},
		{strings.Repeat("a", 100), "", strings.Repeat("a", maxWord)},
		{"", strings.Repeat("a ", 23) + "b c", "a b"},
		{"", strings.Repeat("검색", 36) + "기능", "검색 색검 색기"},
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

// TestTermsAreWords checks that the terms of a title are among its indexed words, and that
// none is empty, contains a space or is too long.
func TestTermsAreWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.OneOf(rapid.RuneFrom([]rune("aZé ß-漢字カナーกขี์ﷺ한")), rapid.Rune())
		title := rapid.StringOfN(letters, 0, 60, -1).Draw(t, "title")
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

// TestSameWords: people write a word in several ways, and each finds the others.
func TestSameWords(t *testing.T) {
	file, err := os.ReadFile("testdata/same.json") // the dashboard's tests read it, too
	if err != nil {
		t.Fatal(err)
	}
	var words [][]string
	if err := json.Unmarshal(file, &words); err != nil {
		t.Fatal(err)
	}
	for _, same := range words {
		for _, other := range same[1:] {
			if fold(other) != fold(same[0]) {
				t.Errorf("%q becomes %+q, and %q becomes %+q", same[0], fold(same[0]), other, fold(other))
			}
		}
	}
	for _, same := range [][2]string{ // not in the dashboard, which has no pickers of words
		{"അവൻ", "അവന്\u200d"}, {"উৎসব", "উত্\u200dসব"},
	} {
		if fold(same[0]) != fold(same[1]) {
			t.Errorf("%q is not %q", same[0], same[1])
		}
	}
	for _, different := range [][2]string{
		{"か", "が"}, {"ग", "गा"}, {"ไม่", "ไม้"}, {"и", "к"}, {"س", "ش"}, {"כ", "ב"}, {"o", "ο"},
	} {
		if fold(different[0]) == fold(different[1]) {
			t.Errorf("%q is %q", different[0], different[1])
		}
	}
}

// iotaSubscript is a mark which becomes a letter in capitals, so that marks behind it have another place.
const iotaSubscript = "\u0345"

// TestFoldOfScripts checks that neither normalization nor case makes a difference, in all scripts.
func TestFoldOfScripts(t *testing.T) {
	scripts := slices.Sorted(maps.Keys(unicode.Scripts))
	upper, lower := cases.Upper(language.Und), cases.Lower(language.Und)
	rapid.Check(t, func(t *rapid.T) {
		script := unicode.Scripts[rapid.SampledFrom(scripts).Draw(t, "script")]
		text := rapid.StringOfN(rapid.RuneFrom(nil, script, unicode.Inherited), 0, 8, -1).Draw(t, "text")
		text = strings.ReplaceAll(text, iotaSubscript, "")
		want := fold(text)
		for name, other := range map[string]string{
			"NFC": norm.NFC.String(text), "NFD": norm.NFD.String(text), "upper": upper.String(text), "lower": lower.String(text),
			"ToUpper": strings.ToUpper(text), "ToLower": strings.ToLower(text), "folded": want,
		} {
			if got := fold(other); got != want {
				t.Fatalf("%+q becomes %+q, and in %s it is %+q and becomes %+q", text, want, name, other, got)
			}
		}
	})
}

// TestFold checks that folding twice changes nothing more, and that it ignores case.
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
	// Most Cherokee texts use capital letters. The index contains lower-case ones.
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

// TestQuery checks that the last word comes last, even if it occurs before.
func TestQuery(t *testing.T) {
	for text, want := range map[string][]string{
		"":                               nil,
		"!":                              nil,
		"Dark":                           {"dark"},
		"dark dark":                      {"dark", "dark"},
		"dark mode Dark":                 {"dark", "mode", "dark"},
		"dark mode dark mo":              {"dark", "mode", "mo"},
		"検索機":                            {"検索", "索機"},
		"Ada@mail.example.com":           {"ada", "mail", "example"},
		"from ada@example. now":          {"from", "ada", "example", "now"},
		"@ v1.2":                         {"v1", "2"},
		strings.Repeat("a b ", 40) + "c": {"a", "b", "c"},
	} {
		if got := Query(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestDigits: a digit of another script is the same as one of ASCII.
func TestDigits(t *testing.T) {
	names := strings.Fields("ZERO ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE")
	digits := 0
	rangetable.Visit(unicode.Nd, func(r rune) {
		value := slices.Index(names, runenames.Name(r)[strings.LastIndexByte(runenames.Name(r), ' ')+1:])
		if got := fold(string(r)); got != strconv.Itoa(value) {
			t.Errorf("%s is %q", runenames.Name(r), got)
		}
		digits++
	})
	if digits < 600 {
		t.Errorf("only %d digits", digits)
	}
}

// TestFoldIsBounded checks that only the first characters count if each expands to many
// letters.
func TestFoldIsBounded(t *testing.T) {
	for _, letters := range []int{1, 40, 200} {
		folded := fold(strings.Repeat("ﷺ", letters))
		if n := utf8.RuneCountInString(folded); n < letters || n > 4*letters+64+18 || !strings.HasPrefix(folded, "صلي الله") {
			t.Errorf("%d letters expand to %d", letters, n)
		}
	}
}

// FuzzWords checks that words contain only letters and digits, which have no special meaning
// in LIKE, that they are sorted, and that the terms of a title are among its words.
func FuzzWords(f *testing.F) {
	for _, text := range []string{
		"Dark mode", "100% of a_b\\c", "検索とメモ帳", "ไทย ภาษา", "Größe ﬁ Ǆ", "e\u0301\u0327", "\xff\xfe", "👩‍👩‍👧 ok",
		"a\x00b", "ー", "İstanbul",
	} {
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
