package portal

import (
	"bytes"
	"html/template"
	"strings"

	"gatherkit/internal/feedback"
)

// Message is what a mail says.
type Message struct {
	Subject    string // one line
	Text, HTML string
}

// letter is a mail as it is laid out, which is the same for all: a heading, blocks, and a foot in small letters.
type letter struct {
	T       *locale
	From    string // the name above the heading
	Color   string // #RRGGBB
	Subject string
	Heading string
	Blocks  []block
	Foot    []block
}

// block is a part of a mail: a text, a link with its text, or an item.
type block struct {
	Text string
	Link string
	Main bool // the link is the button of the mail
	Item *item
}

// item is what a mail says about a request.
type item struct {
	Title  string
	Link   string   // of the title; "" for none
	Facts  []string // a line each
	Quotes []string // comments
	Stop   *block   // nil for none
}

var letterTemplate = template.Must(template.New("mail.html").
	Funcs(template.FuncMap{"markdown": comment}).ParseFS(templates, "templates/mail.html"))

// Ink is the color of text on Color.
func (l letter) Ink() string { return ink(l.Color) }

// message returns the letter as a mail.
func (l letter) message() (Message, error) {
	if !brandColor.MatchString(l.Color) {
		l.Color = defaultColor
	}
	l.Subject = oneLine(plain(l.Subject))
	var html bytes.Buffer
	if err := letterTemplate.Execute(&html, l); err != nil {
		return Message{}, err
	}
	return Message{l.Subject, l.text(), html.String()}, nil
}

const defaultColor = "#4f46e5"

// maxSubject is how many characters of a subject programs for mail show.
const maxSubject = 80

// oneLine returns a text as a subject: on one line, and not too long.
func oneLine(text string) string { return feedback.Shorten(feedback.ToSingleLine(text), maxSubject) }

// text returns the letter as plain text.
func (l letter) text() string {
	var b strings.Builder
	b.WriteString(plain(l.Heading) + "\n\n")
	for _, part := range l.Blocks {
		part.write(&b)
	}
	b.WriteString("-- \n") // the usual separator of a signature (RFC 3676, section 4.3)
	for _, part := range l.Foot {
		part.write(&b)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func (p block) write(b *strings.Builder) {
	switch {
	case p.Item != nil:
		p.Item.write(b)
	case p.Link != "":
		b.WriteString(plain(p.Text) + ":\n" + p.Link + "\n\n")
	default:
		b.WriteString(plain(p.Text) + "\n\n")
	}
}

func (c item) write(b *strings.Builder) {
	b.WriteString("* " + plain(c.Title) + "\n")
	for _, fact := range c.Facts {
		b.WriteString("  " + plain(fact) + "\n")
	}
	if c.Link != "" {
		b.WriteString("  " + c.Link + "\n")
	}
	b.WriteString("\n")
	for _, quote := range c.Quotes {
		for line := range strings.SplitSeq(quote, "\n") {
			b.WriteString(strings.TrimRight("> "+line, " ") + "\n")
		}
		b.WriteString("\n")
	}
	if c.Stop != nil {
		b.WriteString("  " + plain(c.Stop.Text) + ":\n  " + c.Stop.Link + "\n\n")
	}
}

// plain returns a text without the marks of fill, which some programs for mail show as boxes.
func plain(text string) string { return strings.NewReplacer("\u2068", "", "\u2069", "").Replace(text) }
