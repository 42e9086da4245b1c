package feedback

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
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
// see as one character, such as a flag or a letter with its accents (a grapheme cluster, UAX #29). If the first such character
// is longer than the limit, it returns a part of it. The result is a copy, so that the whole text need not stay in memory.
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
	end, at, left, state := 0, 0, most, -1
	for {
		cluster, _, _, next := uniseg.FirstGraphemeClusterInString(text[at:], state)
		if left -= utf8.RuneCountInString(cluster); left < 0 {
			break
		}
		if at, state = at+len(cluster), next; !joins(cluster) {
			end = at
		}
	}
	if end == 0 && most > 0 {
		return string([]rune(text)[:most])
	}
	return strings.Clone(text[:end])
}

// FirstCharacter returns what people see as the first character of a text, such as a letter or a flag.
func FirstCharacter(text string) string {
	first, _, _, _ := uniseg.FirstGraphemeClusterInString(text, -1)
	return first
}

// virama is the combining class of the sign that joins a consonant to the next one.
const virama = 9

// joins reports whether a grapheme cluster joins the next one: in the scripts of India and Southeast Asia, consonants with
// a virama between them are written as one (UAX #29, GB9c, which uniseg does not have yet).
func joins(cluster string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(cluster, "\u200c\u200d"))
	return norm.NFD.PropertiesString(string(last)).CCC() == virama
}
