package feedback

import (
	"strings"
	"unicode"
)

// The formats of exports.
const (
	CSV   = "csv"
	JSONL = "jsonl"
)

// SafeCell returns text that is safe in a spreadsheet cell: text that a program could
// evaluate as a formula gets a leading apostrophe (OWASP, "CSV Injection"). As in those
// programs, leading white space, quotes and invisible characters are ignored.
func SafeCell(text string) string {
	if strings.IndexAny(text, "\t\r\n") == 0 {
		return "'" + text
	}
	visible := strings.TrimLeftFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) ||
			strings.ContainsRune("\"'`“”„‘’‚«»", r)
	})
	if strings.IndexAny(visible, "=+-@＝＋－＠") == 0 {
		return "'" + text
	}
	return text
}
