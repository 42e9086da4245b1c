package api

import (
	"context"

	"gatherkit/internal/feedback"
)

type auditListParams struct {
	Limit  *int   `json:"limit,omitempty" minimum:"1" doc:"Entries on a page: 50 without it, 200 at the most."`
	Cursor string `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of a previous page."`
}

type auditListResult struct {
	Entries []feedback.Event `json:"entries"`
	PageResult
}

func (a *API) auditList(ctx context.Context, c caller, in auditListParams) (auditListResult, error) {
	cur, _, err := a.resume(c, "audit", "audit-list", in.Cursor)
	if err != nil {
		return auditListResult{}, err
	}
	cur.limit(in.Limit, defaultLimit)
	// An entry can have an app's settings, with all allowed origins, as they were and became.
	if err := a.holdPage(ctx, c, cur.Limit, rowBytes); err != nil {
		return auditListResult{}, err
	}
	entries, total, err := a.Store.Audit(ctx, c.Account.ID, cur.Number, cur.Limit+1)
	if err != nil {
		return auditListResult{}, err
	}
	entries, result, err := page(a, cur, entries, total, func(cur *cursor, e feedback.Event) { cur.Number = e.Number })
	return auditListResult{entries, result}, err
}
