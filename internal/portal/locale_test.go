package portal

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	plurals "golang.org/x/text/feature/plural"

	"gatherkit/internal/feedback"
)

// TestLocales checks that each language of the widget has each text, with the same values, and that a
// status has one name in the widget and here.
func TestLocales(t *testing.T) {
	widget, err := os.ReadDir("../../web/widget/src/locales")
	if err != nil || len(widget) != len(locales) {
		t.Errorf("the widget has %d languages, and the page %d; %v", len(widget), len(locales), err)
	}
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
		var texts map[string]any
		text, err = os.ReadFile(path.Join("../../web/widget/src/locales", file.Name()))
		if err := errors.Join(err, json.Unmarshal(text, &texts)); err != nil {
			t.Fatal(err)
		}
		for _, status := range feedback.Settable() {
			if name := l.Status[status]; name == "" || name != texts["mine_"+string(status)] {
				t.Errorf("%s: %s is %q; want %q", file.Name(), status, name, texts["mine_"+string(status)])
			}
		}
		compareTexts(t, file.Name(), english, reflect.ValueOf(l))
	}
}

// compareTexts checks that each text is there, with the same values as the English one.
func compareTexts(t *testing.T, file string, english, other reflect.Value) {
	t.Helper()
	values := regexp.MustCompile(`\{\w+\}`)
	for i := range english.NumField() {
		name := english.Type().Field(i).Name
		switch english.Field(i).Kind() {
		case reflect.Struct:
			compareTexts(t, file, english.Field(i), other.Field(i))
		case reflect.String:
			got := other.Field(i).String()
			has, wants := values.FindAllString(got, -1), values.FindAllString(english.Field(i).String(), -1)
			slices.Sort(has)
			slices.Sort(wants)
			if got == "" || name != "Date" && !slices.Equal(has, wants) || name == "Date" && len(has) != 3 {
				t.Errorf("%s: %s is %q", file, name, got)
			}
		case reflect.Map:
			if text, ok := other.Field(i).Interface().(plural); ok {
				checkPlural(t, file, name, text)
			}
		}
	}
}

// checkPlural checks that a text has exactly the forms that its language uses. The numbers zero, one and two of
// Arabic are part of the noun.
func checkPlural(t *testing.T, file, name string, text plural) {
	t.Helper()
	l := match(strings.TrimSuffix(file, ".json"))
	used := map[string]bool{}
	for n := range 200 {
		used[categories[plurals.Cardinal.MatchPlural(l.tag, n, 0, 0, 0, 0)]] = true
	}
	for category := range used {
		form, spelled := text[category], l.Lang == "ar" && slices.Contains([]string{"zero", "one", "two"}, category)
		if form == "" || strings.Contains(form, "{count}") == spelled {
			t.Errorf("%s: %s of %s is %q", file, category, name, form)
		}
	}
	if len(text) != len(used) {
		t.Errorf("%s: %s has the forms %v; want %v", file, name, text, used)
	}
}

func TestCount(t *testing.T) {
	for lang, want := range map[string][]string{
		"en": {"0 votes", "1 vote", "2 votes", "21 votes", "10000001 votes"},
		"fr": {"0 vote", "1 vote", "2 votes", "21 votes", "10000001 votes"},
		"ja": {"0 票", "1 票", "2 票", "21 票", "10000001 票"},
		"ar": {"لا أصوات", "صوت واحد", "صوتان", "21 صوتًا", "10000001 صوت"},
	} {
		for i, n := range []int64{0, 1, 2, 21, 10_000_001} {
			l := match(lang)
			if got := strings.NewReplacer("\u2068", "", "\u2069", "").Replace(l.Count(l.Votes, n)); got != want[i] {
				t.Errorf("%s: %d is %q; want %q", lang, n, got, want[i])
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
	if style.Len() > 8<<10 || len(MineScript) > 2<<10 {
		t.Errorf("the style has %d bytes, gzipped, and the script %d", style.Len(), len(MineScript))
	}
}

// TestBrandLink: all pages ask for the file with their color by one name, however the color is written.
func TestBrandLink(t *testing.T) {
	asked := regexp.MustCompile(`brand/(\w*)\.css`)
	for color, want := range map[string]string{"#F5D90A": "f5d90a", "#f5d90a": "f5d90a", "red": "", "": ""} {
		for page, r := range map[string]rendered{
			"board": Board{Site: Site{App: "Acme", Color: color}}, "mine": Mine{App: "Acme", Color: color},
			"confirm": ConfirmPage{App: "Acme", Color: color}, "stop": StopPage{App: "Acme", Color: color},
		} {
			html, err := r.Render("en")
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if found := asked.FindSubmatch(html); found != nil {
				got = string(found[1])
			}
			if got != want {
				t.Errorf("%s with the color %q asks for %q", page, color, got)
			}
		}
	}
}
