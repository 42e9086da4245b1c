// Package portal renders the pages of the people who ask for something. It does no I/O.
package portal

import (
	"bytes"
	"embed"
	"errors"
	"html/template"
	"slices"
	"strings"

	"gatherkit/internal/feedback"
)

//go:embed templates
var templates embed.FS

var mineTemplate = template.Must(template.New("mine.html").Funcs(template.FuncMap{
	"brand": brandOf, "fill": fill, "markdown": comment, "preview": preview,
}).ParseFS(templates, "templates/mine.html", "templates/icon.html"))

// Mine is the page on which the person with a link reads the news of their ideas, and replies. Its
// zero value asks for the link.
type Mine struct {
	Token     string          // of the link; "" if the browser has none
	Failure   *feedback.Error // why the ideas cannot be shown
	Posted    bool            // the page answers a form, so the script must not post the link again
	Pasted    string          // what the person entered that is no link
	Forgotten bool            // the person has just left

	App      string
	Color    string // #RRGGBB; "" is the default
	Requests []Request
	Unread   int64
	Cursor   string // of this page; "" is the first
	Next     string // cursor of the page with older requests; "" if there is none
	Reply    Reply
}

// Request is a request that the person asked or voted for.
type Request struct {
	ID                              string
	Title, Description              string
	Status                          feedback.Status
	Label                           string // the app's own name of the status, or ""
	Votes                           int64
	Asked, Merged, Unread, CanReply bool
	CreatedAt                       feedback.Time
	NewsAt                          *feedback.Time
	Comments                        []Comment // oldest first
}

// Comment is a message of the team, or a reply of the person.
type Comment struct {
	Body string
	At   feedback.Time
	Own  bool // by the person
}

// Reply is the result of a reply that the person has just sent.
type Reply struct {
	RequestID string // "" if none was sent
	Body      string // what was refused
	Failure   *feedback.Error
}

// Problem is the error with which the page answers, or nil.
func (m Mine) Problem() *feedback.Error {
	switch {
	case m.Failure != nil:
		return m.Failure
	case m.Reply.Failure != nil:
		return m.Reply.Failure
	case m.Pasted != "":
		return feedback.Invalid("mine", "link", "link must contain the token of a private link.")
	}
	return nil
}

// UnseenNews is the time of the latest news on the page, or 0 if the person has seen all of them.
func (m Mine) UnseenNews() (latest feedback.Time) {
	unread := false
	for _, r := range m.Requests {
		unread = unread || r.Unread
		if r.NewsAt != nil {
			latest = max(latest, *r.NewsAt)
		}
	}
	if !unread {
		return 0
	}
	return latest
}

// Render returns the page in the language that fits the header Accept-Language best.
func (m Mine) Render(accept string) ([]byte, error) {
	var page bytes.Buffer
	err := mineTemplate.Execute(&page, view{Mine: m, T: match(accept)})
	return page.Bytes(), err
}

// view is what the template reads.
type view struct {
	Mine
	T *locale
}

// Check is the end of the link, which does not open it. The script compares it with the address.
func (v view) Check() string {
	const digits = 6
	return v.Token[max(0, len(v.Token)-digits):]
}

// notice is what a page without ideas says.
type notice struct {
	Heading, Text string
	Asks, Retry   bool // the page has the field for the link, or a link to itself
}

// Notice returns nil if the page shows ideas.
func (v view) Notice() *notice {
	t := v.T
	switch {
	case v.Failure == nil && v.Token != "":
		return nil
	case v.Failure == nil && v.Forgotten:
		return &notice{Heading: t.ForgottenHeading, Text: t.ForgottenText, Asks: true}
	case v.Failure == nil:
		return &notice{Heading: t.PasteHeading, Text: t.PasteText, Asks: true}
	case errors.Is(v.Failure, feedback.ErrStatusLinkNotFound):
		return &notice{Heading: t.EndedHeading, Text: t.EndedText, Asks: true}
	case v.Failure.Status == 413: // only browsers without the script send so much
		return &notice{Heading: t.Portal.ProblemHeading, Text: t.ReplyInvalid + " " + t.Portal.ProblemText}
	case v.Failure.Status == 429:
		return &notice{Heading: t.LimitedHeading, Text: t.LimitedText, Retry: true}
	case errors.Is(v.Failure, feedback.ErrSuspended):
		return &notice{Heading: t.ClosedHeading, Text: t.ClosedText, Retry: true}
	}
	return &notice{Heading: t.UnavailableHeading, Text: t.UnavailableText, Retry: true}
}

// Refused says why the reply was refused, or "".
func (v view) Refused() string {
	if v.Reply.Failure == nil {
		return ""
	}
	switch v.Reply.Failure.Status {
	case 400, 413:
		return v.T.ReplyInvalid + v.T.tooLong(v.Reply.Body, MaxText)
	case 404:
		return v.T.ReplyGone
	case 409:
		return v.T.ReplyRefused
	}
	return v.T.ReplyFailed
}

// MaxReply is how many characters a reply may have.
func (v view) MaxReply() int { return MaxText }

// Long says that a reply is too long, with {count}.
func (v view) Long() string { return v.T.ReplyInvalid + v.T.excess("{count}") }

// Stray reports whether a reply was refused whose request is not on the page.
func (v view) Stray() bool {
	return v.Reply.Failure != nil && !slices.ContainsFunc(v.Requests, v.replied)
}

// Retry reports whether a refused reply may succeed later.
func (v view) Retry() bool { return v.Reply.Failure.Status >= 429 }

func (v view) replied(r Request) bool { return r.ID == v.Reply.RequestID }

// Initial is the first letter of the app's name.
func (v view) Initial() string { return initial(v.App) }

func initial(name string) string { return strings.ToUpper(feedback.FirstCharacter(name)) }

// card is a request on the page.
type card struct {
	Page view
	Request
	Sent, Failed bool // a reply to it was sent or refused
}

// Cards returns the requests of the page.
func (v view) Cards() []card {
	cards := make([]card, 0, len(v.Requests))
	for _, r := range v.Requests {
		replied, failed := v.replied(r), v.Reply.Failure != nil
		cards = append(cards, card{v, r, replied && !failed, replied && failed})
	}
	return cards
}

// message is a comment on the page.
type message struct {
	Page view
	Comment
}

// latest is how many messages of a request are visible at first.
const latest = 3

// Hidden is how many messages are hidden at first.
func (c card) Hidden() int64 { return int64(max(0, len(c.Comments)-latest)) }

// Earlier returns the messages that are hidden at first.
func (c card) Earlier() []message { return c.messages(c.Comments[:c.Hidden()]) }

// Latest returns the other messages.
func (c card) Latest() []message { return c.messages(c.Comments[c.Hidden():]) }

func (c card) messages(comments []Comment) (list []message) {
	for _, comment := range comments {
		list = append(list, message{c.Page, comment})
	}
	return list
}
