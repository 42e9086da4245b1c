package api

import (
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/pages"
)

const (
	maxSimilar       = 10
	maxWidgetSimilar = 5
)

type requestsSimilarParams struct {
	ID    *feedback.ID `json:"id,omitempty" format:"uuid" doc:"Find requests that are similar to this one. Otherwise, send app_id and text."`
	AppID *feedback.ID `json:"app_id,omitempty" format:"uuid" doc:"The app to search."`
	Text  string       `json:"text,omitempty" lines:"many" minLength:"1" maxLength:"200" doc:"Find requests that are similar to this text."`
}

// similarRequest is a request that is similar to another one or to a text.
type similarRequest struct {
	ID     feedback.ID     `json:"id" format:"uuid"`
	Title  string          `json:"title"`
	Status feedback.Status `json:"status" enum:"opened,under_review,planned,in_progress,completed,declined,duplicate"`
	Votes  int64           `json:"votes"`
	Score  float64         `json:"score" doc:"Similarity, from 0 to 1."`
}

type requestsSimilarResult struct {
	Requests []similarRequest `json:"requests" doc:"Most similar first, at most 10."`
}

func (a *API) requestsSimilar(ctx context.Context, c caller, in requestsSimilarParams) (requestsSimilarResult, error) {
	like := index.Likeness{Text: in.Text, Limit: maxSimilar}
	switch {
	case in.ID != nil && in.AppID == nil && in.Text == "":
		r, err := a.Store.Request(ctx, c.Account.ID, *in.ID)
		if err != nil {
			return requestsSimilarResult{}, err
		}
		like.AppID, like.Text, like.Except = r.AppID, r.Title, &r.ID
		if r.MergedIntoID != nil {
			like.Except = r.MergedIntoID
		}
	case in.ID == nil && in.AppID != nil && in.Text != "":
		app, err := a.Store.App(ctx, c.Account.ID, *in.AppID)
		if err != nil {
			return requestsSimilarResult{}, err
		}
		like.AppID = app.ID
	default:
		return requestsSimilarResult{}, feedback.Invalid("requests", "text", "Send either id, or app_id and text.")
	}
	found, err := a.Store.Index.Similar(ctx, c.Account.ID, like)
	requests := make([]similarRequest, 0, len(found))
	for _, r := range found {
		requests = append(requests, similarRequest(r))
	}
	return requestsSimilarResult{requests}, err
}

type widgetSimilarRequestsParams struct {
	Text          string       `json:"text" lines:"many" minLength:"1" maxLength:"200" doc:"What the person is about to submit."`
	Voter         *feedback.ID `json:"voter,omitempty" format:"uuid" doc:"The random UUID that the browser keeps for widget-vote. Or send identity_token."`
	IdentityToken string       `json:"identity_token,omitempty" verbatim:"true" doc:"Identifies the person. See Identity."`
}

// suggestedRequest is a request that is similar to what a person types.
type suggestedRequest struct {
	feedback.SharedRequest
	Voted bool `json:"voted" doc:"Whether the person has voted for it, or asked for it with an identity token."`
}

type widgetSimilarRequestsResult struct {
	Requests []suggestedRequest `json:"requests" doc:"Most similar first, at most 5; only those that the app shares."`
}

func (a *API) widgetSimilarRequests(ctx context.Context, v visitor, in widgetSimilarRequestsParams) (widgetSimilarRequestsResult, error) {
	result := widgetSimilarRequestsResult{[]suggestedRequest{}}
	if err := a.rates.Searches.Allow(v.From, 1, a.Now()); err != nil {
		return result, err
	}
	who, err := a.viewer(ctx, v, pages.Viewer{Voter: in.Voter, IdentityToken: in.IdentityToken})
	if err != nil {
		return result, err
	}
	shared := v.app.Settings.Shared()
	if len(shared) == 0 {
		return result, nil
	}
	portal := v.app.Settings.Portal
	found, err := a.Store.Index.Similar(ctx, v.app.AccountID, index.Likeness{
		AppID: v.app.ID, Text: in.Text, Shared: shared, Limit: maxWidgetSimilar,
		Titles: portal.Access != feedback.AccessPublic || !portal.Descriptions, // anybody can read what a public portal shows
	})
	if err != nil || len(found) == 0 {
		return result, err
	}
	var ids []feedback.ID
	for _, r := range found {
		ids = append(ids, r.ID)
	}
	voted, err := a.Store.Board.Voted(ctx, v.app, who, ids)
	for _, r := range found {
		shown := feedback.SharedRequest{ID: r.ID, Title: r.Title, Status: r.Status, Votes: r.Votes}
		result.Requests = append(result.Requests, suggestedRequest{shown, voted[r.ID]})
	}
	return result, err
}
