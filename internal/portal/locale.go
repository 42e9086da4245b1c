package portal

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"

	"golang.org/x/text/language"

	"gatherkit/internal/feedback"
)

//go:embed locales
var localeFiles embed.FS

// locale is a language with its texts. Values such as {app} are filled in.
type locale struct {
	Lang   string                     `json:"lang"`
	Dir    string                     `json:"dir"`
	Months []string                   `json:"months"`
	Date   string                     `json:"date"`
	Status map[feedback.Status]string `json:"status"`

	Heading      string `json:"heading"`
	Intro        string `json:"intro"`
	News         string `json:"news"`
	EmptyHeading string `json:"empty_heading"`
	EmptyText    string `json:"empty_text"`
	New          string `json:"new"`
	Asked        string `json:"asked"`
	Voted        string `json:"voted"`
	Votes        string `json:"votes"`
	Updated      string `json:"updated"`
	Merged       string `json:"merged"`
	Details      string `json:"details"`
	Earlier      string `json:"earlier"`
	You          string `json:"you"`
	More         string `json:"more"`
	Newest       string `json:"newest"`
	Keep         string `json:"keep"`
	Forget       string `json:"forget"`

	Reply        string `json:"reply"`
	ReplyLabel   string `json:"reply_label"`
	ReplySend    string `json:"reply_send"`
	ReplySent    string `json:"reply_sent"`
	ReplyInvalid string `json:"reply_invalid"`
	ReplyRefused string `json:"reply_refused"`
	ReplyGone    string `json:"reply_gone"`
	ReplyFailed  string `json:"reply_failed"`

	ForgottenHeading   string `json:"forgotten_heading"`
	ForgottenText      string `json:"forgotten_text"`
	PasteHeading       string `json:"paste_heading"`
	PasteText          string `json:"paste_text"`
	PasteLabel         string `json:"paste_label"`
	PasteOpen          string `json:"paste_open"`
	PasteInvalid       string `json:"paste_invalid"`
	Cookies            string `json:"cookies"`
	EndedHeading       string `json:"ended_heading"`
	EndedText          string `json:"ended_text"`
	UnavailableHeading string `json:"unavailable_heading"`
	UnavailableText    string `json:"unavailable_text"`
	LimitedHeading     string `json:"limited_heading"`
	LimitedText        string `json:"limited_text"`
	Retry              string `json:"retry"`
}

// locales are those of the widget. English comes first, because it is the default.
var locales = mustLoad("en", "ar", "de", "es", "fr", "it", "ja", "nl", "pt", "zh")

var matcher = language.NewMatcher(tags(locales))

// mustLoad panics if an embedded file is broken, as template.Must does.
func mustLoad(names ...string) (list []*locale) {
	for _, name := range names {
		text, err := localeFiles.ReadFile(path.Join("locales", name+".json"))
		l := &locale{}
		if err == nil {
			err = json.Unmarshal(text, l)
		}
		if err != nil {
			panic(fmt.Errorf("%s: %w", name, err))
		}
		list = append(list, l)
	}
	return list
}

func tags(of []*locale) (list []language.Tag) {
	for _, l := range of {
		list = append(list, language.MustParse(l.Lang))
	}
	return list
}

// match returns the locale that fits the header Accept-Language best.
func match(accept string) *locale {
	_, i := language.MatchStrings(matcher, accept)
	return locales[i]
}

// Day returns the day of a time.
func (l *locale) Day(t feedback.Time) string {
	year, month, day := t.Std().Date()
	return strings.NewReplacer("{day}", strconv.Itoa(day), "{month}", l.Months[month-1], "{year}", strconv.Itoa(year)).Replace(l.Date)
}

// fill replaces a name in a text, such as {app}. The value is isolated, because its direction may differ
// from that of the text (Unicode Standard Annex 9, section 2.4).
func fill(text, name string, value any) string {
	const first, pop = "\u2068", "\u2069"
	return strings.ReplaceAll(text, "{"+name+"}", first+fmt.Sprint(value)+pop)
}
