package api

import (
	"cmp"
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/lists"
)

type commentsListParams struct {
	RequestID feedback.ID `json:"request_id" format:"uuid" doc:"The request."`
	Limit     *int        `json:"limit,omitempty" minimum:"1" doc:"Page size: 50 by default, at most 200."`
	Cursor    string      `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of the previous page."`
}

type commentsListResult struct {
	Comments []feedback.Comment `json:"comments"`
	lists.PageResult
}

func (a *API) commentsList(ctx context.Context, c caller, in commentsListParams) (commentsListResult, error) {
	cur, err := a.cursors.ResumeOf(c.Account.ID, "comments", "comments-list", in.Cursor, in.RequestID)
	if err != nil {
		return commentsListResult{}, err
	}
	cur.SetLimit(in.Limit, lists.DefaultLimit)
	if err := a.holdPage(ctx, c, cur.Limit, rowBytes); err != nil { // a comment can be as long as a request
		return commentsListResult{}, err
	}
	comments, total, err := a.Store.Comments(ctx, c.Account.ID, in.RequestID, cur.After, cur.Limit+1)
	if err != nil {
		return commentsListResult{}, err
	}
	comments, result, err := lists.Page(a.cursors, cur, comments, total, func(cur *lists.Cursor, c feedback.Comment) { cur.After = c.ID })
	return commentsListResult{comments, result}, err
}

type commentResult struct {
	Comment feedback.Comment `json:"comment"`
}

type commentsCreateParams struct {
	RequestID  feedback.ID         `json:"request_id" format:"uuid" doc:"The request."`
	Body       string              `json:"body" minLength:"1" maxLength:"10000" lines:"many" doc:"Markdown. See mentions-list for how it mentions users."`
	Visibility feedback.Visibility `json:"visibility,omitempty" enum:"internal,public" doc:"Who may read the comment; internal by default."`
	Quiet      bool                `json:"quiet,omitempty" doc:"Do not tell the people who asked. See Your ideas."`
}

func (a *API) commentsCreate(ctx context.Context, c caller, in commentsCreateParams) (commentResult, error) {
	comment, err := a.Store.AddComment(ctx, c.Account.ID, c.acting(in.Quiet), feedback.Comment{
		RequestID: in.RequestID, Author: feedback.Author{ID: &c.User.ID, Kind: feedback.ByTeam},
		Body: in.Body, Visibility: cmp.Or(in.Visibility, feedback.Internal),
	})
	return commentResult{comment}, err
}

type commentsUpdateParams struct {
	RequestID  feedback.ID          `json:"request_id" format:"uuid" doc:"The request."`
	ID         feedback.ID          `json:"id" format:"uuid" doc:"The comment."`
	Body       *string              `json:"body,omitempty" minLength:"1" maxLength:"10000" lines:"many" doc:"Markdown. See mentions-list for how it mentions users."`
	Visibility *feedback.Visibility `json:"visibility,omitempty" enum:"internal,public" doc:"Who may read the comment."`
	Quiet      bool                 `json:"quiet,omitempty" doc:"Do not tell the people who asked that it is public now."`
}

func (a *API) commentsUpdate(ctx context.Context, c caller, in commentsUpdateParams) (commentResult, error) {
	change := feedback.CommentChange{Body: in.Body, Visibility: in.Visibility}
	comment, err := a.Store.ChangeComment(ctx, c.Account.ID, in.RequestID, in.ID, c.acting(in.Quiet), func(comment *feedback.Comment) error {
		return comment.Edit(c.User.ID, change)
	})
	return commentResult{comment}, err
}

type commentParams struct {
	RequestID feedback.ID `json:"request_id" format:"uuid" doc:"The request."`
	ID        feedback.ID `json:"id" format:"uuid" doc:"The comment."`
}

func (a *API) commentsDelete(ctx context.Context, c caller, in commentParams) (deletedResult, error) {
	err := a.Store.DeleteComment(ctx, c.Account.ID, in.RequestID, in.ID, c.actor(), func(comment feedback.Comment) error {
		return comment.CheckRemoval(c.User.ID, c.Role)
	})
	return deletedResult{err == nil, in.ID}, err
}
