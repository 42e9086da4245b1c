package portal

import (
	"net/url"
	"regexp"
	"strings"

	"gatherkit/internal/feedback"
)

// Form is what a form of the page has sent.
type Form struct {
	Forget bool
	Reply  *Reply // nil unless the form is a reply
	Token  string // of the link that the person has pasted; "" if there is none in it
	Pasted string // the beginning of what the person has pasted
	Cursor string // of the page on which the person has replied
}

// maxPasted is how many characters of what a person has pasted the page shows again.
const maxPasted = 200

// linkToken finds the token in what a person pastes.
var linkToken = regexp.MustCompile(string(feedback.StatusToken) + `\w+`)

// ParseForm reads the body of a form, as far as it is valid.
func ParseForm(body []byte) Form {
	values, _ := url.ParseQuery(string(body))
	pasted := values.Get("link")
	f := Form{Pasted: feedback.FirstCharacters(pasted, maxPasted), Cursor: values.Get("cursor"), Forget: values.Get("do") == "forget"}
	if values.Get("do") == "reply" {
		text := strings.ReplaceAll(values.Get("body"), "\r\n", "\n") // as browsers send the ends of lines
		f.Reply = &Reply{RequestID: values.Get("request_id"), Body: text}
	}
	token := linkToken.FindString(pasted)
	if _, ok := feedback.ParseToken(feedback.StatusToken, token); ok {
		f.Token = token
	}
	return f
}

// Next is where the browser goes after the form was accepted. The address is relative, because a proxy may
// serve the page below a path of its own. The browser keeps the fragment.
func (f Form) Next() string {
	switch {
	case f.Forget:
		return "mine?forgotten"
	case f.Reply == nil:
		return "mine"
	}
	query := url.Values{"sent": {f.Reply.RequestID}}
	if f.Cursor != "" {
		query.Set("cursor", f.Cursor)
	}
	return "mine?" + query.Encode()
}

// Visit returns the page for the query of an address that Next has returned, or that is on a page.
func Visit(query url.Values) Mine {
	return Mine{Forgotten: query.Has("forgotten"), Cursor: query.Get("cursor"), Reply: Reply{RequestID: query.Get("sent")}}
}
