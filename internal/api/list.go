package api

import (
	"cmp"
	"context"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
	"gatherkit/internal/lists"
)

type requestsListParams struct {
	lists.RequestsWhere
	Sort   index.Sort `json:"sort,omitempty" enum:"newest,oldest,most_voted,trending,recently_updated,relevance" doc:"The order; newest by default. See Words. trending: by votes, where a vote counts half as much as a vote given a week later. In most_voted, trending and recently_updated, a request that changes between two pages can be missing."`
	Limit  *int       `json:"limit,omitempty" minimum:"1" doc:"Page size: 50 by default, at most 200."`
	Cursor string     `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of the previous page; includes its filter and sort."`
}

type requestsListResult struct {
	Requests []feedback.Request `json:"requests"`
	lists.PageResult
	TotalExact bool   `json:"total_exact" doc:"False while the index is more than 2,048 changes behind, and in the order relevance if there were more candidates than are compared."`
	DidYouMean string `json:"did_you_mean,omitempty" doc:"If no request matches query: the query with words that requests have."`
}

func (a *API) requestsList(ctx context.Context, c caller, in requestsListParams) (requestsListResult, error) {
	cur, err := a.requestsCursor(c, in)
	if err != nil {
		return requestsListResult{}, err
	}
	if err := a.holdPage(ctx, c, cur.Limit, rowBytes); err != nil {
		return requestsListResult{}, err
	}
	at := index.Page{Sort: cur.Filter.Sort, Limit: cur.Limit + 1}
	if cur.After != (feedback.ID{}) {
		at.After = &index.Place{ID: cur.After, Votes: cur.Number, Heat: cur.Number, UpdatedAt: feedback.Time(cur.Number), Score: cur.Number}
	}
	if at.Sort == index.MostVoted || at.Sort == index.Trending {
		at.Unchanged = &cur.Began
	}
	filter := cur.Filter.Index()
	listed, total, err := a.listed(ctx, c.Account.ID, filter, at)
	if err != nil {
		return requestsListResult{}, err
	}
	listed, result, err := lists.Page(a.cursors, cur, listed, total.N, func(cur *lists.Cursor, r index.Ranked) {
		switch cur.After = r.ID; cur.Filter.Sort {
		case index.MostVoted:
			cur.Number = r.Votes
		case index.Trending:
			cur.Number = r.Heat
		case index.RecentlyUpdated:
			cur.Number = int64(r.UpdatedAt)
		case index.Relevance:
			cur.Number = r.Score
		}
	})
	if err != nil {
		return requestsListResult{}, err
	}
	requests := make([]feedback.Request, 0, len(listed))
	for _, r := range listed {
		requests = append(requests, r.Request)
	}
	meant := ""
	if total.N == 0 && filter.Query != "" {
		meant, err = a.Store.Index.Meant(ctx, c.Account.ID, filter)
	}
	return requestsListResult{a.withLinks(c.Account.ID, requests...), result, total.Exact, meant}, err
}

// listed reads a page. Requests have a score only in the order of relevance.
func (a *API) listed(ctx context.Context, accountID feedback.ID, f index.Filter, at index.Page) ([]index.Ranked, index.Total, error) {
	if at.Sort == index.Relevance {
		return a.Store.Index.Ranked(ctx, accountID, f, at)
	}
	requests, total, err := a.Store.Index.List(ctx, accountID, f, at)
	listed := make([]index.Ranked, 0, len(requests))
	for _, r := range requests {
		listed = append(listed, index.Ranked{Request: r})
	}
	return listed, total, err
}

// requestsCursor returns the position where the page starts. Parameters that are omitted are
// taken from the cursor, and those that contradict it are refused.
func (a *API) requestsCursor(c caller, in requestsListParams) (lists.Cursor, error) {
	wanted, err := in.Filter("requests", "")
	if err != nil {
		return lists.Cursor{}, err
	}
	wanted.Sort = in.Sort
	cur, fresh, err := a.cursors.Resume(c.Account.ID, "requests", "requests-list", in.Cursor)
	if err != nil {
		return cur, err
	}
	if fresh {
		wanted.Box, wanted.Sort = cmp.Or(wanted.Box, feedback.Live), cmp.Or(wanted.Sort, index.Newest)
		cur.Filter, cur.Began = wanted, feedback.At(a.Now())
	} else if wanted.Contradicts(cur.Filter) {
		return cur, lists.InvalidCursor("requests")
	}
	if cur.Filter.Sort == index.Relevance && cur.Filter.Query == "" {
		return cur, feedback.Invalid("requests", "sort", "sort can be relevance only with query.")
	}
	cur.SetLimit(in.Limit, lists.DefaultLimit)
	return cur, nil
}
