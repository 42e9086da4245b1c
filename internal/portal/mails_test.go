package portal

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatherkit/internal/feedback"
)

var update = flag.Bool("update", false, "write the golden files")

const (
	hostile = "</title><img src=x onerror=alert(1)>\r\nBcc: eve@example.com\u202e"
	at      = "https://feedback.example.com/mail/"
)

// mailsIn are all mails in a language, with a text in each place that somebody fills.
func mailsIn(lang, text string) map[string]func() (Message, error) {
	until := feedback.At(time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC))
	updates := []Update{
		{
			Title: text, Status: "planned", Was: feedback.Opened, Stop: at + "stop?t=one",
			Comments: []string{"We **begin** soon, see https://example.com/plan.\n\n" + text},
		},
		{Title: "Maps", Status: "completed", Was: "completed", Merged: true, Stop: at + "stop?t=two"},
		{Title: "Labels", Status: "planned", Was: feedback.Opened, Label: text + "?", WasLabel: text + "!", Stop: at + "stop?t=three"},
	}
	quiet := DigestMail{Name: text, New: 1, Home: "https://feedback.example.com", Settings: "https://feedback.example.com/account"}
	confirm := ConfirmMail{App: text, Color: "#f5d90a", Confirm: at + "confirm?t=yes", Stop: at + "stop?t=all"}
	return map[string]func() (Message, error){
		"confirm": func() (Message, error) { return confirm.Render(lang) },
		"one": func() (Message, error) {
			return UpdateMail{App: text, Color: "#4F46E5", Requests: updates[:1], Stop: at + "stop?t=all"}.Render(lang)
		},
		"many": func() (Message, error) {
			return UpdateMail{App: text, Color: "blue", Requests: updates, Stop: at + "stop?t=all"}.Render(lang)
		},
		"invitation": InviteMail{Team: text, By: text, Link: "https://feedback.example.com/join#token", Until: until}.Render,
		"recovery":   RecoveryMail{By: text, Link: "https://feedback.example.com/join#token", Until: until}.Render,
		"digest": DigestMail{
			Name: text, Home: "https://feedback.example.com", Weekly: true, New: 12, MoreNew: 11, Settings: "https://feedback.example.com/account",
			Requests:  []DigestRequest{{App: text, Title: text, Link: "https://feedback.example.com/?request=1", Votes: 1}},
			Moved:     []DigestMove{{App: text, Title: text, Link: "https://feedback.example.com/?request=2", From: text, To: "Planned"}},
			MoreMoved: 3,
		}.Render,
		"quiet digest": quiet.Render,
	}
}

// TestMails compares all mails with testdata/mails.txt, which -update writes.
func TestMails(t *testing.T) {
	var got strings.Builder
	for _, lang := range []string{"en", "ar"} {
		for _, name := range []string{"confirm", "one", "many", "invitation", "recovery", "digest", "quiet digest"} {
			m, err := mailsIn(lang, "Shop & Co")[name]()
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "=== %s, %s\nSubject: %s\n\n%s\n%s\n", name, lang, m.Subject, m.Text, m.HTML)
		}
	}
	compareFile(t, "testdata/mails.txt", "the mails", got.String())
}

// compareFile compares a text with that of a file, or writes the file with -update.
func compareFile(t *testing.T, file, what, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differ from %s (-want +got); run the test with -update:\n%s", what, file, diff)
	}
}

// TestMailsAreSafe: whatever people write, a mail has a subject of one line, runs nothing, loads nothing and
// links only where it should.
func TestMailsAreSafe(t *testing.T) {
	links := regexp.MustCompile(`href="([^"]*)"`)
	for _, lang := range []string{"en", "de", "ja", "ar", "", "x-unknown"} {
		for name, render := range mailsIn(lang, hostile+strings.Repeat("long ", 2000)) {
			m, err := render()
			if err != nil {
				t.Fatal(err)
			}
			if strings.ContainsAny(m.Subject, "\r\n\u2068\u202e") || len([]rune(m.Subject)) > 80 || m.Subject == "" {
				t.Errorf("%s: the subject is %q", name, m.Subject)
			}
			for _, forbidden := range []string{"<img", "<script", "src=", "url(", "@import", "ZgotmplZ"} {
				if strings.Contains(strings.ReplaceAll(m.HTML, "&lt;img src=x", ""), forbidden) {
					t.Errorf("%s: the HTML has %s", name, forbidden)
				}
			}
			for _, link := range links.FindAllStringSubmatch(m.HTML, -1) {
				teams := link[1] == "https://example.com/plan" || link[1] == "mailto:eve@example.com" // in a comment of the team
				if !strings.HasPrefix(link[1], "https://feedback.example.com") && !teams {
					t.Errorf("%s links to %s", name, link[1])
				}
			}
			if strings.ContainsAny(m.Text, "\u2068\u2069") {
				t.Errorf("%s: the text has marks of direction", name)
			}
		}
	}
}

// TestMailsInAllLanguages: no mail and no page lacks a text, or has one that was not filled in.
func TestMailsInAllLanguages(t *testing.T) {
	open := regexp.MustCompile(`\{\w+\}`)
	for _, l := range locales {
		for name, render := range mailsIn(l.Lang, "Shop") {
			m, err := render()
			text := regexp.MustCompile(`(?s)<style>.*</style>`).ReplaceAllString(m.HTML, "")
			if err != nil || open.MatchString(m.Subject+m.Text+text) {
				t.Errorf("%s, %s: %v, %s", l.Lang, name, err, m.Text)
			}
		}
		for n, page := range []interface{ Render(string) ([]byte, error) }{
			ConfirmPage{App: "Shop", Token: "t"},
			ConfirmPage{App: "Shop", Done: true},
			ConfirmPage{Failure: feedback.ErrMailLinkNotFound},
			StopPage{App: "Shop", Title: "Maps", Token: "t"},
			StopPage{App: "Shop", Token: "t", Daily: true, Done: DoDaily},
			StopPage{App: "Shop", Done: DoStop},
			StopPage{Failure: feedback.ErrRateLimited},
			StopPage{Failure: feedback.ErrUnavailable},
		} {
			text, err := page.Render(l.Lang)
			if err != nil || open.Match(text) || !strings.Contains(string(text), `lang="`+l.Lang+`"`) {
				t.Errorf("%s, page %d: %v, %s", l.Lang, n, err, text)
			}
		}
	}
}

// TestChoice: a page whose link does not work has no form, and what strangers have written stays text.
func TestChoice(t *testing.T) {
	for _, failure := range []*feedback.Error{feedback.ErrMailLinkNotFound, feedback.ErrRateLimited, feedback.ErrUnavailable} {
		page, err := StopPage{Failure: failure}.Render("en")
		if err != nil || strings.Contains(string(page), "<form") {
			t.Errorf("%v: %s", err, page)
		}
	}
	page, err := StopPage{App: hostile, Title: hostile, Color: "red;}", Token: `"><script>`}.Render("en")
	if err != nil || regexp.MustCompile(`<img|<script|red;`).Match(page) {
		t.Errorf("%v: %s", err, page)
	}
	for body, want := range map[string]string{
		"do=confirm": DoConfirm, "do=stop": DoStop, "do=soon": DoSoon, "do=daily": DoDaily, "do=else": "", "do": "", "%": "", "": DoStop,
		"List-Unsubscribe=One-Click": DoStop, "do=daily&List-Unsubscribe=One-Click": DoDaily,
	} {
		if got := ParseMailForm([]byte(body)); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func FuzzParseMailForm(f *testing.F) {
	f.Add([]byte("do=stop"))
	f.Add([]byte("--x\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--x--"))
	f.Fuzz(func(t *testing.T, body []byte) {
		switch do := ParseMailForm(body); do {
		case "", DoConfirm, DoStop, DoSoon, DoDaily:
		default:
			t.Errorf("%q", do)
		}
	})
}
