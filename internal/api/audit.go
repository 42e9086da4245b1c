package api

import (
	"cmp"
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/lists"
)

type auditListParams struct {
	About  string `json:"about,omitempty" enum:"account,requests" doc:"account, the default: the account, its users and its apps. requests: changed, deleted, restored, merged and unmerged requests, and decisions about spam."`
	Limit  *int   `json:"limit,omitempty" minimum:"1" doc:"Page size: 50 by default, at most 200."`
	Cursor string `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of the previous page; includes about."`
}

type auditListResult struct {
	Entries []feedback.AuditEntry `json:"entries"`
	lists.PageResult
}

// The values of about. Cursors do not contain the default, so that the version before accepts them.
const (
	aboutAccount  = "account"
	aboutRequests = "requests"
)

func (a *API) auditList(ctx context.Context, c caller, in auditListParams) (auditListResult, error) {
	cur, fresh, err := a.cursors.Resume(c.Account.ID, "audit", "audit-list", in.Cursor)
	if err != nil {
		return auditListResult{}, err
	}
	about := cmp.Or(cur.About, aboutAccount)
	switch {
	case fresh && in.About == aboutRequests:
		about, cur.About = aboutRequests, aboutRequests
	case !fresh && in.About != "" && in.About != about:
		return auditListResult{}, lists.InvalidCursor("audit")
	}
	cur.SetLimit(in.Limit, lists.DefaultLimit)
	// An entry can contain an app's settings, with all allowed origins, or a description, before and
	// after a change.
	if err := a.holdPage(ctx, c, cur.Limit, 2*rowBytes); err != nil {
		return auditListResult{}, err
	}
	read := a.Store.Events.Audit
	if about == aboutRequests {
		read = a.Store.Events.RequestAudit
	}
	entries, total, err := read(ctx, c.Account.ID, cur.Number, cur.Limit+1)
	if err != nil {
		return auditListResult{}, err
	}
	entries, result, err := lists.Page(a.cursors, cur, entries, total, func(cur *lists.Cursor, e feedback.AuditEntry) {
		cur.Number = e.Number
	})
	return auditListResult{entries, result}, err
}
