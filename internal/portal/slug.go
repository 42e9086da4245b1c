package portal

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxSlug is how many characters of a title are in the address of its page.
const maxSlug = 60

// Slug returns a title as it is in the address of its page: in lower case, with its letters and digits
// joined by hyphens.
func Slug(title string) string {
	var slug []rune
	apart := false // something else has come since the last letter
	for _, r := range norm.NFC.String(strings.ToLower(title)) {
		if !unicode.In(r, unicode.L, unicode.M, unicode.Nd) {
			apart = true
			continue
		}
		if apart && len(slug) > 0 {
			slug = append(slug, '-')
		}
		if len(slug) >= maxSlug {
			break
		}
		slug, apart = append(slug, r), false
	}
	if text := strings.TrimRight(string(slug), "-"); text != "" {
		return text
	}
	return "idea"
}
