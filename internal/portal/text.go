package portal

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/rangetable"

	"gatherkit/internal/feedback"
)

// enders are the characters outside ASCII that end an address in a text, as in a class of a regular expression:
// quotation marks, brackets, and what ends sentences and their parts. Addresses have them only encoded.
var enders = func() string {
	class := "…"
	for _, table := range []*unicode.RangeTable{unicode.Terminal_Punctuation, unicode.Quotation_Mark, unicode.Ps, unicode.Pe} {
		rangetable.Visit(table, func(r rune) {
			if r > unicode.MaxASCII {
				class += string(r)
			}
		})
	}
	return class
}()

// address matches the addresses in a text, without the punctuation after them.
var address = regexp.MustCompile(`https?://[^\s<>"` + enders + `]*[^\s<>"'.,:;!?)\]}` + enders + `]`)

// part is a piece of a text. Address is set if it is a link.
type part struct{ Text, Address string }

// parts divides a text into plain pieces and addresses.
func parts(text string) []part {
	var list []part
	at := 0
	for _, found := range address.FindAllStringIndex(text, -1) {
		link := text[found[0]:found[1]]
		list = append(list, part{Text: text[at:found[0]]}, part{Text: link, Address: link})
		at = found[1]
	}
	return append(list, part{Text: text[at:]})
}

// preview returns the beginning of a long text, or "" if the text is short enough to be shown whole.
func preview(text string) string {
	const long, lines, shown = 500, 8, 240
	if utf8.RuneCountInString(text) <= long && strings.Count(text, "\n") < lines {
		return ""
	}
	line := strings.Join(strings.Fields(text), " ")
	return feedback.FirstCharacters(line, shown) + "…"
}
