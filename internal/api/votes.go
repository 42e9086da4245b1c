package api

import (
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/lists"
	"gatherkit/internal/params"
	"gatherkit/internal/store"
)

type votesAddParams struct {
	RequestID  feedback.ID `json:"request_id" format:"uuid" doc:"The request. If it is merged, the vote counts for the target."`
	Email      string      `json:"email,omitempty" maxLength:"254" doc:"Identifies the person. Case does not matter."`
	Name       string      `json:"name,omitempty" maxLength:"200" doc:"Identifies the person if email and external_id are omitted."`
	ExternalID string      `json:"external_id,omitempty" maxLength:"200" doc:"Id in your product. Identifies the person if email is omitted."`
	Why        string      `json:"why,omitempty" lines:"clean" maxLength:"500" doc:"Why the person wants the request. Kept unless an earlier vote said why."`
}

type votesRemoveParams struct {
	RequestID  feedback.ID `json:"request_id" format:"uuid" doc:"The request. If it is merged, the vote counts for the target."`
	Email      string      `json:"email,omitempty" maxLength:"254" doc:"Identifies the person. Case does not matter."`
	Name       string      `json:"name,omitempty" maxLength:"200" doc:"Identifies the person if email and external_id are omitted."`
	ExternalID string      `json:"external_id,omitempty" maxLength:"200" doc:"Id in your product. Identifies the person if email is omitted."`
}

// absent returns the person on whose behalf a user votes, and who is therefore never verified.
func absent(email, name, externalID string) (feedback.Person, error) {
	p := feedback.Person{Email: params.OrNil(email), Name: params.OrNil(name), ExternalID: params.OrNil(externalID)}
	switch {
	case p.Key() == "":
		return p, feedback.Invalid("votes", "email", "email, external_id or name is required to identify the person.")
	case email != "" && !feedback.ValidEmail(email):
		return p, feedback.Invalid("votes", "email", "email must be an e-mail address such as ada@example.com.")
	}
	return p, nil
}

type voteResult struct {
	Votes int64 `json:"votes" doc:"Number of people who want the request, after this call."`
	Voted bool  `json:"voted" doc:"Whether the person has a vote now."`
}

func (a *API) votesAdd(ctx context.Context, c caller, in votesAddParams) (voteResult, error) {
	person, err := absent(in.Email, in.Name, in.ExternalID)
	if err != nil {
		return voteResult{}, err
	}
	ballot := store.Ballot{RequestID: in.RequestID, Person: person, Source: "dashboard", Why: params.OrNil(in.Why)}
	votes, err := a.Store.Vote(ctx, c.Account.ID, c.actor(), ballot)
	return voteResult{votes, true}, err
}

// votesRemove succeeds if the person has no vote, so that callers can repeat a call.
func (a *API) votesRemove(ctx context.Context, c caller, in votesRemoveParams) (voteResult, error) {
	person, err := absent(in.Email, in.Name, in.ExternalID)
	if err != nil {
		return voteResult{}, err
	}
	votes, err := a.Store.Vote(ctx, c.Account.ID, c.actor(), store.Ballot{RequestID: in.RequestID, Person: person, Remove: true})
	return voteResult{votes, false}, err
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
	Why           string       `json:"why,omitempty" lines:"clean" maxLength:"500" doc:"What the person wrote, for your team to read. Kept unless an earlier vote said why."`
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
		RequestID: in.RequestID, Person: *person, Source: "widget", Remove: in.Remove, Reader: reader, Why: params.OrNil(in.Why),
	})
	return voteResult{votes, !in.Remove}, err
}
