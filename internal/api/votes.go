package api

import (
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
)

type voteParams struct {
	RequestID  feedback.ID `json:"request_id" format:"uuid" doc:"The request; what is merged counts where it was merged into."`
	Email      string      `json:"email,omitempty" maxLength:"254" doc:"Who it is: whatever the spelling, the same person. One of email, external_id and name is required."`
	Name       string      `json:"name,omitempty" maxLength:"200" doc:"Says who it is where nothing else does."`
	ExternalID string      `json:"external_id,omitempty" maxLength:"200" doc:"The person's id in the customer's product; says who it is where there is no e-mail."`
}

// ballot is what was sent. Staff speaks for the person, who is never verified by that.
func (in voteParams) ballot(remove bool) (store.Ballot, error) {
	p := feedback.Person{Email: orNil(in.Email), Name: orNil(in.Name), ExternalID: orNil(in.ExternalID)}
	switch {
	case p.Key() == "":
		return store.Ballot{}, feedback.Invalid("votes", "email", "email is required, or else external_id or name: they say who the person is.")
	case in.Email != "" && !feedback.ValidEmail(in.Email):
		return store.Ballot{}, feedback.Invalid("votes", "email", "email must be an e-mail address such as ada@example.com.")
	}
	return store.Ballot{RequestID: in.RequestID, Person: p, Source: "dashboard", Remove: remove}, nil
}

type voteResult struct {
	Votes int64 `json:"votes" doc:"How many people want the request now."`
	Voted bool  `json:"voted" doc:"Whether the person is one of them."`
}

func (a *API) votesAdd(ctx context.Context, c caller, in voteParams) (voteResult, error) {
	return a.vote(ctx, c, in, false)
}

// votesRemove of somebody who has no vote changes nothing, so that it can be sent again.
func (a *API) votesRemove(ctx context.Context, c caller, in voteParams) (voteResult, error) {
	return a.vote(ctx, c, in, true)
}

func (a *API) vote(ctx context.Context, c caller, in voteParams, remove bool) (voteResult, error) {
	ballot, err := in.ballot(remove)
	if err != nil {
		return voteResult{}, err
	}
	votes, err := a.Store.Vote(ctx, c.Account.ID, c.actor(), ballot)
	return voteResult{votes, !remove}, err
}

type votesListParams struct {
	RequestID feedback.ID `json:"request_id" format:"uuid" doc:"The request."`
	Limit     *int        `json:"limit,omitempty" minimum:"1" doc:"Votes on a page: 50 without it, 200 at the most."`
	Cursor    string      `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of a previous page."`
}

type votesListResult struct {
	Votes []feedback.Vote `json:"votes"`
	PageResult
}

func (a *API) votesList(ctx context.Context, c caller, in votesListParams) (votesListResult, error) {
	cur, err := a.resumeOf(c, "votes", "votes-list", in.Cursor, in.RequestID)
	if err != nil {
		return votesListResult{}, err
	}
	cur.limit(in.Limit, defaultLimit)
	if err := a.holdPage(ctx, c, cur.Limit, personBytes); err != nil {
		return votesListResult{}, err
	}
	voters, total, err := a.Store.Votes(ctx, c.Account.ID, in.RequestID, cur.Text, cur.Limit+1)
	if err != nil {
		return votesListResult{}, err
	}
	voters, result, err := page(a, cur, voters, total, func(cur *cursor, v store.Voter) { cur.Text = v.Key })
	votes := make([]feedback.Vote, 0, len(voters))
	for _, v := range voters {
		votes = append(votes, v.Vote)
	}
	return votesListResult{votes, result}, err
}

type widgetVoteParams struct {
	RequestID     feedback.ID  `json:"request_id" format:"uuid" doc:"A request that the app shares; what is merged counts where it was merged into."`
	Voter         *feedback.ID `json:"voter,omitempty" format:"uuid" doc:"A random UUID that the browser makes once and keeps. Required without an identity_token, ignored beside one."`
	Remove        bool         `json:"remove,omitempty" doc:"Take the vote back."`
	IdentityToken string       `json:"identity_token,omitempty" verbatim:"true" doc:"Says who the person is, signed by your backend: see Identity."`
}

func (a *API) widgetVote(ctx context.Context, v visitor, in widgetVoteParams) (voteResult, error) {
	if err := a.rates.votes.allow(v.from, 1, a.Now()); err != nil {
		return voteResult{}, err
	}
	if !v.app.Settings.AllowsOrigin(v.origin) {
		return voteResult{}, feedback.ErrOriginNotAllowed
	}
	// Whoever uses the browser, as long as nobody vouches for them.
	person := &feedback.Person{BrowserID: in.Voter}
	if in.IdentityToken != "" {
		var err error
		if person, err = a.identify(ctx, v.app, in.IdentityToken); err != nil {
			return voteResult{}, err
		}
	} else if in.Voter == nil {
		return voteResult{}, feedback.Invalid("widget", "voter", "voter is required and must be a UUID, or else identity_token.")
	}
	votes, err := a.Store.WidgetVote(ctx, v.app, store.Ballot{RequestID: in.RequestID, Person: *person, Source: "widget", Remove: in.Remove})
	return voteResult{votes, !in.Remove}, err
}
