package portal

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
)

// TestLocales checks that each language of the widget has each text, with the same values.
func TestLocales(t *testing.T) {
	widget, err := os.ReadDir("../../web/widget/src/locales")
	if err != nil || len(widget) != len(locales) {
		t.Errorf("the widget has %d languages, and the page %d; %v", len(widget), len(locales), err)
	}
	values := regexp.MustCompile(`\{\w+\}`)
	english := reflect.ValueOf(*locales[0])
	for _, file := range widget {
		text, err := localeFiles.ReadFile(path.Join("locales", file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var l locale
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&l); err != nil {
			t.Errorf("%s: %v", file.Name(), err)
		}
		if l.Lang+".json" != file.Name() || (l.Dir == "rtl") != (l.Lang == "ar") || len(l.Months) != 12 || slices.Contains(l.Months, "") {
			t.Errorf("%s: %s, %s, %q", file.Name(), l.Lang, l.Dir, l.Months)
		}
		for _, status := range feedback.Settable() {
			if l.Status[status] == "" {
				t.Errorf("%s has no %s", file.Name(), status)
			}
		}
		for i := range english.NumField() {
			if english.Field(i).Kind() != reflect.String {
				continue
			}
			name, got := english.Type().Field(i).Name, reflect.ValueOf(l).Field(i).String()
			has, wants := values.FindAllString(got, -1), values.FindAllString(english.Field(i).String(), -1)
			slices.Sort(has)
			slices.Sort(wants)
			if got == "" || name != "Date" && !slices.Equal(has, wants) || name == "Date" && len(has) != 3 {
				t.Errorf("%s: %s is %q", file.Name(), name, got)
			}
		}
	}
}

func TestLanguage(t *testing.T) {
	for accept, want := range map[string]string{
		"": "en", "de": "de", "de-CH,fr;q=0.9": "de", "fr-CA;q=0.7, nl;q=0.8": "nl", "sw, pt-BR;q=0.5": "pt",
		"zh-TW": "zh", "zh-Hans-CN": "zh", "AR-eg": "ar", "ja;q=0, it": "it", "*": "en", "sw": "en", "en-GB,de": "en",
		"\x00;q=;;,,": "en", strings.Repeat("a-", 5000): "en",
	} {
		if got := match(accept).Lang; got != want {
			t.Errorf("%.40q: %s, want %s", accept, got, want)
		}
	}
}

func TestDay(t *testing.T) {
	day := feedback.At(time.Date(2026, 3, 2, 0, 30, 0, 0, time.FixedZone("", 3600)))
	for lang, want := range map[string]string{
		"en": "March 1, 2026", "de": "1. März 2026", "es": "1 de marzo de 2026", "ja": "2026年3月1日", "ar": "1 مارس 2026",
	} {
		if got := match(lang).Day(day); got != want {
			t.Errorf("%s: %s, want %s", lang, got, want)
		}
	}
}

func TestBrand(t *testing.T) {
	for name, want := range map[string]string{
		"4F46E5.css": ":root{--brand:#4F46E5;--ink:#fff}\n", "f5d90a.css": ":root{--brand:#f5d90a;--ink:#000}\n",
		"757575.css": ":root{--brand:#757575;--ink:#fff}\n", "777777.css": ":root{--brand:#777777;--ink:#000}\n",
		"f5d90a": "", "f5d90a.js": "", ".css": "", "f5d90.css": "", "f5d90ag.css": "", "red;}.css": "", "": "", "../a.css": "",
	} {
		if got := Brand(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if icon := Brand("f5d90a.svg"); !strings.Contains(icon, `fill="#f5d90a"`) || !strings.Contains(icon, `stroke="#000"`) {
		t.Error(icon)
	}
}

// TestWeight checks that the page loads little.
func TestWeight(t *testing.T) {
	var style bytes.Buffer
	w := gzip.NewWriter(&style)
	if _, err := w.Write(MineStyle); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if style.Len() > 8<<10 || len(MineScript) > 1<<10 {
		t.Errorf("the style has %d bytes, gzipped, and the script %d", style.Len(), len(MineScript))
	}
}
