package portal

import (
	"encoding/xml"
	"net/url"
	"slices"
	"strings"
	"testing"

	"gatherkit/internal/feedback"
)

// find returns the first element with an attribute, or nil.
func (d document) find(name, key, value string) *xml.StartElement {
	for _, e := range d.all(name) {
		if attribute(e, key) == value {
			return &e
		}
	}
	return nil
}

// TestVotes checks from whom votes are taken.
func TestVotes(t *testing.T) {
	ada := &Visitor{Name: "Ada"}
	for name, test := range map[string]struct {
		from    feedback.Taking
		visitor *Visitor
		signIn  bool
		voted   bool
		does    string // what the button does; "" if there is none
		signs   bool   // whether a link leads to the page to sign in
	}{
		"anyone":             {feedback.FromAnyone, nil, true, false, "add", false},
		"anyone, voted":      {feedback.FromAnyone, nil, false, true, "remove", false},
		"verified":           {feedback.FromVerified, nil, true, false, "", true},
		"verified, no page":  {feedback.FromVerified, nil, false, false, "", false},
		"verified, signed":   {feedback.FromVerified, ada, true, false, "add", false},
		"verified, has":      {feedback.FromVerified, ada, true, true, "remove", false},
		"nobody":             {feedback.FromNobody, ada, true, true, "", false},
		"nobody, not signed": {feedback.FromNobody, nil, true, false, "", false},
	} {
		site := testSite()
		site.Votes, site.Visitor, site.SignIn = test.from, test.visitor, test.signIn
		idea := testIdeas("Dark mode", "")[0]
		idea.Voted = test.voted
		for at, page := range map[string]rendered{
			"?q=dark&tag=a":                        Board{Site: site, Query: "dark", Tag: "a", Ideas: []Idea{idea}},
			"roadmap":                              Roadmap{site, []Column{{"planned", 1, []Idea{idea}}}},
			"r/" + idea.ID.String() + "/dark-mode": IdeaPage{Site: site, Idea: idea},
		} {
			d := parse(t, renderPage(t, page, "en"))
			button := d.find("button", "form", "ballot")
			if form := d.find("form", "id", "ballot"); (button != nil) != (test.does != "") || (form != nil) != (test.does != "") {
				t.Errorf("%s: %v", name, button)
			}
			if button != nil {
				pressed := "false"
				if test.voted {
					pressed = "true"
				}
				if attribute(*button, "name") != test.does || attribute(*button, "value") != idea.ID.String() ||
					attribute(*button, "aria-pressed") != pressed || attribute(*d.find("form", "id", "ballot"), "action") != "/p/acme/vote" {
					t.Errorf("%s: %v", name, *button)
				}
				if back := d.find("input", "name", "back"); attribute(*back, "value") != at {
					t.Errorf("%s: %v, want %s", name, back, at)
				}
			}
			link := d.find("a", "class", "vote")
			if (link != nil) != test.signs || link != nil && !strings.HasPrefix(attribute(*link, "href"), "/p/acme/sign-in?to=") {
				t.Errorf("%s: %v", name, link)
			}
			said := map[string]string{"add": "Vote for ", "remove": "Vote for "}[test.does]
			if test.signs {
				said = "Sign in to vote for "
			}
			if said != "" {
				said += "\u2068Dark mode\u2069"
			} else {
				said = "Votes:"
			}
			if !strings.Contains(d.text, said+" 1000") {
				t.Errorf("%s does not say %s: %s", name, said, d.text)
			}
		}
	}
}

// TestTypedOnce: a page repeats what was typed as often for many ideas as for one, so that long searches stay small.
func TestTypedOnce(t *testing.T) {
	site, typed := testSite(), strings.Repeat("\u691c", 200)
	site.Votes = feedback.FromAnyone
	ideas := testIdeas("Dark mode", "")
	for name, page := range map[string]func(ideas []Idea) rendered{
		"board": func(ideas []Idea) rendered { return Board{Site: site, Query: typed, Ideas: ideas} },
		"new":   func(ideas []Idea) rendered { return NewIdea{Site: site, Draft: Draft{Title: typed}, Similar: ideas} },
	} {
		repeats := func(ideas []Idea) int {
			text := string(renderPage(t, page(ideas), "en"))
			return strings.Count(text, typed) + strings.Count(text, url.QueryEscape(typed))
		}
		if one, many := repeats(ideas[:1]), repeats(ideas); one != many || one == 0 {
			t.Errorf("%s: %d times for one idea, %d for %d", name, one, many, len(ideas))
		}
	}
}

// TestForms checks that forms have the right fields, and keep what was typed.
func TestForms(t *testing.T) {
	const typed = "\n  <b>My text</b>"
	pages := samples(typed)
	for name, want := range map[string]struct {
		action string
		fields []string
		wrong  string // name of the field that is wrong, or ""
	}{
		"new":             {"/p/acme/new", []string{"title", "description", "website"}, ""},
		"new, similar":    {"/p/acme/new", []string{"title=", "description", "email", "name", "website"}, ""},
		"new, no title":   {"/p/acme/new", []string{"title=", "description=", "email=", "name=", "website"}, "title"},
		"new, no e-mail":  {"/p/acme/new", []string{"title=", "description=", "email=", "name=", "website"}, "email"},
		"new, refused":    {"/p/acme/new", []string{"title=", "description=", "name=", "website"}, ""},
		"idea":            {"/p/acme/r/" + testID(10).String() + "/comments", []string{"body", "name"}, ""},
		"idea, signed in": {"/p/acme/r/" + testID(10).String() + "/comments", []string{"body"}, ""},
		"idea, no body":   {"/p/acme/r/" + testID(10).String() + "/comments", []string{"body=", "name="}, "body"},
		"idea, failed":    {"/p/acme/r/" + testID(10).String() + "/comments", []string{"body=", "name="}, ""},
	} {
		text := renderPage(t, pages[name], "en")
		d := parse(t, text)
		if d.find("form", "action", want.action) == nil {
			t.Errorf("%s has no form for %s", name, want.action)
		}
		var fields []string
		for _, e := range slices.Concat(d.all("input"), d.all("textarea")) {
			field := attribute(e, "name")
			if field == "" || attribute(e, "type") == "hidden" { // without a name, it is not sent
				continue
			}
			if wrong := attribute(e, "aria-invalid") == "true"; wrong != (field == want.wrong) {
				t.Errorf("%s: %v is wrong: %v", name, e, wrong)
			}
			// What follows <textarea> is a line break that browsers leave out.
			if strings.Contains(attribute(e, "value"), "My text") ||
				strings.Contains(string(text), ">\n\n  &lt;b&gt;My text&lt;/b&gt;</textarea>") && e.Name.Local == "textarea" {
				field += "="
			}
			fields = append(fields, field)
		}
		order := []string{"title", "description", "body", "email", "name", "website"}
		place := func(field string) int { return slices.Index(order, strings.TrimSuffix(field, "=")) }
		slices.SortFunc(fields, func(a, b string) int { return place(a) - place(b) })
		if !slices.Equal(fields, want.fields) {
			t.Errorf("%s has the fields %q, want %q", name, fields, want.fields)
		}
	}
}

// TestTooLong: a text that is too long is kept, and the page says how many characters are too many.
func TestTooLong(t *testing.T) {
	for field, most := range map[string]int{"title": MaxTitle, "description": MaxText, "name": MaxName} {
		for extra, want := range map[int]string{0: "", 1: "Characters to remove: \u20681\u2069", 2345: "Characters to remove: \u20682345\u2069"} {
			text := strings.Repeat("👍", most+extra)
			refusal := &Refusal{Field: field, Error: feedback.Invalid("portal", field, "Long.")}
			d := Draft{Title: " " + text, Body: text + "\n", Name: text, Refusal: refusal}
			page := renderPage(t, NewIdea{Site: testSite(), Draft: d}, "en")
			alert := parse(t, page).find("p", "id", "alert-"+field)
			said := strings.ReplaceAll(string(page), "Characters to remove: \u2068{count}\u2069", "") // what the script would say
			if alert == nil || strings.Contains(said, "Characters to remove") != (want != "") || !strings.Contains(string(page), want) {
				t.Errorf("%s with %d characters too many: %v", field, extra, alert)
			}
			if !strings.Contains(string(page), text) {
				t.Errorf("%s is not kept", field)
			}
		}
	}
}

// TestBoardLinks checks where the links of a board lead.
func TestBoardLinks(t *testing.T) {
	for path, b := range map[string]Board{
		"":                               {Order: Top},
		"?sort=new":                      {Order: New},
		"?after=c&q=top&status=planned":  {Query: "top", Status: "planned", After: "c"},
		"?q=a%26b&sort=trending&tag=%3F": {Query: "a&b", Tag: "?", Order: Trending},
	} {
		if got := b.path(); got != path {
			t.Errorf("%s, want %s", got, path)
		}
	}
	b := samples("Text")["board, filtered"].(Board)
	b.Query, b.Order = "a b", New
	d := parse(t, renderPage(t, b, "en"))
	for _, link := range []string{
		"/p/acme/?q=a+b&sort=new&tag=Text",                           // all statuses
		"/p/acme/?q=a+b&sort=new&status=completed&tag=Text",          // another status
		"/p/acme/?q=a+b&sort=new&status=planned",                     // without the tag
		"/p/acme/?q=a+b&sort=new&status=planned&tag=b",               // another tag
		"/p/acme/?q=a+b&status=planned&tag=Text",                     // the usual order
		"/p/acme/?after=next&q=a+b&sort=new&status=planned&tag=Text", // the next page
		"/p/acme/?q=a+b&sort=new&status=planned&tag=Text",            // the first page
		"/p/acme/?sort=new",                                          // all ideas
		"/p/acme/new?title=a+b",
	} {
		if d.find("a", "href", link) == nil {
			t.Errorf("no link leads to %s", link)
		}
	}
}

// TestPortalTheme: the language, the scheme and the names of statuses are those of the app.
func TestPortalTheme(t *testing.T) {
	site := testSite()
	site.Locale, site.Theme = "de", "dark"
	site.Statuses.Planned.Label = "Bald"
	ideas := testIdeas("Text", "")
	d := parse(t, renderPage(t, Board{Site: site, Ideas: ideas, Statuses: []StatusCount{{"planned", 2}, {"completed", 1}}}, "fr"))
	if root := d.elements[0]; attribute(root, "lang") != "de" || attribute(root, "class") != "dark" {
		t.Errorf("%v", root)
	}
	if strings.Count(d.text, "Bald") != 2 || strings.Contains(d.text, "Geplant") || !strings.Contains(d.text, "Umgesetzt") {
		t.Error(d.text)
	}
	site.Theme = "blue"
	if d = parse(t, renderPage(t, Missing{site}, "fr")); attribute(d.elements[0], "class") != "" {
		t.Errorf("%v", d.elements[0])
	}
	for _, accept := range []string{"fr-CA, en;q=0.5", "fr"} {
		site.Locale = ""
		if d = parse(t, renderPage(t, Problem{site, feedback.ErrInternal}, accept)); attribute(d.elements[0], "lang") != "fr" {
			t.Errorf("%v", d.elements[0])
		}
	}
}
