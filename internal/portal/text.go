package portal

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"gatherkit/internal/feedback"
)

// address matches the addresses in a text, without the punctuation after them.
var address = regexp.MustCompile(`https?://[^\s<>"]*[^\s<>"'.,:;!?)\]}»”’。、）」]`)

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
