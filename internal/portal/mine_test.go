package portal

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
)

// document is what a test looks at of a page.
type document struct {
	elements []xml.StartElement
	text     string
}

// parse reads a page, which must be well-formed: what is opened is closed, in order.
func parse(t *testing.T, page []byte) (d document) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(string(page)))
	decoder.Strict, decoder.Entity = false, xml.HTMLEntity
	var open []string
	for {
		token, err := decoder.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, page)
		}
		switch token := token.(type) {
		case xml.StartElement:
			d.elements = append(d.elements, token.Copy())
			if name := token.Name.Local; !slices.Contains(xml.HTMLAutoClose, name) {
				open = append(open, name)
			}
		case xml.EndElement:
			name := token.Name.Local
			if slices.Contains(xml.HTMLAutoClose, name) { // RawToken invents it for <path/>, not for <input>
				continue
			}
			if len(open) == 0 || open[len(open)-1] != name {
				t.Fatalf("</%s> in %v\n%s", name, open, page)
			}
			open = open[:len(open)-1]
		case xml.CharData:
			d.text += string(token)
		}
	}
	if len(open) > 0 {
		t.Fatalf("still open: %v\n%s", open, page)
	}
	return d
}

func (d document) all(name string) (found []xml.StartElement) {
	for _, e := range d.elements {
		if e.Name.Local == name {
			found = append(found, e)
		}
	}
	return found
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

var (
	asked = feedback.At(time.Date(2026, 3, 1, 23, 30, 0, 0, time.UTC))
	told  = feedback.At(time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC))
)

// list is a page with requests of each status and kind.
func list() Mine {
	m := Mine{Token: "gsl_0123456789ABCdef", App: "Acme", Color: "#F5D90A", Unread: 2, Cursor: "this", Next: "next"}
	for i, status := range feedback.Settable() {
		r := Request{
			ID: fmt.Sprintf("id-%d", i), Title: "Title " + string(status), Description: "Description " + string(status), Status: status,
			Votes: int64(1000 + i), Asked: i%2 == 0, Merged: i == 2, Unread: i < 2, CanReply: i == 0, CreatedAt: asked, NewsAt: &told,
		}
		if i == 0 {
			for n := range 5 {
				r.Comments = append(r.Comments, Comment{Body: fmt.Sprintf("Message %d", n), At: told, Own: n%2 == 1})
			}
		}
		m.Requests = append(m.Requests, r)
	}
	return m
}

// states are the pages that people see.
func states() map[string]Mine {
	change := func(fn func(*Mine)) Mine {
		m := list()
		fn(&m)
		return m
	}
	return map[string]Mine{
		"list":        list(),
		"empty":       {Token: "gsl_0123456789ABCdef", App: "Acme"},
		"asks":        {},
		"not a link":  {Posted: true, Pasted: `"><script>`},
		"forgotten":   {Forgotten: true},
		"ended":       {Token: "gsl_0123456789ABCdef", Failure: feedback.ErrStatusLinkNotFound},
		"unavailable": {Token: "gsl_0123456789ABCdef", Failure: feedback.ErrUnavailable},
		"broken":      {Token: "gsl_0123456789ABCdef", Failure: feedback.ErrInternal},
		"limited":     {Token: "gsl_0123456789ABCdef", Failure: feedback.ErrRateLimited},
		"sent":        change(func(m *Mine) { m.Reply = Reply{RequestID: "id-0"} }),
		"refused":     change(func(m *Mine) { m.Reply = Reply{"id-0", "\nMy <reply>", feedback.ErrReplyNotAllowed} }),
		"too long": change(func(m *Mine) {
			m.Reply = Reply{"id-0", " " + strings.Repeat("é", MaxText+3) + "\n", feedback.Invalid("mine", "body", "Too long.")}
		}),
		"gone": change(func(m *Mine) { m.Reply = Reply{"id-9", "My <reply>", feedback.ErrRequestNotFound} }),
		"all fails": {
			Token: "gsl_0123456789ABCdef", Failure: feedback.ErrUnavailable, Reply: Reply{"id-0", "My <reply>", feedback.ErrUnavailable},
		},
	}
}

func render(t *testing.T, m Mine, language string) document {
	t.Helper()
	page, err := m.Render(language)
	if err != nil {
		t.Fatal(err)
	}
	if m.Token != "" && strings.Contains(string(page), m.Token) {
		t.Errorf("the page has the token, which opens it:\n%s", page)
	}
	return parse(t, page)
}

// TestEveryPage checks what holds for each page in each language.
func TestEveryPage(t *testing.T) {
	for name, m := range states() {
		for _, l := range locales {
			t.Run(name+" "+l.Lang, func(t *testing.T) {
				d := render(t, m, l.Lang)
				root := d.elements[0]
				if attribute(root, "lang") != l.Lang || attribute(root, "dir") != l.Dir {
					t.Errorf("%v", root)
				}
				if want := m.Token[max(0, len(m.Token)-6):]; attribute(root, "data-check") != want {
					t.Errorf("%v, want the end of the link %q", root, want)
				}
				if n := len(d.all("h1")); n != 1 {
					t.Errorf("%d headings of the page", n)
				}
				if strings.Contains(d.text, "{") {
					t.Errorf("something is not filled in: %s", d.text)
				}
				ids, refers := map[string]bool{}, []string{}
				for _, e := range d.elements {
					for _, a := range e.Attr {
						switch key := a.Name.Local; {
						case key == "id" && ids[a.Value]:
							t.Errorf("the id %s is there twice", a.Value)
						case key == "id":
							ids[a.Value] = true
						case key == "for" || strings.HasPrefix(key, "aria-labelledby") || key == "aria-describedby":
							refers = append(refers, a.Value)
						case key == "style" || strings.HasPrefix(key, "on"):
							t.Errorf("%v is against the policy", e)
						case key == "href" || key == "src" || key == "action":
							if !strings.HasPrefix(a.Value, "mine") { // relative, because a proxy may serve it below a path of its own
								t.Errorf("%v leads elsewhere", e)
							}
						}
					}
				}
				for _, id := range refers {
					if !ids[id] {
						t.Errorf("nothing has the id %s", id)
					}
				}
				if scripts := d.all("script"); len(scripts) != 1 || attribute(scripts[0], "src") != "mine/mine.js" || len(d.all("style")) > 0 {
					t.Errorf("%v, %v", scripts, d.all("style"))
				}
			})
		}
	}
}

// TestStates checks what each page says, and its status.
func TestStates(t *testing.T) {
	const entered = "My <reply>"
	answers := []string{"request_id", "cursor", "body", "do=reply", "do=forget"}
	for name, want := range map[string]struct {
		status int
		has    []string
		fields []string // names of the fields and buttons
	}{
		"list": {200, []string{
			"Your ideas · Acme", "\u20682\u2069 updates", "In progress", "Completed", "Declined", "Title opened", "Description planned",
			"\u20681005\u2069 votes", "March 1, 2026", "Updated \u2068November 22, 2026\u2069", "Someone else had the same idea",
			"You voted for this", "Show \u20682\u2069 earlier messages", "Show older ideas", "Back to the newest ideas", "Keep its link to yourself",
		}, answers},
		"empty":       {200, []string{"Nothing here yet"}, []string{"do=forget"}},
		"asks":        {200, []string{"Follow your ideas"}, []string{"link", ""}},
		"not a link":  {400, []string{"This link is not complete"}, []string{"link", ""}},
		"forgotten":   {200, []string{"Signed out", "Your link still works"}, []string{"link", ""}},
		"ended":       {404, []string{"This link no longer works"}, []string{"link", ""}},
		"unavailable": {503, []string{"We are unavailable right now", "Try again"}, nil},
		"broken":      {500, []string{"We are unavailable right now"}, nil},
		"limited":     {429, []string{"Too many visits at once"}, nil},
		"sent":        {200, []string{"Your reply was sent."}, answers},
		"refused":     {409, []string{"as soon as the team has answered", entered}, answers},
		"too long":    {400, []string{"between 1 and 10,000 characters. Characters to remove: \u20683\u2069", "ééé"}, answers},
		"gone": {404, []string{"can no longer be reached", entered}, []string{
			"request_id", "cursor", "body", "request_id", "cursor", "body", "do=reply", "do=forget",
		}},
		"all fails": {503, []string{"We are unavailable", "send it again", entered}, []string{"request_id", "cursor", "body", "do=reply"}},
	} {
		m := states()[name]
		d := render(t, m, "en")
		status := 200
		if problem := m.Problem(); problem != nil {
			status = problem.Status
		}
		if status != want.status {
			t.Errorf("%s: %d, want %d", name, status, want.status)
		}
		for _, text := range want.has {
			if !strings.Contains(d.text, text) {
				t.Errorf("%s does not say %q: %s", name, text, d.text)
			}
		}
		var fields []string
		for _, e := range d.elements {
			switch e.Name.Local {
			case "input", "textarea", "button":
				field := attribute(e, "name")
				if value := attribute(e, "value"); e.Name.Local == "button" && value != "" {
					field += "=" + value
				}
				fields = append(fields, field)
			}
		}
		if !slices.Equal(fields, want.fields) {
			t.Errorf("%s has the fields %q, want %q", name, fields, want.fields)
		}
		if len(states()) != 14 {
			t.Errorf("%d states", len(states()))
		}
	}
}

// TestHostileTexts checks that what people write stays text.
func TestHostileTexts(t *testing.T) {
	plain := list()
	plain.Requests = plain.Requests[:1]
	hostile := plain
	hostile.Requests = slices.Clone(plain.Requests)
	const evil = `</textarea></title><script>alert(1)</script><img src=x onerror=alert(1)>"'>{{.}} javascript:alert(1)` + "\u202e"
	r := &hostile.Requests[0]
	hostile.App, hostile.Color, hostile.Next = evil, `red}</style><script>`, `"><script>alert(1)</script>`
	r.Title, r.Description, r.ID = evil, evil, `"><script>`
	r.Comments = []Comment{{Body: evil}, {Body: evil, Own: true}}
	hostile.Reply = Reply{RequestID: r.ID, Body: evil, Failure: feedback.ErrReplyNotAllowed}
	want := plain
	want.Requests = slices.Clone(plain.Requests)
	want.Requests[0].Comments = []Comment{{Body: "A"}, {Body: "B", Own: true}}
	want.Color = ""
	want.Reply = Reply{RequestID: "id-0", Body: "C", Failure: feedback.ErrReplyNotAllowed}

	names := func(d document) (names []string) {
		for _, e := range d.elements {
			names = append(names, e.Name.Local)
		}
		return names
	}
	page, err := hostile.Render("en")
	if err != nil {
		t.Fatal(err)
	}
	got := parse(t, page)
	if expected := names(render(t, want, "en")); !slices.Equal(names(got), expected) {
		t.Errorf("the elements are\n%v, want\n%v", names(got), expected)
	}
	if n := strings.Count(got.text, evil); n < 6 {
		t.Errorf("the text is there %d times: %s", n, got.text)
	}
}

// TestCommentsAreMarkdown: what the team writes has links and emphasis. What the person wrote stays as it is.
func TestCommentsAreMarkdown(t *testing.T) {
	for text, want := range map[string]struct {
		elements []string
		text     string
	}{
		"See https://example.com/a?b=c&d=1, or (http://example.org).": {
			[]string{"p", "a https://example.com/a?b=c&d=1", "a http://example.org"}, "",
		},
		"We **begin** [soon](https://example.com).": {[]string{"p", "strong", "a https://example.com"}, "We begin soon."},
		"1. *one*\n2. two":                          {[]string{"ol", "li", "em", "li"}, "one\ntwo"},
		"# Large":                                   {[]string{"h3"}, "Large"},
		"javascript:alert(1) ftp://x https://":      {[]string{"p"}, ""},
		"[a](javascript:alert(1)) <img src=x>":      {[]string{"p"}, "a <img src=x>"},
	} {
		m := Mine{Token: "gsl_x", App: "A", Requests: []Request{{ID: "1", Comments: []Comment{{Body: text}, {Body: text, Own: true}}}}}
		page, err := m.Render("en")
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(page), `<div class="prose" dir="auto">`)
		team, _, _ := strings.Cut(after, "</div>")
		var got []string
		d := parse(t, []byte("<div>"+team+"</div>"))
		for _, e := range d.elements[1:] {
			name := e.Name.Local
			if name == "a" {
				name += " " + attribute(e, "href")
				if attribute(e, "rel") != "nofollow noreferrer" {
					t.Errorf("%v", e)
				}
			}
			got = append(got, name)
		}
		if !slices.Equal(got, want.elements) {
			t.Errorf("%s: %q, want %q", text, got, want.elements)
		}
		if shown := cmp.Or(want.text, text); strings.TrimSpace(d.text) != shown {
			t.Errorf("%s is shown as %q, want %q", text, d.text, shown)
		}
		if whole := parse(t, page); !strings.Contains(whole.text, text) {
			t.Errorf("%s is not whole: %s", text, whole.text)
		}
	}
}

func TestUnseen(t *testing.T) {
	m, later := list(), told+1000
	m.Requests[3].NewsAt, m.Requests[4].NewsAt = &later, nil
	if got := m.UnseenNews(); got != later {
		t.Errorf("%d, want %d", got, later)
	}
	for i := range m.Requests {
		m.Requests[i].Unread = false
	}
	if got := m.UnseenNews(); got != 0 {
		t.Errorf("everything was seen, but not %d", got)
	}
}

func TestPreview(t *testing.T) {
	long := strings.Repeat("語 ", 300)
	for text, want := range map[string]string{
		"": "", "short": "", strings.Repeat("a", 500): "", strings.Repeat("a", 501): strings.Repeat("a", 240) + "…",
		"1\n2\n3\n4\n5\n6\n7\n8": "", "1\n2\n3\n4\n5\n6\n7\n8\n9": "1 2 3 4 5 6 7 8 9…", long: strings.Repeat("語 ", 120) + "…",
	} {
		if got := preview(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestLabel: the app's own name of a status replaces the usual one.
func TestLabel(t *testing.T) {
	m := states()["list"]
	m.Requests = m.Requests[:1]
	usual := render(t, m, "en").text
	m.Requests[0].Label = "On the list"
	if own := render(t, m, "en").text; !strings.Contains(own, "On the list") || len(strings.Fields(own)) <= len(strings.Fields(usual)) {
		t.Error(own)
	}
}

// TestReplyLater: a person whose latest comments are all their own, and who cannot reply, learns why.
func TestReplyLater(t *testing.T) {
	m := states()["list"]
	const later = "You can write again as soon as the team has answered."
	if text := render(t, m, "en").text; strings.Contains(text, later) {
		t.Error("a request to which the person can reply, or without comments, says when they can")
	}
	m.Requests = m.Requests[:1]
	m.Requests[0].CanReply = false
	if text := render(t, m, "en").text; !strings.Contains(text, later) || strings.Contains(text, "Send reply") {
		t.Error(text)
	}
}
