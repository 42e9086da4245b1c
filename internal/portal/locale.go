package portal

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strconv"
	"strings"

	plurals "golang.org/x/text/feature/plural"
	"golang.org/x/text/language"

	"gatherkit/internal/feedback"
)

//go:embed locales
var localeFiles embed.FS

// locale is a language with its texts. Values such as {app} are filled in.
type locale struct {
	tag    language.Tag
	Lang   string                     `json:"lang"`
	Dir    string                     `json:"dir"`
	Months []string                   `json:"months"`
	Date   string                     `json:"date"`
	Status map[feedback.Status]string `json:"status"`

	Heading      string `json:"heading"`
	Intro        string `json:"intro"`
	News         plural `json:"news"`
	EmptyHeading string `json:"empty_heading"`
	EmptyText    string `json:"empty_text"`
	New          string `json:"new"`
	Asked        string `json:"asked"`
	Voted        string `json:"voted"`
	Votes        plural `json:"votes"`
	Updated      string `json:"updated"`
	Merged       string `json:"merged"`
	Details      string `json:"details"`
	Earlier      plural `json:"earlier"`
	You          string `json:"you"`
	More         string `json:"more"`
	Newest       string `json:"newest"`
	Keep         string `json:"keep"`
	Forget       string `json:"forget"`

	Reply        string `json:"reply"`
	ReplyLabel   string `json:"reply_label"`
	ReplySend    string `json:"reply_send"`
	ReplySent    string `json:"reply_sent"`
	Excess       string `json:"excess"`
	ReplyInvalid string `json:"reply_invalid"`
	ReplyRefused string `json:"reply_refused"`
	ReplyLater   string `json:"reply_later"`
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
	ClosedHeading      string `json:"closed_heading"`
	ClosedText         string `json:"closed_text"`
	Retry              string `json:"retry"`

	Mail   mailTexts   `json:"mail"`
	Portal portalTexts `json:"portal"`
}

// mailTexts are the texts of mails and of their pages.
type mailTexts struct {
	ConfirmSubject   string `json:"confirm_subject"`
	ConfirmHeading   string `json:"confirm_heading"`
	ConfirmText      string `json:"confirm_text"`
	ConfirmButton    string `json:"confirm_button"`
	ConfirmIgnore    string `json:"confirm_ignore"`
	ConfirmPage      string `json:"confirm_page"`
	ConfirmedHeading string `json:"confirmed_heading"`
	ConfirmedText    string `json:"confirmed_text"`

	UpdateOne     string `json:"update_one"`
	UpdateMany    string `json:"update_many"`
	UpdateHeading string `json:"update_heading"`
	UpdateText    string `json:"update_text"`
	Status        string `json:"status"`
	Moved         string `json:"moved"`
	Wrote         string `json:"wrote"`
	Why           string `json:"why"`
	StopOne       string `json:"stop_one"`
	StopAll       string `json:"stop_all"`

	StopHeading    string `json:"stop_heading"`
	StopOneText    string `json:"stop_one_text"`
	StopAllText    string `json:"stop_all_text"`
	StopButton     string `json:"stop_button"`
	StoppedHeading string `json:"stopped_heading"`
	StoppedText    string `json:"stopped_text"`
	PaceHeading    string `json:"pace_heading"`
	PaceSoon       string `json:"pace_soon"`
	PaceDaily      string `json:"pace_daily"`
	Save           string `json:"save"`
	Saved          string `json:"saved"`
	GoneHeading    string `json:"gone_heading"`
	GoneText       string `json:"gone_text"`
	FailedText     string `json:"failed_text"`
}

// plural is a text with {count}: one form for each plural category of the language, such as "one" and "other"
// (Unicode Technical Standard 35, part 3, section 5).
type plural map[string]string

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
		l.tag = language.MustParse(l.Lang)
		list = append(list, l)
	}
	return list
}

func tags(of []*locale) (list []language.Tag) {
	for _, l := range of {
		list = append(list, l.tag)
	}
	return list
}

// Language returns the language of the pages that fits a language tag or the header Accept-Language best.
func Language(accept string) string { return match(accept).Lang }

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

// categories are the names of plural categories in locales.
var categories = map[plurals.Form]string{
	plurals.Zero: "zero", plurals.One: "one", plurals.Two: "two", plurals.Few: "few", plurals.Many: "many", plurals.Other: "other",
}

// Count returns the form of a text that the language uses with n.
func (l *locale) Count(text plural, n int64) string {
	category := categories[plurals.Cardinal.MatchPlural(l.tag, int(n), 0, 0, 0, 0)]
	return fill(cmp.Or(text[category], text["other"]), "count", n)
}

// fill replaces a name in a text, such as {app}. The value is isolated, because its direction may differ
// from that of the text (Unicode Standard Annex 9, section 2.4).
func fill(text, name string, value any) string {
	const first, pop = "\u2068", "\u2069"
	return strings.ReplaceAll(text, "{"+name+"}", first+fmt.Sprint(value)+pop)
}
