package api

import (
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/lists"
)

type tagsListParams struct {
	Limit  *int   `json:"limit,omitempty" minimum:"1" doc:"Page size: 50 by default, at most 200."`
	Cursor string `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of the previous page."`
}

type tagsListResult struct {
	Tags []feedback.Tag `json:"tags"`
	lists.PageResult
}

func (a *API) tagsList(ctx context.Context, c caller, in tagsListParams) (tagsListResult, error) {
	cur, _, err := a.cursors.Resume(c.Account.ID, "tags", "tags-list", in.Cursor)
	if err != nil {
		return tagsListResult{}, err
	}
	cur.SetLimit(in.Limit, lists.DefaultLimit)
	if err := a.holdPage(ctx, c, cur.Limit, personBytes); err != nil {
		return tagsListResult{}, err
	}
	tags, total, err := a.Store.Tags(ctx, c.Account.ID, cur.Text, cur.Limit+1)
	if err != nil {
		return tagsListResult{}, err
	}
	tags, result, err := lists.Page(a.cursors, cur, tags, total, func(cur *lists.Cursor, tag feedback.Tag) {
		cur.Text = feedback.Fold(tag.Tag)
	})
	return tagsListResult{tags, result}, err
}
