package feedback

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

func TestShorten(t *testing.T) {
	flag, family, accent := "🇩🇪", "👩‍👩‍👧", "e\u0301"
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"a bcd", 3, "a…"},
		{strings.Repeat(flag, 70), 80, strings.Repeat(flag, 39) + "…"},
		{strings.Repeat(flag, 40), 80, strings.Repeat(flag, 40)},
		{"ab" + family, 6, "ab…"},
		{"ab" + family, 7, "ab" + family},
		{"ab" + accent + "cd", 4, "ab…"},
		{"क्षि" + "क्षि", 5, "क्षि…"},
		{"ক্ষক্ষ", 5, "ক্ষ…"},
		{"ab" + "ക്\u200cഷ", 6, "ab" + "ക്\u200cഷ"},
		{"ab" + "ക്\u200cഷ", 5, "ab…"},
		{"a" + strings.Repeat("\u0301", 50), 4, "a\u0301\u0301…"},
	} {
		if got := Shorten(c.text, c.most); got != c.want {
			t.Errorf("%d of %q: %q, want %q", c.most, c.text, got, c.want)
		}
	}
}

// TestFirstCharacters: a cut text is the longest beginning that is short enough and ends where a cluster ends.
func TestFirstCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("aé \u0301🇩🇪👩\u200d🏽한ᄒ\u1161क्षि"))).Draw(t, "text")
		most := rapid.IntRange(0, 12).Draw(t, "most")
		want, whole, n := "", "", 0
		for clusters := uniseg.NewGraphemes(text); clusters.Next(); {
			if n += len(clusters.Runes()); n > most {
				break
			}
			if whole += clusters.Str(); whole == text || !strings.HasSuffix(strings.TrimRight(whole, "\u200d"), "्") {
				want = whole
			}
		}
		got := FirstCharacters(text, most)
		if first := []rune(text); want == "" && most < len(first) { // of one cluster that is too long
			want = string(first[:most])
		}
		if got != want {
			t.Fatalf("%q, want %q", got, want)
		}
		if short := Shorten(text, most+1); utf8.RuneCountInString(short) > most+1 {
			t.Fatalf("%q is too long", short)
		}
	})
}
