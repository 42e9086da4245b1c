package portal

import (
	"cmp"
	"html/template"
	"net/url"

	"gatherkit/internal/feedback"
)

var ideaTemplate = sheet("idea.html")

// maxSummary is how many characters of a text search engines and other sites show.
const maxSummary = 200

// ideaBody is what the template of an idea's page reads.
type ideaBody struct {
	IdeaPage
	Vote     vote
	Label    *label
	Day      day
	By       string
	NotTaken *reason
	Remarks  []remark
	Earlier  string // path of the page with earlier comments, or ""
	Form     *commentForm
	SignIn   string // path of the page on which the visitor signs in to comment, or ""
}

// remark is a comment on the page.
type remark struct {
	Remark
	T    *locale
	Name string
	HTML template.HTML // of the team's Markdown
	Day  day
}

// Initial is the first letter of the author's name.
func (r remark) Initial() string { return initial(r.Name) }

// commentForm is the form for a comment.
type commentForm struct {
	Action string
	Alert  *reason
	Fields []field
}

// Render returns the page in the language that fits the header Accept-Language best.
func (i IdeaPage) Render(accept string) ([]byte, error) {
	idea, path := i.Idea, IdeaPath(i.Idea)
	p := i.page(accept, idea.Title)
	p.Tab, p.At, p.Listed, p.Dated, p.Typed = "ideas", path, i.Indexed, true, i.Why
	p.Summary = feedback.Shorten(cmp.Or(feedback.ToSingleLine(idea.Description), fill(p.T.Portal.BoardText, "app", i.App)), maxSummary)
	if i.Address != "" {
		p.Picture, p.Data = "card/"+idea.ID.String()+".png", i.data()
	}
	body := ideaBody{
		IdeaPage: i, Vote: p.vote(idea, path), Label: p.label(idea.Status), Day: p.T.day(idea.CreatedAt),
		NotTaken: p.reason(i.NotTaken, p.T.Portal.VoteRefused, p.T.Portal.VoteFailed),
	}
	if i.Author != "" {
		body.By = fill(p.T.Portal.By, "name", i.Author)
	}
	for _, r := range i.Remarks {
		shown, err := p.remark(r)
		if err != nil {
			return nil, err
		}
		body.Remarks = append(body.Remarks, shown)
	}
	if i.Earlier != "" {
		body.Earlier = p.Path(path + "?after=" + url.QueryEscape(i.Earlier))
	}
	takes, afterSignIn := p.takes(i.Comments)
	switch {
	case takes || i.Draft.Refusal != nil: // who was refused gets the text back
		body.Form = p.commentForm(i)
	case afterSignIn:
		body.SignIn = p.SignInPath(path)
	}
	p.Body = body
	return p.render(ideaTemplate)
}

func (p *page) remark(r Remark) (remark, error) {
	shown := remark{Remark: r, T: p.T, Name: cmp.Or(r.Author, p.T.Portal.Somebody), Day: p.T.day(r.At)}
	if r.Own {
		shown.Name = p.T.You
	}
	if !r.Team {
		return shown, nil
	}
	const above = 2 // the level of the heading of the comments
	text, err := markdown(r.Body, above)
	shown.Name, shown.HTML = cmp.Or(r.Author, p.App), text
	return shown, err
}

func (p *page) commentForm(i IdeaPage) *commentForm {
	t, d := p.T.Portal, i.Draft
	f := &commentForm{Action: p.Path("r/" + i.Idea.ID.String() + "/comments"), Fields: []field{
		field{ID: "body", Label: t.YourComment, Rows: 4, Most: MaxText, Value: d.Body, Required: true}.check(p.T, d.Refusal, t.CommentInvalid),
	}}
	if i.Visitor == nil {
		f.Fields = append(f.Fields, p.nameField(d))
	}
	if d.Refusal != nil && !alerted(f.Fields...) {
		f.Alert = p.reason(d.Refusal, t.CommentRefused, t.CommentFailed)
	}
	return f
}

// data is what the page says, for search engines (schema.org).
func (i IdeaPage) data() map[string]any {
	address := i.URL(IdeaPath(i.Idea))
	counter := func(action string, n int64) map[string]any {
		return map[string]any{
			"@type": "InteractionCounter", "interactionType": map[string]any{"@type": action}, "userInteractionCount": n,
		}
	}
	counters := []map[string]any{counter("VoteAction", i.Idea.Votes)}
	if i.Idea.Comments < feedback.MaxCountedComments {
		counters = append(counters, counter("CommentAction", i.Idea.Comments))
	}
	data := map[string]any{
		"@context": "https://schema.org", "@type": "DiscussionForumPosting", "@id": address, "url": address,
		"headline": i.Idea.Title, "datePublished": i.Idea.CreatedAt, "interactionStatistic": counters,
	}
	if i.Idea.Description != "" {
		data["text"] = i.Idea.Description
	}
	if i.Author != "" {
		data["author"] = map[string]any{"@type": "Person", "name": i.Author}
	}
	return data
}
