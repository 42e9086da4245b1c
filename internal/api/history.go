package api

import (
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/lists"
)

type requestsHistoryParams struct {
	RequestID feedback.ID `json:"request_id" format:"uuid" doc:"The request."`
	Limit     *int        `json:"limit,omitempty" minimum:"1" doc:"Page size: 50 by default, at most 200."`
	Cursor    string      `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of the previous page."`
}

type requestsHistoryResult struct {
	Events []feedback.Event `json:"events"`
	lists.PageResult
}

func (a *API) requestsHistory(ctx context.Context, c caller, in requestsHistoryParams) (requestsHistoryResult, error) {
	cur, err := a.cursors.ResumeOf(c.Account.ID, "requests", "requests-history", in.Cursor, in.RequestID)
	if err != nil {
		return requestsHistoryResult{}, err
	}
	cur.SetLimit(in.Limit, lists.DefaultLimit)
	// An entry can contain a description before and after a change.
	if err := a.holdPage(ctx, c, cur.Limit, 2*rowBytes); err != nil {
		return requestsHistoryResult{}, err
	}
	events, total, err := a.Store.History(ctx, c.Account.ID, in.RequestID, cur.Number, cur.Limit+1)
	if err != nil {
		return requestsHistoryResult{}, err
	}
	events, result, err := lists.Page(a.cursors, cur, events, total, func(cur *lists.Cursor, e feedback.Event) { cur.Number = e.Number })
	return requestsHistoryResult{events, result}, err
}
