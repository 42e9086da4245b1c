package portal

import (
	"net/url"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestSlug(t *testing.T) {
	for title, want := range map[string]string{
		"Dark mode, please!": "dark-mode-please", "  ÄRGER & Öl ": "ärger-öl", "ダークモード 2.0": "ダークモード-2-0", "الوضع الداكن": "الوضع-الداكن",
		"हिन्दी में": "हिन्दी-में", "": "idea", "?!": "idea", "cafe\u0301": "café", "a/../b?c=d#e": "a-b-c-d-e",
		strings.Repeat("a", 100): strings.Repeat("a", 60), strings.Repeat("a", 60) + " b": strings.Repeat("a", 60),
	} {
		if got := Slug(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}

func checkSlug(t interface{ Errorf(string, ...any) }, title string) {
	slug := Slug(title)
	if slug == "" || utf8.RuneCountInString(slug) > 60 || strings.Contains("-"+slug+"-", "--") || slug != Slug(slug) {
		t.Errorf("%q: %q, and again %q", title, slug, Slug(slug))
	}
	for _, r := range slug {
		if r != '-' && !unicode.In(r, unicode.L, unicode.M, unicode.Nd) {
			t.Errorf("%q: %q has %q", title, slug, r)
		}
	}
	if path, err := url.PathUnescape(url.PathEscape(slug)); err != nil || path != slug {
		t.Errorf("%q, %v", path, err)
	}
}

func TestSlugs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkSlug(t, rapid.String().Draw(t, "title")) })
}

func FuzzSlug(f *testing.F) {
	f.Add("Dark mode")
	f.Add("\xff\u0301İ")
	f.Fuzz(func(t *testing.T, title string) { checkSlug(t, title) })
}
