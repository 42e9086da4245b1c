package api

import (
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/limits"
	"gatherkit/internal/lists"
	"gatherkit/internal/readers"
)

const (
	minePath  = "/mine"
	minePage  = 20           // requests in a page by default
	mineBytes = 2 * rowBytes // approximate size of a request with its comments
)

// ReaderParams say who a person is: a browser by its secret, or somebody by an identity token.
type ReaderParams struct {
	Reader        string `json:"reader,omitempty" verbatim:"true" doc:"The secret that the browser sent with its requests and votes. Or send identity_token."`
	IdentityToken string `json:"identity_token,omitempty" verbatim:"true" doc:"Identifies the person. See Identity."`
}

// MineParams are the parameters of a list of what a person asked for.
type MineParams struct {
	SeenUntil *feedback.Time `json:"seen_until,omitempty" format:"date-time" doc:"The person has seen the news up to then: send the latest news_at that you show. Later calls do not mark these as unread."`
	Limit     *int           `json:"limit,omitempty" minimum:"1" doc:"Page size: 20 by default, at most 50. A page can be shorter although has_more is true."`
	Cursor    string         `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of the previous page."`
}

// MineResult is a page of what a person asked for.
type MineResult struct {
	AppName    string         `json:"app_name"`
	Requests   []readers.Mine `json:"requests"`
	Unread     int            `json:"unread" doc:"As in widget-news, before this call."`
	NextCursor string         `json:"next_cursor" doc:"Send it as cursor to get the next page; empty on the last page."`
	HasMore    bool           `json:"has_more"`
}

// readerOf returns the reader that a secret stands for, or nil if there is none. It returns a field error if the
// secret is not valid.
func readerOf(app feedback.App, secret string) (feedback.Reader, error) {
	if secret == "" {
		return nil, nil
	}
	reader, ok := feedback.ReaderOfSecret(app.ID, secret)
	if !ok {
		return nil, feedback.Invalid("widget", "reader",
			"reader must be 64 lower-case hex digits: 12 of the time in milliseconds since 1970 and 52 random ones.")
	}
	return reader, nil
}

// whoIs returns the person who sends a call with an API key.
func (a *API) whoIs(ctx context.Context, v visitor, in ReaderParams) (readers.Person, error) {
	w := readers.Person{App: v.app}
	if err := a.rates.Mine.Allow(v.From, 1, a.Now()); err != nil {
		return w, err
	}
	if !v.app.Settings.AllowsOrigin(v.Origin) {
		return w, feedback.ErrOriginNotAllowed
	}
	if in.IdentityToken != "" {
		person, err := a.identify(ctx, v.app, in.IdentityToken)
		if err == nil {
			w.Reader = feedback.ReaderOfPerson(v.app.ID, *person.ExternalID)
		}
		return w, err
	}
	var err error
	if w.Reader, err = readerOf(v.app, in.Reader); err == nil && w.Reader == nil {
		err = feedback.Invalid("widget", "reader", "reader is required, unless you send identity_token.")
	}
	return w, err
}

// holderOf returns the person who has a private link.
func (a *API) holderOf(ctx context.Context, c *client, token string) (readers.Person, error) {
	if err := a.rates.Mine.Allow(c.From, 1, a.Now()); err != nil {
		return readers.Person{}, err
	}
	w, err := a.Store.Readers.Holder(ctx, token)
	switch {
	case err != nil:
	case w.App.Suspended:
		err = feedback.ErrSuspended
	default:
		c.Account = w.App.AccountID
		err = a.Store.Readers.Use(ctx, w)
	}
	return w, err
}

type widgetNewsResult struct {
	Unread int `json:"unread" doc:"Number of requests with news, at most 99."`
}

func (a *API) widgetNews(ctx context.Context, v visitor, in ReaderParams) (widgetNewsResult, error) {
	w, err := a.whoIs(ctx, v, in)
	if err != nil {
		return widgetNewsResult{}, err
	}
	n, err := a.Store.Readers.News(ctx, w)
	return widgetNewsResult{n}, err
}

type widgetMyRequestsParams struct {
	ReaderParams
	MineParams
}

func (a *API) widgetMyRequests(ctx context.Context, v visitor, in widgetMyRequestsParams) (MineResult, error) {
	w, err := a.whoIs(ctx, v, in.ReaderParams)
	if err != nil {
		return MineResult{}, err
	}
	return a.mine(ctx, v.client, "widget", w, in.MineParams)
}

type mineListParams struct {
	Token string `json:"token" verbatim:"true" maxLength:"200" doc:"What follows # in the link."`
	MineParams
}

type mineListResult struct {
	MineResult
	PrimaryColor string `json:"primary_color" doc:"The color of the app's widget."`
}

func (a *API) mineList(ctx context.Context, c *client, in mineListParams) (mineListResult, error) {
	w, err := a.holderOf(ctx, c, in.Token)
	if err != nil {
		return mineListResult{}, err
	}
	result, err := a.mineOf(ctx, c, w, in.MineParams)
	return mineListResult{result, w.App.Settings.Widget.PrimaryColor}, err
}

// mineOf is mine for the holder of a private link, who waits for a place to read as visitors with the app's key do.
func (a *API) mineOf(ctx context.Context, c *client, w readers.Person, in MineParams) (MineResult, error) {
	ctx, leave, err := a.enterVisitor(ctx, w.App.ID, c)
	if err != nil {
		return MineResult{}, err
	}
	defer leave()
	return a.mine(ctx, c, "mine", w, in)
}

// mine returns a page of what a person asked for. Its cursor contains the app, but not the person: it is
// only a place among ids.
func (a *API) mine(ctx context.Context, c *client, area string, w readers.Person, in MineParams) (MineResult, error) {
	app := w.App
	cur := lists.Cursor{Operation: "mine", AccountID: app.AccountID, RequestID: app.ID}
	if in.Cursor != "" {
		sent, ok := a.cursors.Parse(in.Cursor)
		if !ok || sent.Operation != cur.Operation || sent.AccountID != cur.AccountID || sent.RequestID != cur.RequestID {
			return MineResult{}, lists.InvalidCursor(area)
		}
		cur = sent
	}
	cur.SetLimit(in.Limit, minePage)
	cur.Limit = min(cur.Limit, readers.MaxPage)
	// Strangers have places of their own, so that they cannot take those of users.
	if err := hold(ctx, c, a.strangers.Of(limits.Holder{Account: app.ID, Session: app.ID}), cur.Limit, mineBytes); err != nil {
		return MineResult{}, err
	}
	list, err := a.Store.Readers.List(ctx, w, cur.After, cur.Limit, in.SeenUntil)
	if err != nil {
		return MineResult{}, err
	}
	result := MineResult{AppName: app.PublicName(), Requests: list.Requests, Unread: list.Unread, HasMore: list.More}
	if result.Requests == nil {
		result.Requests = []readers.Mine{}
	}
	if list.More {
		cur.After = list.Next
		result.NextCursor, err = a.cursors.Sign(cur)
	}
	return result, err
}

type privateLinkResult struct {
	URL string `json:"url" doc:"The link. It is the same each time until it is replaced or revoked."`
}

// statusURL returns the link with a token, which is relative without a public URL. The token is in the
// fragment, which browsers do not send: no proxy logs it, and previews of the link do not show anything.
func (a *API) statusURL(token string) string { return a.link(minePath + "#" + token) }

type widgetMyLinkParams struct {
	ReaderParams
	Replace bool `json:"replace,omitempty" doc:"Return a new link, and end the one that the person had."`
}

func (a *API) widgetMyLink(ctx context.Context, v visitor, in widgetMyLinkParams) (privateLinkResult, error) {
	w, err := a.whoIs(ctx, v, in.ReaderParams)
	if err != nil {
		return privateLinkResult{}, err
	}
	token, err := a.Store.Readers.Link(ctx, w, in.Replace)
	return privateLinkResult{a.statusURL(token)}, err
}

func (a *API) requestsStatusLink(ctx context.Context, c caller, in requestParams) (privateLinkResult, error) {
	token, err := a.Store.StatusLink(ctx, c.Account.ID, in.ID, c.User.ID)
	return privateLinkResult{a.statusURL(token)}, err
}

type revokeLinksResult struct {
	Revoked int64 `json:"revoked" doc:"Number of links that worked until now."`
}

func (a *API) requestsRevokeLinks(ctx context.Context, c caller, in requestParams) (revokeLinksResult, error) {
	n, err := a.Store.EndStatusLinks(ctx, c.Account.ID, in.ID)
	return revokeLinksResult{n}, err
}

// ReplyParams are an answer of the person who submitted a request.
type ReplyParams struct {
	RequestID feedback.ID `json:"request_id" format:"uuid" doc:"The request."`
	Body      string      `json:"body" minLength:"1" maxLength:"10000" lines:"many" doc:"The same text as in the last answer is not stored again."`
}

type replyResult struct {
	Comment readers.PublicComment `json:"comment"`
}

type widgetReplyParams struct {
	ReaderParams
	ReplyParams
}

func (a *API) widgetReply(ctx context.Context, v visitor, in widgetReplyParams) (replyResult, error) {
	w, err := a.whoIs(ctx, v, in.ReaderParams)
	if err != nil {
		return replyResult{}, err
	}
	return a.reply(ctx, w, in.ReplyParams)
}

type mineReplyParams struct {
	Token string `json:"token" verbatim:"true" maxLength:"200" doc:"What follows # in the link."`
	ReplyParams
}

func (a *API) mineReply(ctx context.Context, c *client, in mineReplyParams) (replyResult, error) {
	w, err := a.holderOf(ctx, c, in.Token)
	if err != nil {
		return replyResult{}, err
	}
	return a.reply(ctx, w, in.ReplyParams)
}

func (a *API) reply(ctx context.Context, w readers.Person, in ReplyParams) (replyResult, error) {
	c, err := a.Store.Reply(ctx, w, in.RequestID, in.Body)
	return replyResult{readers.PublicComment{ID: c.ID, Body: c.Body, At: c.CreatedAt, Mine: true}}, err
}
