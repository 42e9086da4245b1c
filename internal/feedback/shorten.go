package feedback

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Shorten returns a text of at most so many characters (code points). A longer one ends with an ellipsis, and is cut
// where FirstCharacters cuts it.
func Shorten(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimRight(FirstCharacters(text, most-1), " ") + "…"
}

// FirstCharacters returns the beginning of a text: at most so many characters (code points), and no part of what people
// see as one character, such as a flag or a letter with its accents (a grapheme cluster, UAX #29). Of one that is longer
// than that, it returns a part. It copies them, so that the whole need not stay in memory.
func FirstCharacters(text string, most int) string {
	n := 0
	for at := range text {
		if n > most {
			text = text[:at] // whether there is an end behind a character depends on the next one
			break
		}
		n++
	}
	if n <= most {
		return text
	}
	end, left, state := 0, most, -1
	for {
		cluster, _, _, next := uniseg.FirstGraphemeClusterInString(text[end:], state)
		if left -= utf8.RuneCountInString(cluster); left < 0 {
			break
		}
		end, state = end+len(cluster), next
	}
	if end == 0 && most > 0 {
		return string([]rune(text)[:most])
	}
	return strings.Clone(text[:end])
}
