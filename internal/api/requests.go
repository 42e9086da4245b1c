package api

import (
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/params"
)

type requestResult struct {
	Request feedback.Request `json:"request"`
}

// requestWithLinks returns a result with links to the request's files.
func (a *API) requestWithLinks(c caller, r feedback.Request) requestResult {
	return requestResult{a.withLinks(c.Account.ID, r)[0]}
}

type requestParams struct {
	ID feedback.ID `json:"id" format:"uuid" doc:"The request."`
}

type requestsGetResult struct {
	Request feedback.Request `json:"request"`
	Links   []feedback.Link  `json:"links" doc:"The issues and other pages that the team has linked to it, oldest first."`

	Audience feedback.Audience `json:"audience" doc:"Who outside the account is told of changes."`
}

func (a *API) requestsGet(ctx context.Context, c caller, in requestParams) (requestsGetResult, error) {
	r, err := a.Store.Request(ctx, c.Account.ID, in.ID)
	if err != nil {
		return requestsGetResult{}, err
	}
	links, err := a.Store.Links.List(ctx, c.Account.ID, in.ID)
	if err != nil {
		return requestsGetResult{}, err
	}
	audience, err := a.Store.Audience(ctx, c.Account.ID, r)
	return requestsGetResult{a.withLinks(c.Account.ID, r)[0], links, audience}, err
}

type requestsCreateParams struct {
	AppID       feedback.ID      `json:"app_id" format:"uuid" doc:"The app that the request belongs to."`
	Title       string           `json:"title" minLength:"1" maxLength:"200"`
	Description string           `json:"description,omitempty" maxLength:"10000" lines:"many"`
	Status      *feedback.Status `json:"status,omitempty" enum:"opened,under_review,planned,in_progress,completed,declined"`
	Tags        params.Tags      `json:"tags,omitempty" doc:"Tags that differ only in case are the same."`
	Submitter   *submitterParams `json:"submitter,omitempty" doc:"The person who asked for it; counts as the first vote."`
	ETA         *params.Expected `json:"eta,omitempty" doc:"Expected day, month or quarter: YYYY-MM-DD, YYYY-MM or YYYY-Qn."`
	AssigneeID  *feedback.ID     `json:"assignee_id,omitempty" format:"uuid" doc:"The user who is responsible for the request."`
}

// submitterParams is a person on whose behalf a user submits a request. It is never
// verified.
type submitterParams struct {
	Email      string `json:"email,omitempty" maxLength:"254"`
	Name       string `json:"name,omitempty" maxLength:"200"`
	ExternalID string `json:"external_id,omitempty" maxLength:"200" doc:"The person's id in your product."`
}

func (a *API) requestsCreate(ctx context.Context, c caller, in requestsCreateParams) (requestResult, error) {
	if err := in.ETA.Check(); err != nil {
		return requestResult{}, err
	}
	r, eta := feedback.NewRequest(in.Title, in.Description), (*string)(in.ETA)
	r.AppID, r.Source, r.Votes = in.AppID, "dashboard", 0
	if c.token != nil {
		r.Source = "api"
	}
	r.Apply(feedback.RequestChange{Status: in.Status, Tags: (*[]string)(&in.Tags), AssigneeID: &in.AssigneeID, ETA: &eta})
	if p := in.Submitter; p != nil {
		if p.Email != "" && !feedback.ValidEmail(p.Email) {
			return requestResult{}, feedback.Invalid("requests", "submitter", "submitter.email must be an e-mail address such as ada@example.com.")
		}
		r.Submitter = feedback.Submitter{Email: params.OrNil(p.Email), Name: params.OrNil(p.Name), ExternalID: params.OrNil(p.ExternalID)}
		if r.Submitter != (feedback.Submitter{}) {
			r.Votes = 1
		}
	}
	r, err := a.Store.AddRequest(ctx, c.Account.ID, c.actor(), r)
	return a.requestWithLinks(c, r), err
}

type requestsUpdateParams struct {
	ID              feedback.ID                      `json:"id" format:"uuid" doc:"The request."`
	Title           *string                          `json:"title,omitempty" minLength:"1" maxLength:"200"`
	Description     *string                          `json:"description,omitempty" maxLength:"10000" lines:"many"`
	Status          *feedback.Status                 `json:"status,omitempty" enum:"opened,under_review,planned,in_progress,completed,declined"`
	Tags            *params.Tags                     `json:"tags,omitempty" doc:"Replaces all tags. Tags that differ only in case are the same."`
	Hidden          *bool                            `json:"hidden,omitempty" doc:"Hide it from everyone outside the account but its submitter, whatever the app's sharing; or stop hiding it."`
	AssigneeID      params.Nullable[feedback.ID]     `json:"assignee_id,omitzero" format:"uuid" doc:"The responsible user; null for none."`
	ETA             params.Nullable[params.Expected] `json:"eta,omitzero" doc:"Expected day, month or quarter: YYYY-MM-DD, YYYY-MM or YYYY-Qn; null for none."`
	ExpectedVersion *int64                           `json:"expected_version,omitempty" minimum:"1" doc:"Refuse the change if the version differs."`
	Quiet           bool                             `json:"quiet,omitempty" doc:"Do not tell the people who asked. See Your ideas."`
}

func (a *API) requestsUpdate(ctx context.Context, c caller, in requestsUpdateParams) (requestResult, error) {
	change := feedback.RequestChange{
		Title: in.Title, Description: in.Description, Status: in.Status, Tags: (*[]string)(in.Tags),
		Hidden: in.Hidden, AssigneeID: in.AssigneeID.Change(),
	}
	if eta := in.ETA.Change(); eta != nil {
		if err := (*eta).Check(); err != nil {
			return requestResult{}, err
		}
		change.ETA = new((*string)(*eta))
	}
	r, err := a.Store.ChangeRequest(ctx, c.Account.ID, in.ID, c.acting(in.Quiet), func(r *feedback.Request) error {
		switch {
		case r.Box == feedback.Bin:
			return feedback.ErrRequestNotFound
		case in.ExpectedVersion != nil && *in.ExpectedVersion != r.Version:
			return feedback.ErrVersionConflict
		}
		r.Apply(change)
		return nil
	})
	return a.requestWithLinks(c, r), err
}

func (a *API) requestsDelete(ctx context.Context, c caller, in requestParams) (deletedResult, error) {
	_, err := a.Store.ChangeRequest(ctx, c.Account.ID, in.ID, c.actor(), func(r *feedback.Request) error {
		if r.Box == feedback.Bin {
			return feedback.ErrRequestNotFound
		}
		r.Box = feedback.Bin
		return nil
	})
	return deletedResult{err == nil, in.ID}, err
}

// requestsRestore does not change a request that is not in the bin, so that callers can
// repeat a call.
func (a *API) requestsRestore(ctx context.Context, c caller, in requestParams) (requestResult, error) {
	r, err := a.Store.ChangeRequest(ctx, c.Account.ID, in.ID, c.actor(), func(r *feedback.Request) error {
		if r.Box == feedback.Bin {
			r.Box = feedback.Live
		}
		return nil
	})
	return a.requestWithLinks(c, r), err
}
