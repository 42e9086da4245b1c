package feedback

import (
	"strings"
	"unicode"
)

// SingleLine reports whether s can stand in a line of text without changing what is around
// it: it has no control characters, no line separators and no characters that change the
// direction of text. Joiners (U+200C, U+200D) are allowed: Persian and emoji need them.
func SingleLine(s string) bool { return strings.IndexFunc(s, breaksLine) < 0 }

// ToSingleLine returns s with a space in place of each control character and line separator,
// and without the characters that change the direction of text.
func ToSingleLine(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		case breaksLine(r):
			return ' '
		}
		return r
	}, s)
}

func breaksLine(r rune) bool {
	if r >= ' ' && r <= '~' { // as most are
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}
