package pages

import (
	"context"
	"net/netip"
	"unicode/utf8"

	"gatherkit/internal/board"
	"gatherkit/internal/feedback"
	"gatherkit/internal/params"
	"gatherkit/internal/portal"
	"gatherkit/internal/search"
	"gatherkit/internal/spam"
)

func (v *visit) comment(ctx context.Context, name string, f form) (answer, error) {
	id, err := feedback.ParseID(name)
	if err != nil {
		return answer{}, feedback.ErrPortalNotFound
	}
	draft := portal.Draft{Body: f.text("body", true), Name: f.text("name", false)}
	held, field, err := v.storeComment(ctx, id, draft)
	if err == nil {
		said := commentSent
		if held {
			said = commentHeld
		}
		v.keepThanks(said, id)
		next := "r/" + id.String()
		return answer{next: &next}, nil
	}
	draft.Refusal = v.refusal(err, field)
	return v.again(ctx, id, func(page *portal.IdeaPage) { page.Draft = draft }, draft.Refusal)
}

// storeComment stores a comment, and reports whether it is held. With an error, it returns the name of the field
// that is wrong, or "".
func (v *visit) storeComment(ctx context.Context, id feedback.ID, d portal.Draft) (held bool, field string, err error) {
	switch n := utf8.RuneCountInString(d.Body); {
	case n == 0 || n > portal.MaxText:
		return false, "body", feedback.Invalid("portal", "body", "body must have 1 to 10,000 characters.")
	case utf8.RuneCountInString(d.Name) > portal.MaxName:
		return false, "name", feedback.Invalid("portal", "name", "name must have at most 200 characters.")
	}
	c := Comment{RequestID: id, Body: d.Body, Name: d.Name}
	if v.view.Person != nil {
		c.Person = *v.view.Person
	} else {
		if c.New = v.view.Secret == ""; c.New {
			v.newSecret()
		}
		c.Person.BrowserID = board.VoterOf(v.view.Secret)
	}
	if held, err = v.pages.Comment(ctx, v.Client.From, v.view.App, c); err == nil && c.New {
		v.keepSecret()
	}
	return held, "", err
}

// Comment is what somebody says about an idea.
type Comment struct {
	RequestID feedback.ID
	Person    feedback.Person
	New       bool   // whether the service does not know that the person has taken part in the portal before
	Name      string // of who is not signed in
	Body      string
}

// Comment stores a comment on the portal of an app, and reports whether it is held. The pages and the operation
// have these rules in common, so that what one limits is not open by the other.
func (p *Pages) Comment(ctx context.Context, from netip.Prefix, app feedback.App, c Comment) (held bool, err error) {
	set := app.Settings.Portal
	if err := set.Comments.Check(c.Person.Verified); err != nil {
		return false, err
	}
	if err := p.Rates.Submits.Allow(from, 1, p.Now()); err != nil {
		return false, err
	}
	if !c.Person.Verified {
		if err := p.strangers.Allow(from, app.ID, c.RequestID, c.New, p.Now()); err != nil {
			return false, err
		}
		c.Person.Name = params.OrNil(c.Name)
	}
	held = set.Holds(c.Person.Verified, c.Body, c.Name) || p.isBurst(from, app.ID, c.Body)
	_, err = p.Store.PortalComment(ctx, app, c.RequestID, c.Person, c.Body, held)
	return held && err == nil, err
}

// isBurst reports whether an address sends nearly the same text again and again to the portal of an app.
func (p *Pages) isBurst(from netip.Prefix, appID feedback.ID, text string) bool {
	return p.bursts.Add(spam.Sender{From: from, App: appID}, spam.Text{At: p.Now(), Sketch: search.NewSketch(text)})
}
