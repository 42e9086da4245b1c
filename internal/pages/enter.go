package pages

import (
	"context"
	"errors"

	"gatherkit/internal/board"
	"gatherkit/internal/feedback"
	"gatherkit/internal/portal"
	"gatherkit/internal/visitors"
)

// signIn signs the visitor in with a one-time address, or says where they can sign in.
func (v *visit) signIn(ctx context.Context) (answer, error) {
	to := localPath(v.R.URL.Query().Get("to"))
	page := portal.SignInPage{}
	err := v.read(ctx, func(context.Context) error { return nil })
	if err != nil && !errors.Is(err, feedback.ErrSignInNeeded) {
		return answer{}, err
	}
	page.Site, page.To = v.site, v.signInAddress(to)
	page.Private = v.view.App.Settings.Portal.Access == feedback.AccessSignedIn
	ticket := v.R.URL.Query().Get("ticket")
	if ticket == "" {
		return answer{page: page}, nil
	}
	session, err := v.pages.Store.SignIn(ctx, v.view.App, ticket, board.VoterOf(v.view.Secret))
	if errors.Is(err, feedback.ErrTicketNotFound) {
		page.Ended = true
		return answer{page: page, refused: feedback.ErrTicketNotFound}, nil
	} else if err != nil {
		return answer{}, err
	}
	v.setCookie(sessionCookie, session, visitors.Stay)
	v.setCookie(voterCookie, "", 0)
	return answer{next: &to}, nil
}

// enter lets in a browser that has the link of the portal.
func (v *visit) enter(ctx context.Context) (answer, error) {
	v.who.Link = v.R.URL.Query().Get("key")
	if err := v.read(ctx, func(context.Context) error { return nil }); err != nil {
		return answer{}, err
	}
	if v.view.App.Settings.Portal.Access == feedback.AccessLink { // otherwise, nobody has looked at the key
		v.setCookie(linkCookie, v.who.Link, voterLife)
	}
	return answer{next: new(string)}, nil
}
