package pages

import (
	"cmp"
	"context"
	"slices"

	"gatherkit/internal/board"
	"gatherkit/internal/calls"
	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/lists"
	"gatherkit/internal/portal"
	"gatherkit/internal/visitors"
)

// What visitors see on a portal is also there for products that show it themselves, by calls with the API key of the
// app. Both read it in the same way, so that neither shows more.

// Viewer says for whom a call reads.
type Viewer struct {
	Voter         *feedback.ID `json:"voter,omitempty" format:"uuid" doc:"The random UUID that the browser keeps for widget-vote. Or send identity_token."`
	IdentityToken string       `json:"identity_token,omitempty" verbatim:"true" doc:"Identifies the person. Needed if the portal is only for people who are signed in. See Identity."`
}

// BoardParams select a page of the ideas on a portal.
type BoardParams struct {
	Viewer
	Query  string          `json:"query,omitempty" lines:"many" maxLength:"200" doc:"Only ideas with all of these words. See Words."`
	Status feedback.Status `json:"status,omitempty" enum:"opened,under_review,planned,in_progress,completed,declined"`
	Tag    string          `json:"tag,omitempty" lines:"many" minLength:"1" maxLength:"40" doc:"One of settings.portal.tags."`
	Sort   portal.Order    `json:"sort,omitempty" enum:"top,trending,new" doc:"top by default."`
	Limit  *int            `json:"limit,omitempty" minimum:"1" doc:"Page size: 20 by default, at most 50."`
	Cursor string          `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of the previous page; includes query, status, tag and sort."`
}

// BoardStatus is a status that a portal shows.
type BoardStatus struct {
	Status feedback.Status `json:"status" enum:"opened,under_review,planned,in_progress,completed,declined"`
	Label  string          `json:"label" doc:"The app's own name of the status; empty for the usual one."`
	Count  int64           `json:"count" doc:"Number of its ideas."`
}

// BoardResult is a page of the ideas on a portal.
type BoardResult struct {
	Requests   []board.Idea  `json:"requests" doc:"Their descriptions are cut after 500 characters."`
	Statuses   []BoardStatus `json:"statuses" doc:"The statuses that the portal shows."`
	Total      int64         `json:"total"`
	NextCursor string        `json:"next_cursor" doc:"Send it as cursor to get the next page; empty on the last page."`
	HasMore    bool          `json:"has_more"`
}

const (
	widgetPage = 20
	maxPage    = 50
)

// Board returns a page of the ideas on the portal of an app, as the person sees them.
func (p *Pages) Board(ctx context.Context, c *calls.Client, app feedback.App, who *feedback.Person, in BoardParams) (BoardResult, error) {
	result := BoardResult{Requests: []board.Idea{}, Statuses: []BoardStatus{}}
	cur, err := p.boardCursor(app, in)
	if err != nil {
		return result, err
	}
	query := board.Query{Words: shortened(cur.Filter.Query, maxSearch), Tag: cur.Filter.Tag, Sort: cur.Filter.Sort, Limit: cur.Limit}
	if len(cur.Filter.Statuses) > 0 {
		query.Status = cur.Filter.Statuses[0]
	}
	if in.Cursor != "" {
		query.After = &index.Place{ID: cur.After, Votes: cur.Number, Heat: cur.Number}
	}
	err = p.readAs(ctx, c, app, who, cur.Limit+1, func(ctx context.Context, view *board.View) error {
		for _, status := range view.Statuses() {
			n, err := view.Count(ctx, status)
			if err != nil {
				return err
			}
			result.Statuses = append(result.Statuses, BoardStatus{status, view.App.Settings.Statuses.Label(status), n})
		}
		if query.Tag != "" && !view.ShowsTag(query.Tag) {
			return nil
		}
		list, err := view.List(ctx, query)
		result.Requests = append(result.Requests, list.Ideas...)
		if result.Total, result.HasMore = list.Total, list.More; list.More {
			last := list.Ideas[len(list.Ideas)-1]
			cur.After, cur.Number = last.ID, rank(last, query.Sort)
			result.NextCursor, err = p.Cursors.Sign(cur)
		}
		return err
	})
	return result, err
}

// boardCursor returns where a page of the board begins, and which ideas it has.
func (p *Pages) boardCursor(app feedback.App, in BoardParams) (lists.Cursor, error) {
	cur, err := p.Cursors.ResumeOf(app.AccountID, "widget", "widget-board", in.Cursor, app.ID)
	if err != nil {
		return cur, err
	}
	sent := lists.RequestsFilter{Query: in.Query, Tag: feedback.Fold(in.Tag), Sort: orders[in.Sort]}
	if in.Status != "" {
		sent.Statuses = []feedback.Status{in.Status}
	}
	if in.Cursor == "" {
		cur.Filter = sent
		cur.Filter.Sort = cmp.Or(sent.Sort, orders[portal.Top])
	}
	differs := func(one, other string) bool { return one != "" && one != other }
	if differs(sent.Query, cur.Filter.Query) || differs(sent.Tag, cur.Filter.Tag) || differs(string(sent.Sort), string(cur.Filter.Sort)) ||
		sent.Statuses != nil && !slices.Equal(sent.Statuses, cur.Filter.Statuses) {
		return cur, lists.InvalidCursor("widget")
	}
	cur.SetLimit(in.Limit, widgetPage)
	cur.Limit = min(cur.Limit, maxPage)
	return cur, nil
}

// IdeaParams name an idea on a portal.
type IdeaParams struct {
	Viewer
	ID     feedback.ID  `json:"id" format:"uuid" doc:"The request."`
	Before *feedback.ID `json:"before,omitempty" format:"uuid" doc:"Return the comments before this one."`
}

// IdeaResult is an idea on a portal, with its comments.
type IdeaResult struct {
	Request  board.Idea     `json:"request" doc:"If the request is merged, the one that it is merged into."`
	Comments []board.Remark `json:"comments" doc:"The latest, at most 20, oldest first."`
	HasMore  bool           `json:"has_more" doc:"Whether there are earlier comments: send the id of the first one as before."`
}

// Idea returns an idea on the portal of an app, as the person sees it.
func (p *Pages) Idea(
	ctx context.Context, c *calls.Client, app feedback.App, who *feedback.Person, in IdeaParams,
) (result IdeaResult, err error) {
	err = p.readAs(ctx, c, app, who, 1, func(ctx context.Context, view *board.View) (err error) {
		if result.Request, err = view.Get(ctx, in.ID); err != nil {
			return err
		}
		before := feedback.ID{}
		if in.Before != nil {
			before = *in.Before
		}
		comments, more, err := view.Remarks(ctx, result.Request.ID, before, remarksPage)
		result.Comments, result.HasMore = append([]board.Remark{}, comments...), more
		return err
	})
	return result, err
}

// readAs reads the portal of an app for a person. rows is how many ideas it reads at most.
func (p *Pages) readAs(
	ctx context.Context, c *calls.Client, app feedback.App, who *feedback.Person, rows int, read func(context.Context, *board.View) error,
) error {
	at := visitors.At{Slug: app.Settings.Portal.Slug}
	if host := app.Settings.Portal.Host; host != "" {
		at = visitors.At{Host: host}
	}
	if err := p.Rates.Entries.Allow(c.From, 1, p.Now()); err != nil {
		return err
	}
	if err := p.hold(ctx, c, at, max(pageBytes, int64(rows)*rowBytes)); err != nil {
		return err
	}
	return p.Store.Board.ReadAs(ctx, app, who, read)
}
