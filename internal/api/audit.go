package api

import (
	"context"

	"gatherkit/internal/feedback"
)

type auditListParams struct {
	Limit  *int   `json:"limit,omitempty" minimum:"1" doc:"Page size: 50 by default, at most 200."`
	Cursor string `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of the previous page."`
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
	// An entry can contain an app's settings, with all allowed origins, before and after a change.
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
