package pages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"path"
	"strings"

	"gatherkit/internal/board"
	"gatherkit/internal/feedback"
	"gatherkit/internal/portal"
	"gatherkit/internal/visitors"
)

// signIn signs the visitor in with a one-time address, or says where they can sign in. The votes of the browser become
// theirs if they have asked to sign in here. Otherwise, a person could send others such an address and get their votes.
func (v *visit) signIn(ctx context.Context) (answer, error) {
	to := v.R.URL.Query().Get("to")
	page := portal.SignInPage{}
	err := v.read(ctx, func(context.Context) error { return nil })
	if err != nil && !errors.Is(err, feedback.ErrSignInNeeded) {
		return answer{}, err
	}
	to, claim := withoutClaim(localPath(strings.TrimPrefix(to, v.address())))
	page.Site, page.To = v.site, v.signInAddress(to)
	page.Private = v.view.App.Settings.Portal.Access == feedback.AccessSignedIn
	ticket := v.R.URL.Query().Get("ticket")
	if ticket == "" {
		return answer{page: page}, nil
	}
	var voter *feedback.ID
	if own := v.claim(); own != "" && claim == own {
		voter = board.VoterOf(v.view.Secret)
	}
	session, err := v.pages.Store.SignIn(ctx, v.view.App, ticket, voter)
	if errors.Is(err, feedback.ErrTicketNotFound) {
		page.Ended = true
		return answer{page: page, refused: feedback.ErrTicketNotFound}, nil
	} else if err != nil {
		return answer{}, err
	}
	v.setCookie(sessionCookie, session, visitors.Stay)
	if voter != nil {
		v.setCookie(voterCookie, "", 0)
	}
	return answer{next: &to}, nil
}

// claimed is the parameter of a page to which a visitor comes back. Its value tells that they signed in because the
// portal, on this browser, had sent them to do so.
const claimed = "claim"

// claim is the value of that parameter, or "" for a browser that has not voted. Only the browser's secret tells it.
func (v *visit) claim() string {
	if v.view.Secret == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("claim " + v.view.Secret))
	return hex.EncodeToString(sum[:16])
}

// withoutClaim returns the path of a page without the parameter, and its value.
func withoutClaim(page string) (without, claim string) {
	u, err := url.Parse(page)
	if err != nil {
		return "", ""
	}
	q := u.Query()
	if claim = q.Get(claimed); claim != "" {
		q.Del(claimed)
		u.RawQuery = q.Encode()
	}
	return u.String(), claim
}

// maxReturn is the longest address of a page to which a visitor can come back, in bytes. widget-portal-link takes no
// longer one.
const maxReturn = 1000

// signInAddress is that of the page of the app's product which signs a visitor in and then sends them to a page of
// the portal; "" if there is none.
func (v *visit) signInAddress(to string) string {
	u, err := url.Parse(v.view.App.Settings.Portal.SignInURL)
	if err != nil || u.Host == "" {
		return ""
	}
	q := u.Query()
	q.Set("return_to", v.returnAddress(to))
	u.RawQuery = q.Encode()
	return u.String()
}

// returnAddress is that of a page of the portal with the claim. If it is too long, it is without its query or, in the
// end, that of the board.
func (v *visit) returnAddress(to string) string {
	u, err := url.Parse(localPath(to))
	if err != nil {
		u = &url.URL{}
	}
	for _, shorter := range []*url.URL{u, {Path: u.Path}, {}} {
		if claim := v.claim(); claim != "" {
			q := shorter.Query()
			q.Set(claimed, claim)
			shorter.RawQuery = q.Encode()
		}
		if to = v.address() + shorter.String(); len(to) <= maxReturn {
			break
		}
	}
	return to
}

// localPath returns a path of a page below the portal, or "" if it leads elsewhere.
func localPath(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" || strings.HasPrefix(u.Path, "/") ||
		strings.ContainsAny(to, "\\\x00\r\n\t") {
		return ""
	}
	u.Path = strings.TrimPrefix(path.Clean("/"+u.Path), "/")
	return u.String()
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
