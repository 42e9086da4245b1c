package api

import (
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/lists"
)

type usersListParams struct {
	Limit  *int   `json:"limit,omitempty" minimum:"1" doc:"Page size: 50 by default, at most 200."`
	Cursor string `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of the previous page."`
}

type usersListResult struct {
	Users []feedback.Member `json:"users"`
	lists.PageResult
}

func (a *API) usersList(ctx context.Context, c caller, in usersListParams) (usersListResult, error) {
	cur, _, err := a.cursors.Resume(c.Account.ID, "users", "users-list", in.Cursor)
	if err != nil {
		return usersListResult{}, err
	}
	cur.SetLimit(in.Limit, lists.DefaultLimit)
	if err := a.holdPage(ctx, c, cur.Limit, personBytes); err != nil {
		return usersListResult{}, err
	}
	users, total, err := a.Store.Team.Users(ctx, c.Account.ID, cur.After, cur.Limit+1)
	if err != nil {
		return usersListResult{}, err
	}
	users, result, err := lists.Page(a.cursors, cur, users, total, func(cur *lists.Cursor, m feedback.Member) { cur.After = m.ID })
	return usersListResult{users, result}, err
}
