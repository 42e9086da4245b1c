package feedback

import (
	"strings"
	"unicode"
)

// The formats of an export.
const (
	CSV   = "csv"
	JSONL = "jsonl"
)

// SafeCell is text as it may stand in a spreadsheet: what a program could take for a
// formula gets an apostrophe before it (OWASP, "CSV Injection"). White space, quotes and
// marks that nobody sees are looked past, as programs do.
func SafeCell(text string) string {
	if strings.IndexAny(text, "\t\r\n") == 0 {
		return "'" + text
	}
	seen := strings.TrimLeftFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || strings.ContainsRune("\"'`“”„‘’‚«»", r)
	})
	if strings.IndexAny(seen, "=+-@＝＋－＠") == 0 {
		return "'" + text
	}
	return text
}
