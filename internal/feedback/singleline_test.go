package feedback

import (
	"testing"
	"unicode"
)

func TestSingleLine(t *testing.T) {
	for _, c := range []struct{ text, line string }{
		{"Dark mode", "Dark mode"},
		{"", ""},
		{"a\tb\nc\r\nd", "a b c  d"},
		{"a\x1b[31mb\x7fc\u0085d\u009be", "a [31mb c d e"},
		{"a\u2028b\u2029c", "a b c"},
		{"in\u202evoice\u202a\u202b\u202c\u202d", "invoice"},
		{"\u2066a\u2067b\u2068c\u2069", "abc"},
		{"\u200ea\u200fb\u061cc", "abc"},
		{"می\u200cخواهم", "می\u200cخواهم"},
		{"👩\u200d💻", "👩\u200d💻"},
		{"soft\u00adhyphen\ufeff", "soft\u00adhyphen\ufeff"},
		{"العربية", "العربية"},
	} {
		if got := ToSingleLine(c.text); got != c.line || !SingleLine(got) {
			t.Errorf("%q becomes %q, want %q", c.text, got, c.line)
		}
		if got := SingleLine(c.text); got != (c.text == c.line) {
			t.Errorf("%q is a single line: %v", c.text, got)
		}
	}
}

// TestSingleLineCharacters checks every character.
func TestSingleLineCharacters(t *testing.T) {
	refused := func(r rune) bool {
		return r < 0x20 || r >= 0x7f && r <= 0x9f || r == 0x2028 || r == 0x2029 || r == 0x61c || r == 0x200e || r == 0x200f ||
			r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	}
	for r := range rune(unicode.MaxRune + 1) {
		if r >= 0xd800 && r <= 0xdfff {
			continue // surrogates are not characters and have no UTF-8 encoding
		}
		if got := SingleLine(string(r)); got == refused(r) {
			t.Fatalf("%U: %v", r, got)
		}
	}
}
