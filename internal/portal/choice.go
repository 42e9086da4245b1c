package portal

import (
	"bytes"
	"errors"
	"html/template"
	"net/url"

	"gatherkit/internal/feedback"
)

var choiceTemplate = template.Must(template.New("choice.html").Funcs(template.FuncMap{"brand": brandOf}).
	ParseFS(templates, "templates/choice.html"))

// The acts of the pages of mails.
const (
	DoConfirm = "confirm"
	DoStop    = "stop"
	DoSoon    = "soon"
	DoDaily   = "daily"
)

// ConfirmPage is the page on which somebody confirms that they want mail. Programs that scan mails follow
// links, so only its button does something.
type ConfirmPage struct {
	App, Color string
	Token      string
	Done       bool
	Failure    *feedback.Error
}

// StopPage is the page on which somebody stops mail, or makes it rarer.
type StopPage struct {
	App, Color string
	Title      string // of the request that it is about; "" for all
	Token      string
	Daily      bool   // whether mail comes once a day
	Done       string // what the person has just done, or ""
	Failure    *feedback.Error
}

// choice is what the template of both pages reads.
type choice struct {
	T          *locale
	App, Color string
	Heading    string
	Text       string
	Page       string // that the forms go to, or "" for no form
	Token      string
	Do, Button string
	Pace       bool // whether the page asks for the pace
	Daily      bool
	Saved      bool
}

// Render returns the page in the language that fits the header Accept-Language best.
func (p ConfirmPage) Render(accept string) ([]byte, error) {
	t := match(accept)
	c := choice{
		T: t, App: p.App, Color: p.Color, Heading: t.Mail.ConfirmHeading, Text: fill(t.Mail.ConfirmPage, "app", p.App),
		Page: "confirm", Token: p.Token, Do: DoConfirm, Button: t.Mail.ConfirmButton,
	}
	if p.Done {
		c.Heading, c.Text, c.Page = t.Mail.ConfirmedHeading, fill(t.Mail.ConfirmedText, "app", p.App), ""
	}
	return c.render(p.Failure)
}

// Render returns the page in the language that fits the header Accept-Language best.
func (p StopPage) Render(accept string) ([]byte, error) {
	t := match(accept)
	c := choice{
		T: t, App: p.App, Color: p.Color, Heading: t.Mail.StopHeading, Text: fill(t.Mail.StopAllText, "app", p.App),
		Page: "stop", Token: p.Token, Do: DoStop, Button: t.Mail.StopButton, Pace: p.Title == "", Daily: p.Daily,
		Saved: p.Done == DoSoon || p.Done == DoDaily,
	}
	if p.Title != "" {
		c.Text = fill(t.Mail.StopOneText, "title", p.Title)
	}
	if p.Done == DoStop {
		c.Heading, c.Text, c.Page = t.Mail.StoppedHeading, t.Mail.StoppedText, ""
	}
	return c.render(p.Failure)
}

func (c choice) render(failure *feedback.Error) ([]byte, error) {
	t := c.T
	switch {
	case failure == nil:
	case errors.Is(failure, feedback.ErrMailLinkNotFound):
		c.Heading, c.Text, c.Page = t.Mail.GoneHeading, t.Mail.GoneText, ""
	case failure.Status == 429:
		c.Heading, c.Text, c.Page = t.LimitedHeading, t.LimitedText, ""
	case failure.Status < 500: // only programs and broken browsers see this
		c.Heading, c.Text, c.Page = t.Portal.ProblemHeading, failure.Message, ""
	default:
		c.Heading, c.Text, c.Page = t.UnavailableHeading, t.Mail.FailedText, ""
	}
	var page bytes.Buffer
	err := choiceTemplate.Execute(&page, c)
	return page.Bytes(), err
}

// Initial is the first letter of the app's name.
func (c choice) Initial() string { return initial(c.App) }

// ParseMailForm returns what the form of a page wants. A program for mail that stops it in one click sends a
// form without do (RFC 8058), and some send nothing at all.
func ParseMailForm(body []byte) (do string) {
	values, _ := url.ParseQuery(string(body))
	switch do := values.Get("do"); do {
	case DoConfirm, DoStop, DoSoon, DoDaily:
		return do
	}
	if len(body) == 0 || bytes.Contains(body, []byte("One-Click")) { // in either of the two types of forms
		return DoStop
	}
	return ""
}
