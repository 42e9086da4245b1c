package api

import (
	"context"

	"gatherkit/internal/feedback"
)

type requestsMergeParams struct {
	ID     feedback.ID `json:"id" format:"uuid" doc:"The request to merge."`
	IntoID feedback.ID `json:"into_id" format:"uuid" doc:"The request to merge it into, of the same app; may be a merged one."`
}

func (a *API) requestsMerge(ctx context.Context, c caller, in requestsMergeParams) (requestResult, error) {
	r, err := a.Store.MergeRequest(ctx, c.Account.ID, in.ID, in.IntoID, c.actor())
	return a.requestWithLinks(c, r), err
}

func (a *API) requestsUnmerge(ctx context.Context, c caller, in requestParams) (requestResult, error) {
	r, err := a.Store.UnmergeRequest(ctx, c.Account.ID, in.ID, c.actor())
	return a.requestWithLinks(c, r), err
}
