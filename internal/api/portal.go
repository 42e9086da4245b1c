package api

import (
	"context"
	"net/url"

	"gatherkit/internal/board"
	"gatherkit/internal/feedback"
	"gatherkit/internal/lists"
	"gatherkit/internal/pages"
)

type portalCheckParams struct {
	AppID   feedback.ID `json:"app_id" format:"uuid" doc:"The app."`
	Sharing *string     `json:"sharing,omitempty" enum:"none,triaged,all" doc:"Check as if the app shared these requests; as it does now by default."`
}

type portalCheckResult struct {
	board.Check
	LinkCreatedAt *feedback.Time `json:"link_created_at" format:"date-time" doc:"When the link of a portal with the access link was created; null if there is none."`
}

// portalCheck says what would become public, before the portal is switched on.
func (a *API) portalCheck(ctx context.Context, c caller, in portalCheckParams) (portalCheckResult, error) {
	app, err := a.Store.App(ctx, c.Account.ID, in.AppID)
	if err != nil {
		return portalCheckResult{}, err
	}
	if in.Sharing != nil {
		app.Settings.Sharing = *in.Sharing
	}
	check, err := a.Store.Board.Check(ctx, app)
	if err != nil {
		return portalCheckResult{}, err
	}
	made, err := a.Store.Visitors.LinkMade(ctx, c.Account.ID, in.AppID)
	return portalCheckResult{check, made}, err
}

type portalLinkResult struct {
	URL string `json:"url" doc:"The link. The service stores only its hash, so it cannot be read again."`
}

func (a *API) portalRotateLink(ctx context.Context, c caller, in appParams) (portalLinkResult, error) {
	app, err := a.Store.App(ctx, c.Account.ID, in.ID)
	if err != nil {
		return portalLinkResult{}, err
	}
	if app.Settings.Portal.Slug == "" {
		return portalLinkResult{}, feedback.Invalid("portal", "id", "The app needs settings.portal.slug before it can have a link.")
	}
	token, err := a.Store.RotateLink(ctx, c.Account.ID, in.ID, c.actor())
	return portalLinkResult{a.portalURL(app, "enter?key="+token)}, err
}

// portalURL returns the address of a page of an app's portal.
func (a *API) portalURL(app feedback.App, page string) string {
	if host := app.Settings.Portal.Host; host != "" {
		return a.server.AddressOf(host) + page
	}
	return a.link(portalPath + app.Settings.Portal.Slug + "/" + page)
}

type commentsHeldParams struct {
	AppID  *feedback.ID `json:"app_id,omitempty" format:"uuid" doc:"Only comments on requests of this app."`
	Limit  *int         `json:"limit,omitempty" minimum:"1" doc:"Page size: 50 by default, at most 200."`
	Cursor string       `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of the previous page."`
}

type commentsHeldResult struct {
	Comments []feedback.HeldComment `json:"comments"`
	lists.PageResult
}

func (a *API) commentsHeld(ctx context.Context, c caller, in commentsHeldParams) (commentsHeldResult, error) {
	var of feedback.ID // the zero id stands for all apps
	if in.AppID != nil {
		of = *in.AppID
	}
	cur, err := a.cursors.ResumeOf(c.Account.ID, "comments", "comments-held", in.Cursor, of)
	if err != nil {
		return commentsHeldResult{}, err
	}
	cur.SetLimit(in.Limit, lists.DefaultLimit)
	if err := a.holdPage(ctx, c, cur.Limit, rowBytes); err != nil {
		return commentsHeldResult{}, err
	}
	if in.AppID != nil {
		if _, err := a.Store.App(ctx, c.Account.ID, of); err != nil {
			return commentsHeldResult{}, err
		}
	}
	held, total, err := a.Store.Held(ctx, c.Account.ID, in.AppID, cur.After, cur.Limit+1)
	if err != nil {
		return commentsHeldResult{}, err
	}
	held, result, err := lists.Page(a.cursors, cur, held, total, func(cur *lists.Cursor, c feedback.HeldComment) { cur.After = c.ID })
	return commentsHeldResult{held, result}, err
}

type heldCommentParams struct {
	ID feedback.ID `json:"id" format:"uuid" doc:"The held comment."`
}

func (a *API) commentsRelease(ctx context.Context, c caller, in heldCommentParams) (commentResult, error) {
	comment, err := a.Store.ReleaseComment(ctx, c.Account.ID, in.ID, c.actor())
	return commentResult{comment}, err
}

type commentsBlockParams struct {
	ID     feedback.ID `json:"id" format:"uuid" doc:"The held comment."`
	Person bool        `json:"person,omitempty" doc:"Block its author, too. See people-block."`
}

func (a *API) commentsBlock(ctx context.Context, c caller, in commentsBlockParams) (deletedResult, error) {
	err := a.Store.BlockComment(ctx, c.Account.ID, in.ID, c.actor(), in.Person)
	return deletedResult{err == nil, in.ID}, err
}

type peopleBlockParams struct {
	AppID     feedback.ID `json:"app_id" format:"uuid" doc:"The app."`
	RequestID feedback.ID `json:"request_id" format:"uuid" doc:"A request of the app on which the person commented."`
	CommentID feedback.ID `json:"comment_id" format:"uuid" doc:"The comment of the person."`
}

type blockedResult struct {
	Blocked bool `json:"blocked"`
}

// peopleBlock blocks the author of a comment: browsers that are not signed in have no other name.
func (a *API) peopleBlock(ctx context.Context, c caller, in peopleBlockParams) (blockedResult, error) {
	if err := a.Store.RequestsOfApp(ctx, c.Account.ID, in.AppID, []feedback.ID{in.RequestID}); err != nil {
		return blockedResult{}, err
	}
	person, err := a.Store.CommentPerson(ctx, c.Account.ID, in.RequestID, in.CommentID)
	if err != nil {
		return blockedResult{}, err
	}
	err = a.Store.Block(ctx, c.Account.ID, in.AppID, c.actor(), person)
	return blockedResult{err == nil}, err
}

type peopleUnblockParams struct {
	AppID feedback.ID `json:"app_id" format:"uuid" doc:"The app."`
	Key   string      `json:"key" verbatim:"true" maxLength:"300" doc:"The key of the person, as people-blocked returns it."`
}

func (a *API) peopleUnblock(ctx context.Context, c caller, in peopleUnblockParams) (blockedResult, error) {
	return blockedResult{}, a.Store.Unblock(ctx, c.Account.ID, in.AppID, c.actor(), in.Key)
}

type appIDParams struct {
	AppID feedback.ID `json:"app_id" format:"uuid" doc:"The app."`
}

type peopleBlockedResult struct {
	People []feedback.BlockedPerson `json:"people" doc:"Those blocked last first, at most 200."`
}

func (a *API) peopleBlocked(ctx context.Context, c caller, in appIDParams) (peopleBlockedResult, error) {
	if _, err := a.Store.App(ctx, c.Account.ID, in.AppID); err != nil {
		return peopleBlockedResult{}, err
	}
	people, err := a.Store.Visitors.Blocked(ctx, c.Account.ID, in.AppID)
	return peopleBlockedResult{append([]feedback.BlockedPerson{}, people...)}, err
}

type votesDiscardParams struct {
	RequestID feedback.ID   `json:"request_id" format:"uuid" doc:"The request."`
	From      feedback.Time `json:"from" format:"date-time" doc:"Votes given from this time on."`
	To        feedback.Time `json:"to" format:"date-time" doc:"Votes given before this time."`
	Preview   bool          `json:"preview,omitempty" doc:"Only count them."`
}

type votesDiscardResult struct {
	Discarded int64 `json:"discarded" doc:"Number of votes that were removed, or would be."`
	More      bool  `json:"more" doc:"Whether there are more, because a call removes at most 1,000; repeat it."`
}

func (a *API) votesDiscard(ctx context.Context, c caller, in votesDiscardParams) (votesDiscardResult, error) {
	d, err := a.Store.DiscardVotes(ctx, c.Account.ID, in.RequestID, c.actor(), in.From, in.To, in.Preview)
	return votesDiscardResult{d.Votes, d.More}, err
}

type widgetPortalLinkParams struct {
	IdentityToken string `json:"identity_token" verbatim:"true" doc:"Identifies the person who is signed in to your product. See Identity."`
	To            string `json:"to,omitempty" verbatim:"true" maxLength:"1000" doc:"Where the person arrives: a path below the portal, such as roadmap. To send them back to where they came from, send return_to as it is."`
}

// widgetPortalLink returns an address that signs a person in once. No token of the customer's is in it.
func (a *API) widgetPortalLink(ctx context.Context, v visitor, in widgetPortalLinkParams) (portalLinkResult, error) {
	if err := a.rates.Mine.Allow(v.From, 1, a.Now()); err != nil {
		return portalLinkResult{}, err
	}
	if !v.app.Settings.AllowsOrigin(v.Origin) {
		return portalLinkResult{}, feedback.ErrOriginNotAllowed
	}
	if !v.app.Settings.Portal.On() {
		return portalLinkResult{}, feedback.ErrPortalNotFound
	}
	person, err := a.identify(ctx, v.app, in.IdentityToken)
	if err != nil {
		return portalLinkResult{}, err
	}
	token, err := a.Store.Visitors.Ticket(ctx, v.app, *person)
	page := "sign-in?" + url.Values{"ticket": {token}, "to": {in.To}}.Encode()
	return portalLinkResult{a.portalURL(v.app, page)}, err
}

func (a *API) widgetBoard(ctx context.Context, v visitor, in pages.BoardParams) (pages.BoardResult, error) {
	who, err := a.viewer(ctx, v, in.Viewer)
	if err != nil {
		return pages.BoardResult{}, err
	}
	return a.portals.Board(ctx, v.Client, v.app, who, in)
}

func (a *API) widgetRequest(ctx context.Context, v visitor, in pages.IdeaParams) (pages.IdeaResult, error) {
	who, err := a.viewer(ctx, v, in.Viewer)
	if err != nil {
		return pages.IdeaResult{}, err
	}
	return a.portals.Idea(ctx, v.Client, v.app, who, in)
}

// viewer returns for whom a call reads the portal, or nil.
func (a *API) viewer(ctx context.Context, v visitor, in pages.Viewer) (*feedback.Person, error) {
	switch {
	case !v.app.Settings.AllowsOrigin(v.Origin):
		return nil, feedback.ErrOriginNotAllowed
	case in.IdentityToken != "":
		return a.identify(ctx, v.app, in.IdentityToken)
	case in.Voter != nil:
		return &feedback.Person{BrowserID: in.Voter}, nil
	}
	return nil, nil
}

type widgetCommentParams struct {
	RequestID     feedback.ID  `json:"request_id" format:"uuid" doc:"The request, which the portal must show."`
	Body          string       `json:"body" minLength:"1" maxLength:"10000" lines:"many" doc:"Plain text."`
	Name          string       `json:"name,omitempty" lines:"clean" maxLength:"200" doc:"The person's name, without an identity token."`
	Voter         *feedback.ID `json:"voter,omitempty" format:"uuid" doc:"A random UUID that the browser keeps. Or send identity_token."`
	IdentityToken string       `json:"identity_token,omitempty" verbatim:"true" doc:"Identifies the person. See Identity."`
}

type widgetCommentResult struct {
	Held bool `json:"held" doc:"Whether the comment waits until the team releases it."`
}

// widgetComment comments as on the portal, by the same rules. Anybody can make up a voter, so each counts as new.
func (a *API) widgetComment(ctx context.Context, v visitor, in widgetCommentParams) (widgetCommentResult, error) {
	person, err := a.viewer(ctx, v, pages.Viewer{Voter: in.Voter, IdentityToken: in.IdentityToken})
	switch {
	case err != nil:
		return widgetCommentResult{}, err
	case person == nil:
		return widgetCommentResult{}, feedback.Invalid("widget", "voter", "voter is required and must be a UUID, unless you send identity_token.")
	}
	if err := v.app.Settings.Portal.Admits(person.Verified); err != nil {
		return widgetCommentResult{}, err
	}
	held, err := a.portals.Comment(ctx, v.From, v.app, pages.Comment{
		RequestID: in.RequestID, Person: *person, New: true, Name: in.Name, Body: in.Body,
	})
	return widgetCommentResult{held}, err
}
