package portal

import (
	"cmp"
	"errors"
	"slices"

	"gatherkit/internal/feedback"
)

var (
	roadmapTemplate = sheet("roadmap.html")
	meTemplate      = sheet("me.html")
	noticeTemplate  = sheet("notice.html")
)

// column is a status on the roadmap.
type column struct {
	Label *label
	Count int64
	Lines []line
	All   string // path of the board with all ideas of the status, or "" if the column has all
}

// Render returns the page in the language that fits the header Accept-Language best.
func (r Roadmap) Render(accept string) ([]byte, error) {
	t := r.texts(accept).Portal
	p := r.page(accept, t.Roadmap)
	p.Tab, p.At, p.Listed, p.Summary = "roadmap", "roadmap", r.Indexed, fill(t.RoadmapText, "app", r.App)
	var columns []column
	for _, c := range r.Columns {
		shown := column{Label: p.label(c.Status), Count: c.Count, Lines: p.lines(c.Ideas, true)}
		for i, idea := range c.Ideas {
			shown.Lines[i].Part = p.part(idea)
			if idea.ChangedAt != 0 {
				shown.Lines[i].Changed = fill(p.T.Updated, "date", p.T.Day(idea.ChangedAt))
			}
		}
		if c.Count > int64(len(c.Ideas)) {
			shown.All = r.Path(Board{Status: c.Status}.path())
		}
		columns = append(columns, shown)
	}
	p.Body = columns
	return p.render(roadmapTemplate)
}

// part says what the visitor has done about an idea, and when, or is empty.
func (p *page) part(idea Idea) string {
	text := p.T.Portal.VotedOn
	if idea.Asked {
		text = p.T.Portal.AskedOn
	}
	if idea.Since == 0 {
		return ""
	}
	return fill(text, "date", p.T.Day(idea.Since))
}

// meBody is what the template of Me reads.
type meBody struct {
	Asked, Voted []line
	Sent         bool
	Name         string // says who is signed in, or ""
	SignIn       string // path of the page on which the visitor can sign in, or ""
}

// Render returns the page in the language that fits the header Accept-Language best. What the visitor both
// asked and voted for is listed once.
func (m Me) Render(accept string) ([]byte, error) {
	p := m.page(accept, m.texts(accept).Portal.Mine)
	p.Tab, p.At = "me", "me"
	others := slices.DeleteFunc(slices.Clone(m.Voted), func(voted Idea) bool {
		return slices.ContainsFunc(m.Asked, func(asked Idea) bool { return asked.ID == voted.ID })
	})
	body := meBody{Sent: m.Sent, Asked: p.lines(m.Asked, true), Voted: p.lines(others, true)}
	switch {
	case m.Visitor == nil && m.SignIn:
		body.SignIn = p.SignInPath(p.At)
	case m.Visitor != nil && m.Visitor.Name != "":
		body.Name = fill(p.T.Portal.SignedIn, "name", m.Visitor.Name)
	}
	p.Body = body
	return p.render(meTemplate)
}

// noticeBody is what a page says that has nothing else.
type noticeBody struct {
	Alert, Text  string
	Button, Link string
	Away         bool // the link leads out of the portal
}

// Render returns the page in the language that fits the header Accept-Language best.
func (s SignInPage) Render(accept string) ([]byte, error) {
	t := s.texts(accept).Portal
	p := s.page(accept, t.SignIn)
	p.At, p.Open = "sign-in", !s.Private
	body := noticeBody{Text: fill(t.SignInText, "app", s.App), Away: true}
	if s.Private {
		body.Text = fill(t.PrivateText, "app", s.App)
	}
	if s.Ended {
		body.Alert = t.SignInEnded
	}
	if s.To != "" {
		body.Button, body.Link = fill(t.SignInGo, "app", s.App), s.To
	} else {
		body.Text += " " + fill(t.SignInElsewhere, "app", s.App)
	}
	p.Body = body
	return p.render(noticeTemplate)
}

// Render returns the page in the language that fits the header Accept-Language best.
func (m Missing) Render(accept string) ([]byte, error) {
	t := m.texts(accept).Portal
	return m.notice(accept, t.MissingHeading, t.MissingText)
}

// Render returns the page in the language that fits the header Accept-Language best.
func (b Problem) Render(accept string) ([]byte, error) {
	t := b.texts(accept)
	switch failed := cmp.Or(b.Error, feedback.ErrInternal); {
	case errors.Is(failed, feedback.ErrSuspended):
		return b.notice(accept, t.ClosedHeading, t.ClosedText)
	case failed.Status == 429:
		return b.notice(accept, t.LimitedHeading, t.LimitedText)
	case failed.Status >= 500:
		return b.notice(accept, t.UnavailableHeading, t.Mail.FailedText)
	}
	return b.notice(accept, t.Portal.ProblemHeading, t.Portal.ProblemText)
}

func (s Site) notice(accept, heading, text string) ([]byte, error) {
	p := s.page(accept, heading)
	body := noticeBody{Text: text}
	if s.App != "" {
		body.Button, body.Link = p.T.Portal.AllIdeas, s.Home
	}
	p.Body = body
	return p.render(noticeTemplate)
}
