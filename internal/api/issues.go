package api

import (
	"context"

	"gatherkit/internal/feedback"
)

type linksAddParams struct {
	RequestID feedback.ID `json:"request_id" format:"uuid" doc:"The request. A link of a merged request stays with it."`
	URL       string      `json:"url" minLength:"1" maxLength:"2048" doc:"An address that begins with http:// or https://, without a user name."`
}

type linkResult struct {
	Link feedback.Link `json:"link"`
}

// linksAdd succeeds if the request has the link already, so that callers can repeat a call.
func (a *API) linksAdd(ctx context.Context, c caller, in linksAddParams) (linkResult, error) {
	if !feedback.ValidLink(in.URL) {
		return linkResult{}, feedback.Invalid("links", "url",
			"url must be an address that begins with http:// or https://, without a user name or password.")
	}
	link, err := a.Store.Links.Add(ctx, c.Account.ID, c.actor(), feedback.Link{
		RequestID: in.RequestID, URL: in.URL, Author: feedback.Author{ID: &c.User.ID, Kind: feedback.ByTeam},
	})
	return linkResult{link}, err
}

type linksRemoveParams struct {
	RequestID feedback.ID `json:"request_id" format:"uuid" doc:"The request."`
	ID        feedback.ID `json:"id" format:"uuid" doc:"The link."`
}

func (a *API) linksRemove(ctx context.Context, c caller, in linksRemoveParams) (deletedResult, error) {
	err := a.Store.Links.Remove(ctx, c.Account.ID, c.actor(), in.RequestID, in.ID)
	return deletedResult{err == nil, in.ID}, err
}
