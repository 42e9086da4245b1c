package api

import (
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/lists"
	"gatherkit/internal/params"
	"gatherkit/internal/store"
)

type voteParams struct {
	RequestID  feedback.ID `json:"request_id" format:"uuid" doc:"The request. If it is merged, the vote counts for the target."`
	Email      string      `json:"email,omitempty" maxLength:"254" doc:"Identifies the person. Case does not matter."`
	Name       string      `json:"name,omitempty" maxLength:"200" doc:"Identifies the person if email and external_id are omitted."`
	ExternalID string      `json:"external_id,omitempty" maxLength:"200" doc:"Id in your product. Identifies the person if email is omitted."`
}

// ballot returns the vote or its removal. The person is never verified, because a user votes
// on their behalf.
func (in voteParams) ballot(remove bool) (store.Ballot, error) {
	p := feedback.Person{Email: params.OrNil(in.Email), Name: params.OrNil(in.Name), ExternalID: params.OrNil(in.ExternalID)}
	switch {
	case p.Key() == "":
		return store.Ballot{}, feedback.Invalid("votes", "email", "email, external_id or name is required to identify the person.")
	case in.Email != "" && !feedback.ValidEmail(in.Email):
		return store.Ballot{}, feedback.Invalid("votes", "email", "email must be an e-mail address such as ada@example.com.")
	}
	return store.Ballot{RequestID: in.RequestID, Person: p, Source: "dashboard", Remove: remove}, nil
}

type voteResult struct {
	Votes int64 `json:"votes" doc:"Number of people who want the request, after this call."`
	Voted bool  `json:"voted" doc:"Whether the person has a vote now."`
}

func (a *API) votesAdd(ctx context.Context, c caller, in voteParams) (voteResult, error) {
	return a.vote(ctx, c, in, false)
}

// votesRemove succeeds if the person has no vote, so that callers can repeat a call.
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
	Limit     *int        `json:"limit,omitempty" minimum:"1" doc:"Page size: 50 by default, at most 200."`
	Cursor    string      `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of the previous page."`
}

type votesListResult struct {
	Votes []feedback.Vote `json:"votes"`
	lists.PageResult
}

func (a *API) votesList(ctx context.Context, c caller, in votesListParams) (votesListResult, error) {
	cur, err := a.cursors.ResumeOf(c.Account.ID, "votes", "votes-list", in.Cursor, in.RequestID)
	if err != nil {
		return votesListResult{}, err
	}
	cur.SetLimit(in.Limit, lists.DefaultLimit)
	if err := a.holdPage(ctx, c, cur.Limit, personBytes); err != nil {
		return votesListResult{}, err
	}
	voters, total, err := a.Store.Votes(ctx, c.Account.ID, in.RequestID, cur.Text, cur.Limit+1)
	if err != nil {
		return votesListResult{}, err
	}
	voters, result, err := lists.Page(a.cursors, cur, voters, total, func(cur *lists.Cursor, v store.Voter) { cur.Text = v.Key })
	votes := make([]feedback.Vote, 0, len(voters))
	for _, v := range voters {
		votes = append(votes, v.Vote)
	}
	return votesListResult{votes, result}, err
}

type widgetVoteParams struct {
	RequestID     feedback.ID  `json:"request_id" format:"uuid" doc:"The request, which the app must share."`
	Voter         *feedback.ID `json:"voter,omitempty" format:"uuid" doc:"A random UUID that the browser keeps. Or send identity_token."`
	Remove        bool         `json:"remove,omitempty" doc:"Withdraw the vote."`
	IdentityToken string       `json:"identity_token,omitempty" verbatim:"true" doc:"Identifies the person. See Identity."`
	Reader        string       `json:"reader,omitempty" verbatim:"true" doc:"A secret of the browser. See Your ideas."`
}

func (a *API) widgetVote(ctx context.Context, v visitor, in widgetVoteParams) (voteResult, error) {
	if err := a.rates.Votes.Allow(v.From, 1, a.Now()); err != nil {
		return voteResult{}, err
	}
	if !v.app.Settings.AllowsOrigin(v.Origin) {
		return voteResult{}, feedback.ErrOriginNotAllowed
	}
	// Without a token, the browser identifies the person.
	person := &feedback.Person{BrowserID: in.Voter}
	reader, err := readerOf(v.app, in.Reader)
	if err != nil {
		return voteResult{}, err
	}
	if in.IdentityToken != "" {
		if person, err = a.identify(ctx, v.app, in.IdentityToken); err != nil {
			return voteResult{}, err
		}
		reader = feedback.ReaderOfPerson(v.app.ID, *person.ExternalID)
	} else if in.Voter == nil {
		return voteResult{}, feedback.Invalid("widget", "voter", "voter is required and must be a UUID, unless you send identity_token.")
	}
	votes, err := a.Store.WidgetVote(ctx, v.app, store.Ballot{
		RequestID: in.RequestID, Person: *person, Source: "widget", Remove: in.Remove, Reader: reader,
	})
	return voteResult{votes, !in.Remove}, err
}
