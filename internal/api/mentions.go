package api

import (
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/lists"
)

type mentionsListParams struct {
	Unread bool   `json:"unread,omitempty" doc:"Only those that you have not read."`
	Limit  *int   `json:"limit,omitempty" minimum:"1" doc:"Page size: 50 by default, at most 200."`
	Cursor string `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of the previous page; includes unread."`
}

type mentionsListResult struct {
	Mentions []feedback.Mention `json:"mentions"`
	lists.PageResult
}

func (a *API) mentionsList(ctx context.Context, c caller, in mentionsListParams) (mentionsListResult, error) {
	cur, fresh, err := a.cursors.Resume(c.Account.ID, "mentions", "mentions-list", in.Cursor)
	if err != nil {
		return mentionsListResult{}, err
	}
	if fresh {
		cur.Unread = in.Unread
	} else if in.Unread && !cur.Unread {
		return mentionsListResult{}, lists.InvalidCursor("mentions")
	}
	cur.SetLimit(in.Limit, lists.DefaultLimit)
	if err := a.holdPage(ctx, c, cur.Limit, rowBytes); err != nil { // it reads the beginnings of comments
		return mentionsListResult{}, err
	}
	mentions, total, err := a.Store.Mentions.List(ctx, c.Account.ID, c.User.ID, cur.Unread, cur.After, cur.Limit+1)
	if err != nil {
		return mentionsListResult{}, err
	}
	mentions, result, err := lists.Page(a.cursors, cur, mentions, total, func(cur *lists.Cursor, m feedback.Mention) { cur.After = m.ID })
	return mentionsListResult{mentions, result}, err
}

type mentionsReadParams struct {
	IDs  []feedback.ID `json:"ids,omitempty" format:"uuid" minItems:"1" maxItems:"200" doc:"The mentions. Or send up_to."`
	UpTo *feedback.ID  `json:"up_to,omitempty" format:"uuid" doc:"This mention and all older ones. The newest one marks all as read."`
}

type mentionsReadResult struct {
	Read int64 `json:"read" doc:"Number of mentions that were unread."`
}

func (a *API) mentionsRead(ctx context.Context, c caller, in mentionsReadParams) (mentionsReadResult, error) {
	if (in.IDs == nil) == (in.UpTo == nil) {
		return mentionsReadResult{}, feedback.Invalid("mentions", "ids", "Send either ids or up_to, but not both.")
	}
	if in.UpTo != nil {
		n, err := a.Store.Mentions.ReadUntil(ctx, c.Account.ID, c.User.ID, *in.UpTo)
		return mentionsReadResult{n}, err
	}
	n, err := a.Store.Mentions.Read(ctx, c.Account.ID, c.User.ID, in.IDs)
	return mentionsReadResult{n}, err
}
