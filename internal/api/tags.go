package api

import (
	"context"

	"gatherkit/internal/feedback"
)

type tagsListParams struct {
	Limit  *int   `json:"limit,omitempty" minimum:"1" doc:"Page size: 50 by default, at most 200."`
	Cursor string `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of the previous page."`
}

type tagsListResult struct {
	Tags []feedback.Tag `json:"tags"`
	PageResult
}

func (a *API) tagsList(ctx context.Context, c caller, in tagsListParams) (tagsListResult, error) {
	cur, _, err := a.resume(c, "tags", "tags-list", in.Cursor)
	if err != nil {
		return tagsListResult{}, err
	}
	cur.limit(in.Limit, defaultLimit)
	if err := a.holdPage(ctx, c, cur.Limit, personBytes); err != nil {
		return tagsListResult{}, err
	}
	tags, total, err := a.Store.Tags(ctx, c.Account.ID, cur.Text, cur.Limit+1)
	if err != nil {
		return tagsListResult{}, err
	}
	tags, result, err := page(a, cur, tags, total, func(cur *cursor, tag feedback.Tag) { cur.Text = feedback.FoldTag(tag.Tag) })
	return tagsListResult{tags, result}, err
}
