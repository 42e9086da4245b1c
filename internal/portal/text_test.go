package portal

import (
	"strings"
	"testing"
)

// TestAddressesInText: an address ends before punctuation of all scripts.
func TestAddressesInText(t *testing.T) {
	for text, want := range map[string]string{
		"see https://a.b/c?d=e&f.":                   "see [https://a.b/c?d=e&f].",
		"„https://a.b/c“ “https://a.b/d”":            "„[https://a.b/c]“ “[https://a.b/d]”",
		"详见https://a.b/例。谢谢，「https://a.b/c」":         "详见[https://a.b/例]。谢谢，「[https://a.b/c]」",
		"（https://a.b/c）、https://a.b/ü！":             "（[https://a.b/c]）、[https://a.b/ü]！",
		"«https://a.b/c» https://a.b/c؟ https://…":   "«[https://a.b/c]» [https://a.b/c]؟ https://…",
		"<https://a.b/c> \"https://a.b/c\" https://": "<[https://a.b/c]> \"[https://a.b/c]\" https://",
		"https://a.b/c।":                             "[https://a.b/c]।",
		"(https://a.b/c_(d)), https://a.b/c?!":       "([https://a.b/c_(d)]), [https://a.b/c]?!",
		"{https://a.b/c} https://. https://a":        "{[https://a.b/c]} https://. [https://a]",
	} {
		var got strings.Builder
		for _, p := range parts(text) {
			if p.Address == "" {
				got.WriteString(p.Text)
			} else {
				got.WriteString("[" + p.Address + "]")
			}
		}
		if got.String() != want {
			t.Errorf("%q: %q, want %q", text, got.String(), want)
		}
	}
}
