package portal

import "net/url"

var newTemplate = sheet("new.html")

// newBody is what the template of the form for an idea reads.
type newBody struct {
	Similar []line
	Alert   *reason
	Fields  []field
}

// Render returns the page in the language that fits the header Accept-Language best.
func (n NewIdea) Render(accept string) ([]byte, error) {
	t, d := n.texts(accept).Portal, n.Draft
	p := n.page(accept, t.Send)
	p.Tab, p.At, p.Typed = "ideas", newPath(d.Title), d.Title
	fields := []field{
		field{
			ID: "title", Label: t.YourIdea, Hint: t.YourIdeaHint, Type: "text", Most: MaxTitle, Value: d.Title, Required: true,
		}.check(p.T, d.Refusal, t.TitleInvalid),
		field{
			ID: "description", Label: t.Details, Optional: t.Optional, Hint: t.DetailsHint, Rows: 6, Most: MaxText, Value: d.Body,
		}.check(p.T, d.Refusal, t.DescriptionInvalid),
	}
	if n.Email {
		email := field{
			ID: "email", Label: t.Email, Hint: t.EmailHint, Type: "email", Most: maxEmail, Value: d.Email, Complete: "email", Required: n.Needed,
		}
		if !n.Needed {
			email.Optional = t.Optional
		}
		fields = append(fields, email.check(p.T, d.Refusal, t.EmailInvalid))
	}
	if n.Visitor == nil {
		fields = append(fields, p.nameField(d))
	}
	body := newBody{Similar: p.lines(n.Similar, true), Fields: fields}
	if d.Refusal != nil && !alerted(fields...) {
		body.Alert = p.reason(d.Refusal, t.IdeaRefused, t.IdeaFailed)
	}
	p.Body = body
	return p.render(newTemplate)
}

// newPath is the path of the form in the portal, with a title.
func newPath(title string) string {
	if title == "" {
		return "new"
	}
	return "new?title=" + url.QueryEscape(title)
}
