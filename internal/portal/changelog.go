package portal

import (
	"html"
	"html/template"
	"net/url"
	"regexp"
	"strings"

	"gatherkit/internal/feedback"
)

var (
	changelogTemplate = sheet("changelog.html")
	entryTemplate     = sheet("entry.html")
)

// tag matches the tags in a text of the team, which has no others than those of markdown.
var tag = regexp.MustCompile(`<[^>]*>`)

// changelogBody is what the template of the changelog reads.
type changelogBody struct {
	Entries []entry
	First   string // path of the first page, or "" if this is it
	Next    string // path of the next page, or ""
}

// entry is something new on a page.
type entry struct {
	Entry
	T      *locale
	Link   string // path of its page, or "" if this is it
	Day    day
	HTML   template.HTML
	Behind []behind
}

// behind is an idea that an entry completes.
type behind struct {
	Name, Link, Votes string
	Part              string // says that the visitor has asked or voted
}

// EntryPath is the path of an entry's page in the portal.
func EntryPath(e Entry) string {
	return "changelog/" + e.ID.String() + "/" + url.PathEscape(Slug(e.Title))
}

// entry returns what a page says of an entry, whose title is a heading of the given level.
func (p *page) entry(e Entry, link string, level int) (entry, error) {
	text, err := markdown(e.Body, level)
	shown := entry{Entry: e, T: p.T, Link: link, Day: p.T.day(e.At), HTML: text}
	for _, idea := range e.Ideas {
		shown.Behind = append(shown.Behind, behind{
			idea.Title, p.Path(IdeaPath(idea)), p.T.Count(p.T.Votes, idea.Votes), p.part(idea),
		})
	}
	return shown, err
}

// Render returns the page in the language that fits the header Accept-Language best.
func (c Changelog) Render(accept string) ([]byte, error) {
	t := c.texts(accept).Portal
	p := c.page(accept, fill(t.NewsHeading, "app", c.App))
	p.Tab, p.At, p.Feed, p.Summary = "changelog", "changelog", true, t.NewsText
	p.Listed = c.Indexed && c.After == ""
	var body changelogBody
	for _, e := range c.Entries {
		const level = 2
		shown, err := p.entry(e, p.Path(EntryPath(e)), level)
		if err != nil {
			return nil, err
		}
		body.Entries = append(body.Entries, shown)
	}
	if c.After != "" {
		body.First = p.Path("changelog")
	}
	if c.Next != "" {
		body.Next = p.Path("changelog?after=" + url.QueryEscape(c.Next))
	}
	p.Body = body
	return p.render(changelogTemplate)
}

// Render returns the page in the language that fits the header Accept-Language best.
func (e EntryPage) Render(accept string) ([]byte, error) {
	p := e.page(accept, e.Entry.Title)
	p.Tab, p.At, p.Feed, p.Listed, p.Dated = "changelog", EntryPath(e.Entry), true, e.Indexed, true
	shown, err := p.entry(e.Entry, "", 1)
	if err != nil {
		return nil, err
	}
	text := html.UnescapeString(tag.ReplaceAllString(string(shown.HTML), ""))
	p.Summary = feedback.Shorten(strings.Join(strings.Fields(feedback.ToSingleLine(text)), " "), maxSummary)
	p.Body = shown
	return p.render(entryTemplate)
}
