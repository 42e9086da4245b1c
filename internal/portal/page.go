package portal

import (
	"bytes"
	"cmp"
	"html/template"
	"net/url"
	"strconv"

	"gatherkit/internal/feedback"
)

// layout is what all pages of the portal share. Each page defines main.
var layout = template.Must(template.New("layout.html").Funcs(template.FuncMap{
	"brand": brandOf, "fill": fill, "parts": parts, "plain": plain,
}).ParseFS(templates, "templates/portal/layout.html", "templates/portal/parts.html", "templates/icon.html"))

// sheet returns the layout with the template of a page.
func sheet(name string) *template.Template {
	return template.Must(template.Must(layout.Clone()).ParseFS(templates, "templates/portal/"+name))
}

// page is what the templates of the portal read.
type page struct {
	Site
	T       *locale
	Heading string // of the window, and of most pages
	Summary string // for search engines and other sites
	At      string // path of the page in the portal, with its query
	Tab     string // which link of the header leads here: ideas, roadmap, changelog, me, or ""
	Dated   bool   // the page is about something with a date
	Feed    bool   // the page has a feed
	Listed  bool   // search engines may list the page
	Picture string // path of the picture that other sites show, or ""
	Data    any    // what the page says, for search engines, or nil
	Open    bool   // the other pages are open to the visitor
	Typed   string // what the visitor typed, which votes on this page keep
	Body    any    // what main reads
}

// page returns a page that search engines do not list.
func (s Site) page(accept, heading string) *page {
	return &page{Site: s, T: s.texts(accept), Heading: heading, Open: true}
}

// texts are those in the language of the portal, or else in that of the browser.
func (s Site) texts(accept string) *locale { return match(cmp.Or(s.Locale, accept)) }

func (p *page) render(t *template.Template) ([]byte, error) {
	var out bytes.Buffer
	err := t.Execute(&out, p)
	return out.Bytes(), err
}

// Scheme is light or dark, or "" for that of the browser.
func (p *page) Scheme() string {
	if p.Theme == "light" || p.Theme == "dark" {
		return p.Theme
	}
	return ""
}

// Initial is the first letter of the app's name.
func (p *page) Initial() string { return initial(p.App) }

// Powered says who has made the portal.
func (p *page) Powered() string { return fill(p.T.Portal.Powered, "product", product) }

// SignInPath is the path of the page that leads to a page of the portal after the visitor has signed in.
func (p *page) SignInPath(to string) string {
	if to == "" {
		return p.Path("sign-in")
	}
	return p.Path("sign-in?to=" + url.QueryEscape(to))
}

// label is a status with its name.
type label struct {
	Status feedback.Status
	Name   string
}

// label returns nil for a status without a name.
func (p *page) label(status feedback.Status) *label {
	if name := cmp.Or(p.Statuses.Label(status), p.T.Status[status]); name != "" {
		return &label{status, name}
	}
	return nil
}

// takes reports whether a portal takes something from this visitor, and whether it takes it once they have
// signed in.
func (s Site) takes(from feedback.Taking) (takes, afterSignIn bool) {
	takes = from == feedback.FromAnyone || from == feedback.FromVerified && s.Visitor != nil
	return takes, from == feedback.FromVerified && s.Visitor == nil && s.SignIn
}

// TakesVotes reports whether this visitor may vote.
func (p *page) TakesVotes() bool {
	takes, _ := p.takes(p.Votes)
	return takes
}

// vote is the button of an idea. All buttons of a page belong to one form.
type vote struct {
	ID     feedback.ID
	Taken  bool   // the portal takes a vote for the idea from this visitor
	SignIn string // path of the page on which the visitor signs in first, or ""
	Voted  bool
	Name   string // what it does, or what the number is
	Votes  int64
}

// vote returns the button of an idea. A visitor who has to sign in first comes back to the page back.
func (p *page) vote(idea Idea, back string) vote {
	v := vote{ID: idea.ID, Voted: idea.Voted, Name: p.T.Portal.VotesName, Votes: idea.Votes}
	takes, afterSignIn := p.takes(p.Votes)
	switch {
	case idea.Fixed:
	case takes:
		v.Taken, v.Name = true, fill(p.T.Portal.VoteFor, "title", idea.Title)
	case afterSignIn:
		v.SignIn, v.Name = p.SignInPath(back), fill(p.T.Portal.SignInToVoteFor, "title", idea.Title)
	}
	return v
}

// line is an idea in a list.
type line struct {
	Idea
	T      *locale
	Link   string // "" if the portal has no page of it
	Anchor string // where a visitor returns to after a vote
	Vote   vote
	Label  *label
	Deep   bool // its title is a heading below that of the list

	Changed string // says when the idea was changed, on the roadmap
	Part    string // says that the visitor has asked or voted, on the roadmap
}

// lines returns ideas for a list.
func (p *page) lines(ideas []Idea, deep bool) []line {
	const most = 300 // characters, of which the page shows as many as fit
	list := make([]line, 0, len(ideas))
	for _, idea := range ideas {
		idea.Description = feedback.Shorten(idea.Description, most)
		anchor, link := "idea-"+idea.ID.String(), p.Path(IdeaPath(idea))
		if idea.Unseen {
			link = ""
		}
		list = append(list, line{
			Idea: idea, T: p.T, Link: link, Anchor: anchor, Vote: p.vote(idea, p.At+"#"+anchor),
			Label: p.label(idea.Status), Deep: deep,
		})
	}
	return list
}

// IdeaPath is the path of an idea's page in the portal.
func IdeaPath(idea Idea) string {
	return "r/" + idea.ID.String() + "/" + url.PathEscape(Slug(idea.Title))
}

// Talk is the number of comments as it is shown, or "" for none.
func (l line) Talk() string {
	switch {
	case l.Comments <= 0:
		return ""
	case l.Comments >= feedback.MaxCountedComments:
		return strconv.Itoa(feedback.MaxCountedComments) + "+"
	}
	return strconv.FormatInt(l.Comments, 10)
}

// Day is the day on which the idea came in.
func (l line) Day() day { return l.T.day(l.CreatedAt) }

// day is a day for people and for programs.
type day struct{ Text, Date string }

func (l *locale) day(t feedback.Time) day { return day{l.Day(t), t.Std().Format("2006-01-02")} }
