package feedback

import (
	"strings"
	"unicode"
)

// SingleLine reports whether s can be part of a line of text without affecting the rest of
// it: s has no control characters, line separators or characters that change the direction
// of text. Joiners (U+200C, U+200D) are allowed, because Persian and emoji need them.
func SingleLine(s string) bool { return strings.IndexFunc(s, breaksLine) < 0 }

// ToSingleLine returns s with control characters and line separators replaced by spaces,
// and without characters that change the direction of text.
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
	if r >= ' ' && r <= '~' { // the most common case
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}
