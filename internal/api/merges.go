package api

import (
	"context"

	"gatherkit/internal/feedback"
)

type requestsMergeParams struct {
	ID     feedback.ID `json:"id" format:"uuid" doc:"The request to merge."`
	IntoID feedback.ID `json:"into_id" format:"uuid" doc:"The request to merge it into, of the same app; may be a merged one."`
	Quiet  bool        `json:"quiet,omitempty" doc:"Do not tell the people who asked. See Your ideas."`
}

type requestsUnmergeParams struct {
	ID    feedback.ID `json:"id" format:"uuid" doc:"The request."`
	Quiet bool        `json:"quiet,omitempty" doc:"Do not tell the people who asked. See Your ideas."`
}

func (a *API) requestsMerge(ctx context.Context, c caller, in requestsMergeParams) (requestResult, error) {
	r, err := a.Store.MergeRequest(ctx, c.Account.ID, in.ID, in.IntoID, c.acting(in.Quiet))
	return a.requestWithLinks(c, r), err
}

func (a *API) requestsUnmerge(ctx context.Context, c caller, in requestsUnmergeParams) (requestResult, error) {
	r, err := a.Store.UnmergeRequest(ctx, c.Account.ID, in.ID, c.acting(in.Quiet))
	return a.requestWithLinks(c, r), err
}
