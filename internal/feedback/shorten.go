package feedback

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Shorten returns a text of at most so many characters (code points). A longer one ends with an ellipsis, and is cut
// where Cut cuts it.
func Shorten(text string, most int) string {
	if beginning := Cut(text, most); beginning == text {
		return text
	}
	return strings.TrimRight(Cut(text, most-1), " ") + "…"
}

// Cut returns the beginning of a text: at most so many characters (code points), and no part of what people see as one
// character, such as a flag or a letter with its accents (a grapheme cluster, UAX #29). Of one that is longer than that,
// it returns a part.
func Cut(text string, most int) string {
	end, left, state := 0, most, -1
	for end < len(text) {
		cluster, _, _, next := uniseg.FirstGraphemeClusterInString(text[end:], state)
		left -= utf8.RuneCountInString(cluster)
		if left < 0 {
			break
		}
		end, state = end+len(cluster), next
	}
	if end > 0 || most <= 0 {
		return text[:end]
	}
	for at := range text {
		if most == 0 {
			return text[:at]
		}
		most--
	}
	return text
}
