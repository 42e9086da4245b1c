package pages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"strings"
	"unicode/utf8"

	"gatherkit/internal/board"
	"gatherkit/internal/calls"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/params"
	"gatherkit/internal/portal"
	"gatherkit/internal/store"
)

// post answers a form. name is the path below the portal.
func (v *visit) post(ctx context.Context, name string) (answer, error) {
	if err := v.SameSite.Check(v.R); err != nil {
		return answer{}, feedback.ErrForbidden.With("This form was sent from another site; open the page here and send it again.")
	}
	body, held, err := v.ReadBody(calls.FormType)
	defer v.Bodies.Release(v.Client.From, held)
	if err != nil {
		return answer{}, err
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return answer{}, feedback.ErrInvalidJSON.With("The form is not complete.")
	}
	if err := v.pages.hold(ctx, v.Client, v.at, pageBytes); err != nil {
		return answer{}, err
	}
	f := form{values}
	if name == "sign-out" {
		return v.signOut(ctx)
	}
	if err := v.read(ctx, func(context.Context) error { return nil }); err != nil {
		return answer{}, err
	}
	switch parts := strings.Split(name, "/"); {
	case name == "vote":
		return v.vote(ctx, f)
	case name == "new":
		return v.submit(ctx, f)
	case len(parts) == 3 && parts[0] == "r" && parts[2] == "comments":
		return v.comment(ctx, parts[1], f)
	}
	return answer{}, feedback.ErrPortalNotFound
}

// form is what a form has sent.
type form struct{ values url.Values }

// text returns a field without white space around it, with line breaks as the service stores them.
func (f form) text(name string, lines bool) string {
	text, ok := params.CleanText(strings.ReplaceAll(f.values.Get(name), "\r\n", "\n"), lines)
	if !ok {
		return ""
	}
	if text = strings.TrimSpace(text); !lines {
		text = feedback.ToSingleLine(text)
	}
	return text
}

func (v *visit) signOut(ctx context.Context) (answer, error) {
	if err := v.pages.Store.Visitors.SignOut(ctx, v.who.Session); err != nil {
		return answer{}, err
	}
	v.setCookie(sessionCookie, "", 0)
	return answer{next: new(string)}, nil
}

// person returns who takes part in a request, which is zero for a new one, and the reader who hears back. A browser
// that has done nothing before gets a cookie, and counts as somebody new.
func (v *visit) person(requestID feedback.ID) (p feedback.Person, r feedback.Reader, err error) {
	if v.view.Person != nil {
		return *v.view.Person, v.view.Reader(), nil
	}
	isNew := v.view.Secret == ""
	if err := v.pages.strangers.Allow(v.Client.From, v.view.App.ID, requestID, isNew, v.pages.Now()); err != nil {
		return p, nil, err
	}
	if isNew {
		v.newSecret()
		v.keepSecret()
	}
	r, _ = feedback.ReaderOfSecret(v.view.App.ID, v.view.Secret)
	return feedback.Person{BrowserID: board.VoterOf(v.view.Secret)}, r, nil
}

func (v *visit) vote(ctx context.Context, f form) (answer, error) {
	remove := f.values.Has("remove")
	id, err := feedback.ParseID(f.values.Get("add") + f.values.Get("remove")) // only the button that was pressed is sent
	if err != nil {
		return answer{}, feedback.ErrPortalNotFound
	}
	why := shortened(f.text("why", false), feedback.MaxWhy)
	if err = v.castVote(ctx, id, remove, why); err == nil {
		back := localPath(f.values.Get("back"))
		if !strings.HasPrefix(back, "r/") { // it is a list
			page, _, _ := strings.Cut(back, "#")
			back = page + "#idea-" + id.String()
		}
		return answer{next: &back}, nil
	}
	refusal := v.refusal(err, "")
	return v.again(ctx, id, func(page *portal.IdeaPage) { page.NotTaken, page.Why = refusal, why }, refusal)
}

func (v *visit) castVote(ctx context.Context, id feedback.ID, remove bool, why string) error {
	if err := v.view.App.Settings.Portal.Voting.Check(v.view.Person != nil); err != nil {
		return err
	}
	if v.view.Person == nil { // colleagues behind one address can all vote at once
		if err := v.pages.Rates.Votes.Allow(v.Client.From, 1, v.pages.Now()); err != nil {
			return err
		}
	}
	on := id
	if remove { // a voter can take their vote back, no matter how many others there are
		on = feedback.ID{}
	}
	person, r, err := v.person(on)
	if err != nil {
		return err
	}
	_, err = v.pages.Store.PortalVote(ctx, v.view.App, store.Ballot{
		RequestID: id, Person: person, Remove: remove, Reader: r, Why: params.OrNil(why),
	})
	return err
}

// refusal says why something was refused. field is the name of the field that is wrong, or "".
func (v *visit) refusal(err error, field string) *portal.Refusal {
	e := v.PublicError(err)
	signIn := v.view.Person == nil && (errors.Is(err, feedback.ErrSignInNeeded) || errors.Is(err, feedback.ErrRateLimited))
	return &portal.Refusal{Field: field, Error: e, SignIn: signIn}
}

// again answers with the page of an idea, which says why something was refused.
func (v *visit) again(ctx context.Context, id feedback.ID, change func(*portal.IdeaPage), r *portal.Refusal) (a answer, err error) {
	err = v.read(ctx, func(ctx context.Context) error {
		page, _, err := v.ideaPage(ctx, id)
		change(&page)
		a = answer{page: page, refused: r.Error}
		return err
	})
	if errors.Is(err, feedback.ErrRequestNotFound) {
		err = feedback.ErrPortalNotFound
	}
	return a, err
}

func (v *visit) submit(ctx context.Context, f form) (answer, error) {
	draft := portal.Draft{
		Title: f.text("title", false), Body: f.text("description", true), Name: f.text("name", false), Email: f.text("email", false),
	}
	stored, field, err := v.storeIdea(ctx, draft, f.values.Get("website") != "")
	if err == nil {
		next := "me"
		if stored.Box == feedback.Live && v.view.App.Settings.Shares(stored) {
			next = portal.IdeaPath(ideaOf(board.Idea{ID: stored.ID, Title: stored.Title}))
			v.keepThanks(ideaSent, stored.ID)
		} else {
			v.keepThanks(ideaHeld, feedback.ID{})
		}
		return answer{next: &next}, nil
	}
	draft.Refusal = v.refusal(err, field)
	a, err := v.newIdea(ctx, draft)
	a.refused = draft.Refusal.Error
	return a, err
}

// storeIdea stores an idea. With an error, it returns the name of the field that is wrong, or "".
func (v *visit) storeIdea(ctx context.Context, d portal.Draft, trapped bool) (r feedback.Request, field string, err error) {
	app := v.view.App
	needed := app.Settings.Widget.RequireEmail && v.view.Person == nil
	switch n := utf8.RuneCountInString(d.Title); {
	case n == 0 || n > portal.MaxTitle:
		return r, "title", feedback.Invalid("portal", "title", "title must have 1 to 200 characters.")
	case utf8.RuneCountInString(d.Body) > portal.MaxText:
		return r, "description", feedback.Invalid("portal", "description", "description must have at most 10,000 characters.")
	case utf8.RuneCountInString(d.Name) > portal.MaxName:
		return r, "name", feedback.Invalid("portal", "name", "name must have at most 200 characters.")
	case d.Email != "" && !feedback.ValidEmail(d.Email) || d.Email == "" && needed:
		return r, "email", feedback.Invalid("portal", "email", "email must be an e-mail address such as ada@example.com.")
	}
	if err := app.Settings.Portal.Submit.Check(v.view.Person != nil); err != nil {
		return r, "", err
	}
	if err := v.pages.Rates.Submits.Allow(v.Client.From, 1, v.pages.Now()); err != nil {
		return r, "", err
	}
	// A browser without a cookie may send the form twice, and others may be behind the same address.
	sender := v.Client.From.String() + "\n" + v.Client.Agent
	if v.view.Secret != "" {
		sender = v.view.Secret
	}
	person, r2, err := v.person(feedback.ID{})
	if err != nil {
		return r, "", err
	}
	if person.Verified {
		sender = person.Key()
	}
	r = feedback.NewRequest(d.Title, d.Body)
	r.Source = "portal"
	r.Submitter = feedback.Submitter{Email: params.OrNil(d.Email), Name: params.OrNil(d.Name)}
	if app.Settings.Portal.Holds(person.Verified, d.Title, d.Body) || trapped || v.pages.isBurst(v.Client.From, app.ID, d.Title+"\n"+d.Body) {
		r.Box = feedback.Quarantine
	}
	// Who sends the same form again gets the first answer. Only the text may have line breaks, so it is the last.
	sum := sha256.Sum256([]byte(strings.Join([]string{sender, d.Name, d.Email, d.Title, d.Body}, "\n")))
	sub := store.Submission{App: app, Request: r, Portal: &person, Reader: r2, IdempotencyKey: "portal:" + hex.EncodeToString(sum[:24])}
	if person.Verified {
		sub.Identity = &person
	}
	r, err = v.pages.Store.Submit(ctx, sub)
	return r, "", err
}

// newIdea answers with the form for an idea.
func (v *visit) newIdea(ctx context.Context, d portal.Draft) (answer, error) {
	page := portal.NewIdea{Draft: d}
	err := v.read(ctx, func(ctx context.Context) error {
		widget := v.view.App.Settings.Widget
		page.Site = v.site
		page.Email, page.Needed = widget.ShowEmailField && v.view.Person == nil, widget.RequireEmail
		if !v.site.Submits && d.Refusal == nil { // who was refused gets the text back
			return feedback.ErrPortalNotFound
		}
		return nil
	})
	if err != nil || d.Title == "" {
		return answer{page: page}, err
	}
	if err := v.pages.Rates.Searches.Allow(v.Client.From, 1, v.pages.Now()); err != nil {
		return answer{page: page}, nil //nolint:nilerr // the form works without what is similar
	}
	app := v.view.App
	similar, err := v.pages.Store.Index.Similar(ctx, app.AccountID, index.Likeness{
		AppID: app.ID, Text: feedback.FirstCharacters(d.Title, portal.MaxTitle),
		Shared: app.Settings.Shared(), Titles: !app.Settings.Portal.Descriptions, Limit: maxSimilar,
	})
	if err != nil {
		return answer{}, err
	}
	ids := make([]feedback.ID, len(similar))
	for i := range similar {
		ids[i] = similar[i].ID
	}
	err = v.read(ctx, func(ctx context.Context) error {
		found, err := v.view.Similar(ctx, ids)
		page.Similar = ideasOf(found...)
		return err
	})
	return answer{page: page}, err
}
