package feedback

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestRoles checks that each role includes those before it, and that unknown roles allow
// nothing.
func TestRoles(t *testing.T) {
	for i, role := range Roles() {
		for j, least := range Roles() {
			if got := role.Allows(least); got != (i >= j) {
				t.Errorf("%s does what %s may: %v", role, least, got)
			}
		}
		if !role.Valid() {
			t.Errorf("%s is not valid", role)
		}
		for _, word := range []Role{"", "root", "Owner", " owner", "OWNER"} {
			if word.Valid() || word.Allows(role) {
				t.Errorf("%q is valid, or does what %s may", word, role)
			}
			if role.Allows(word) {
				t.Errorf("%s does what needs the unknown role %q", role, word)
			}
		}
	}
}

func TestEmails(t *testing.T) {
	for email, want := range map[string]bool{
		"ada@example.com":                       true,
		"ada+tag@example.com":                   true,
		"a.b-c_d@mail.example":                  true,
		"ADA@EXAMPLE.COM":                       true,
		"ada@localhost":                         true,
		"ädä@example.com":                       true,
		"":                                      false,
		"ada":                                   false,
		"@example.com":                          false,
		"ada@":                                  false,
		"ada@@example.com":                      false,
		"ada example.com":                       false,
		"ada@exam ple.com":                      false,
		"Ada <ada@example.com>":                 false,
		"<ada@example.com>":                     false,
		"ada@example.com, b@c.d":                false,
		" ada@example.com":                      false,
		"ada@example.com\n":                     false,
		"ada@example.com\r\nBcc: x@example.com": false,
		"ada.@example.com":                      false,
		"a\u202eda@example.com":                 false,
		"ada\u200e@example.com":                 false,
		strings.Repeat("a", 242) + "@example.com": true,
		strings.Repeat("a", 243) + "@example.com": false,
	} {
		if got := ValidEmail(email); got != want {
			t.Errorf("%.40q: %v", email, got)
		}
	}
}

// TestSameEmails: an address can be written in several ways.
func TestSameEmails(t *testing.T) {
	for _, same := range [][]string{
		{"ada@example.com", " Ada@EXAMPLE.com "},
		{"rené@example.com", "rene\u0301@example.com", "RENÉ@example.com", "RENE\u0301@example.com"},
		{"ada@bücher.example", "ada@xn--bcher-kva.example", "ada@BU\u0308CHER.example", "ADA@XN--BCHER-KVA.example"},
		{"ada@例え.jp", "ada@xn--r8jz45g.jp"},
		{"νίκος@example.com", "ΝΊΚΟΣ@example.com", "νίκοσ@EXAMPLE.com"},
		{"\ufeffada@bücher.example", "ada@bücher.example\u200b ", "ada@b\u00adücher.example"},
	} {
		for _, other := range same[1:] {
			if FoldEmail(other) != FoldEmail(same[0]) {
				t.Errorf("%q is %q, and %q is %q", same[0], FoldEmail(same[0]), other, FoldEmail(other))
			}
		}
	}
	for _, different := range [][2]string{
		{"ada@a.example", "ada@b.example"},
		{"rene@example.com", "rené@example.com"},
		{"ada@bücher.example", "ada@bucher.example"},
		{"xn--bcher-kva@a.example", "bücher@a.example"},
		{"strauß@a.example", "strauss@a.example"},
		{"ada@faß.example", "ada@fass.example"},
	} {
		if FoldEmail(different[0]) == FoldEmail(different[1]) {
			t.Errorf("%q is %q", different[0], different[1])
		}
	}
	for _, odd := range []string{"", "@", "ada", "ada@", "@example.com", "ada@xn--\u0301", "ada@[127.0.0.1]", "ada@a_b.example"} {
		if FoldEmail(odd) != odd {
			t.Errorf("%q is %q", odd, FoldEmail(odd))
		}
	}
	for _, same := range [][]string{
		{" Zo\u00c9 ", "zoe\u0301"},
		{"Γιώργος", "ΓΙΏΡΓΟΣ", "γιώργοσ"},
		{"İpek", "I\u0307pek", "i\u0307pek"},
		{"Strauß", "STRAUSS", "strauẞ"},
		{"Bug", "\ufeffBug\u200b ", "Bu\u00adg"},
		{"❤️", "❤"},
		{"ᏣᎳᎩ", "ꮳꮃꭹ"},
		{"", " \u200b\u00a0"},
	} {
		for _, other := range same[1:] {
			if Fold(other) != Fold(same[0]) {
				t.Errorf("%+q is %+q, and %+q is %+q", same[0], Fold(same[0]), other, Fold(other))
			}
		}
	}
	if Fold("Zoé") == Fold("Zoe") {
		t.Error("an accent makes no difference")
	}
	if got := EmailWithDNSName("Ada@BÜCHER.example"); got != "Ada@xn--bcher-kva.example" {
		t.Error(got)
	}
}

func TestPasswords(t *testing.T) {
	const short = "must have at least 10 characters"
	const long = "must have at most 1,024 characters; letters with accents, emoji and the like count as 2 to 4"
	for n, want := range map[int]string{0: short, 9: short, 10: "", 1024: "", 1025: long} {
		if got := PasswordFault(strings.Repeat("x", n)); got != want {
			t.Errorf("%d bytes: %q", n, got)
		}
	}
	if PasswordFault(strings.Repeat("é", 513)) != long || PasswordFault("ééééé") != "" {
		t.Error("the length is not counted in bytes")
	}
}

// TestErrors checks that a copy with another message matches the original, and that changing
// a copy does not change the original.
func TestErrors(t *testing.T) {
	form := regexp.MustCompile(`^[a-z]+\.[a-z_]+$`)
	seen := map[string]bool{}
	for _, e := range Codes() {
		if !form.MatchString(e.Code) || seen[e.Code] || e.Status < 400 || e.Status > 599 {
			t.Errorf("%+v", e)
		}
		if !strings.HasSuffix(e.Message, ".") || strings.Contains(strings.TrimSuffix(e.Message, "."), ". ") {
			t.Errorf("%s says %q, which is not one sentence", e.Code, e.Message)
		}
		seen[e.Code] = true
		message, wait := e.Message, e.RetryAfter
		changed := e.With("%d%%", 7).After(time.Minute)
		if !errors.Is(changed, e) || changed.Message != "7%" || changed.RetryAfter != time.Minute || changed.Status != e.Status {
			t.Errorf("%+v no longer matches %s", changed, e.Code)
		}
		if e.Message != message || e.RetryAfter != wait {
			t.Errorf("%s was changed by its copy", e.Code)
		}
		for _, other := range Codes() {
			if errors.Is(e, other) != (e == other) {
				t.Errorf("%s is %s", e.Code, other.Code)
			}
		}
	}
	if after := ErrRateLimited.After(time.Millisecond).RetryAfter; after != time.Second {
		t.Errorf("a wait of %s is too short for Retry-After", after)
	}
	invalid := Invalid("apps", "name", "M.")
	if invalid.Code != "apps.invalid_name" || invalid.Status != 400 || errors.Is(invalid, errors.New("x")) {
		t.Errorf("%+v", invalid)
	}
}
