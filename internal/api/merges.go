package api

import (
	"context"

	"gatherkit/internal/feedback"
)

type requestsMergeParams struct {
	ID     feedback.ID `json:"id" format:"uuid" doc:"The request that says the same as another one."`
	IntoID feedback.ID `json:"into_id" format:"uuid" doc:"The other one, of the same app; when it is merged itself, both count where it was merged into."`
}

func (a *API) requestsMerge(ctx context.Context, c caller, in requestsMergeParams) (requestResult, error) {
	r, err := a.Store.MergeRequest(ctx, c.Account.ID, in.ID, in.IntoID, c.actor())
	return a.shown(c, r), err
}

func (a *API) requestsUnmerge(ctx context.Context, c caller, in requestParams) (requestResult, error) {
	r, err := a.Store.UnmergeRequest(ctx, c.Account.ID, in.ID, c.actor())
	return a.shown(c, r), err
}
