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

// pattern matches an address in a text, with the punctuation after it that can be part of an address.
var pattern = `https?://[^\s<>"'.,:;!?)\]}` + enders + `](?:[^\s<>"` + enders + `]*[^\s<>"';\]}` + enders + `])?`

var address = regexp.MustCompile(pattern)

// part is a piece of a text. Address is set if it is a link.
type part struct{ Text, Address string }

// parts divides a text into plain pieces and addresses.
func parts(text string) []part {
	var list []part
	at := 0
	for _, found := range address.FindAllStringIndex(text, -1) {
		link := unpunctuated(text[found[0]:found[1]])
		list = append(list, part{Text: text[at:found[0]]}, part{Text: link, Address: link})
		at = found[0] + len(link)
	}
	return append(list, part{Text: text[at:]})
}

// unpunctuated returns an address without the punctuation at its end that belongs to the sentence, as goldmark does
// for Markdown: a closing parenthesis stays if the address has the opening one.
func unpunctuated(address string) string {
	unopened := strings.Count(address, ")") - strings.Count(address, "(")
	for {
		without := strings.TrimRight(address, ".,:!?")
		if unopened > 0 && strings.HasSuffix(without, ")") {
			without = strings.TrimSuffix(without, ")")
			unopened--
		}
		if without == address {
			return address
		}
		address = without
	}
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
