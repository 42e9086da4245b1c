package api

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"gatherkit/internal/feedback"
	"gatherkit/internal/index"
)

// statusFilter is one status or several.
type statusFilter []feedback.Status

// Schema implements huma.SchemaProvider.
func (statusFilter) Schema(huma.Registry) *huma.Schema {
	one := &huma.Schema{Type: huma.TypeString}
	for _, status := range feedback.Statuses() {
		one.Enum = append(one.Enum, string(status))
	}
	one.PrecomputeMessages()
	least, most := 1, len(one.Enum)
	several := &huma.Schema{Type: huma.TypeArray, Items: one, MinItems: &least, MaxItems: &most}
	several.PrecomputeMessages()
	return &huma.Schema{OneOf: []*huma.Schema{one, several}}
}

// UnmarshalJSON reads a string or an array of strings.
func (s *statusFilter) UnmarshalJSON(text []byte) error {
	statuses, err := oneOrMore[feedback.Status](text)
	slices.Sort(statuses)
	*s = slices.Compact(statuses)
	return err
}

// RequestsWhere is the part of a filter that is sent.
type RequestsWhere struct {
	Status        statusFilter   `json:"status,omitempty" doc:"Only requests in this status, or in one of these."`
	AppID         *feedback.ID   `json:"app_id,omitempty" format:"uuid" doc:"Only requests of this app."`
	Tag           string         `json:"tag,omitempty" lines:"many" minLength:"1" maxLength:"40" doc:"Only requests with this tag, whatever its case."`
	AssigneeID    string         `json:"assignee_id,omitempty" doc:"Only requests of this user, or of nobody: none."`
	Query         string         `json:"query,omitempty" lines:"many" maxLength:"200" doc:"Only live requests that have all of these words in the title or among the first 24 of the description; the last word may be the beginning of one. What was written within the last two seconds may be missing."`
	Source        string         `json:"source,omitempty" enum:"widget,dashboard,api,import" doc:"Only requests that came this way."`
	CreatedAfter  *feedback.Time `json:"created_after,omitempty" format:"date-time" doc:"Only requests that were created at this time or later."`
	CreatedBefore *feedback.Time `json:"created_before,omitempty" format:"date-time" doc:"Only requests that were created before this time."`
	Box           feedback.Box   `json:"box,omitempty" enum:"live,bin,quarantine" doc:"Where they lie: live without it, bin or quarantine."`
}

// wanted is what is asked for; the parameters' names begin with the prefix.
func (w RequestsWhere) wanted(prefix string) (requestsFilter, error) {
	fault := func(name, text string) error {
		parameter, _, _ := strings.Cut(prefix+name, ".")
		return feedback.Invalid("requests", parameter, prefix+name+text)
	}
	if _, err := feedback.ParseID(w.AssigneeID); err != nil && w.AssigneeID != nobody && w.AssigneeID != "" {
		return requestsFilter{}, fault("assignee_id", " must be a UUID, or none for requests of nobody.")
	}
	if w.Query != "" && w.Box != "" && w.Box != feedback.Live {
		return requestsFilter{}, fault("query", " finds live requests only; leave out box.")
	}
	return requestsFilter{
		Query: w.Query, Statuses: w.Status, AppID: w.AppID, Tag: feedback.FoldTag(w.Tag), AssigneeID: w.AssigneeID, Source: w.Source,
		CreatedAfter: w.CreatedAfter, CreatedBefore: w.CreatedBefore, Box: w.Box,
	}, nil
}

type requestsListParams struct {
	RequestsWhere
	Sort   index.Sort `json:"sort,omitempty" enum:"newest,oldest,most_voted,recently_updated" doc:"The order; newest first without it. While somebody turns the pages, what changes can leave the last two."`
	Limit  *int       `json:"limit,omitempty" minimum:"1" doc:"Requests on a page: 50 without it, 200 at the most."`
	Cursor string     `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of a previous page, whose filter and sort it carries."`
}

type requestsListResult struct {
	Requests []feedback.Request `json:"requests"`
	PageResult
	TotalExact bool `json:"total_exact" doc:"False when the filter needs more counting than a quarter of a second allows: then total_count is how many were counted. With app_id, status and box alone it is always true."`
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
		at.After = &index.Place{ID: cur.After, Votes: cur.Number, UpdatedAt: feedback.Time(cur.Number)}
	}
	if at.Sort == index.MostVoted {
		at.Unchanged = &cur.Began
	}
	requests, total, err := a.Store.Index.List(ctx, c.Account.ID, cur.Filter.filter(), at)
	if err != nil {
		return requestsListResult{}, err
	}
	requests, result, err := page(a, cur, requests, total.N, func(cur *cursor, r feedback.Request) {
		switch cur.After = r.ID; cur.Filter.Sort {
		case index.MostVoted:
			cur.Number = r.Votes
		case index.RecentlyUpdated:
			cur.Number = int64(r.UpdatedAt)
		}
	})
	return requestsListResult{a.linked(c.Account.ID, requests...), result, total.Exact}, err
}

// requestsFilter is what a cursor of requests carries of the call.
type requestsFilter struct {
	Statuses      []feedback.Status `json:"s,omitempty"`
	AppID         *feedback.ID      `json:"p,omitempty"`
	Tag           string            `json:"t,omitempty"`
	AssigneeID    string            `json:"u,omitempty"`
	Source        string            `json:"w,omitempty"`
	Query         string            `json:"y,omitempty"`
	CreatedAfter  *feedback.Time    `json:"a,omitempty"`
	CreatedBefore *feedback.Time    `json:"b,omitempty"`
	Box           feedback.Box      `json:"x,omitempty"`
	Sort          index.Sort        `json:"o,omitempty"`
}

const nobody = feedback.Nobody

func (f requestsFilter) filter() index.Filter {
	filter := index.Filter{
		AppID: f.AppID, Statuses: f.Statuses, Box: f.Box, Tag: f.Tag, Source: f.Source, Query: f.Query,
		CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore, Unassigned: f.AssigneeID == nobody,
	}
	if id, err := feedback.ParseID(f.AssigneeID); err == nil {
		filter.AssigneeID = &id
	}
	return filter
}

// requestsCursor is where the page begins that a call asks for. What is absent
// beside a cursor is taken from it; what contradicts it is refused.
func (a *API) requestsCursor(c caller, in requestsListParams) (cursor, error) {
	wanted, err := in.wanted("")
	if err != nil {
		return cursor{}, err
	}
	wanted.Sort = in.Sort
	cur, fresh, err := a.resume(c, "requests", "requests-list", in.Cursor)
	if err != nil {
		return cur, err
	}
	if fresh {
		wanted.Box, wanted.Sort = cmp.Or(wanted.Box, feedback.Live), cmp.Or(wanted.Sort, index.Newest)
		cur.Filter, cur.Began = wanted, feedback.At(a.Now())
	} else if wanted.contradicts(cur.Filter) {
		return cur, invalidCursor("requests")
	}
	cur.limit(in.Limit, defaultLimit)
	return cur, nil
}

// contradicts reports whether anything that f says is not what the other says.
func (f requestsFilter) contradicts(other requestsFilter) bool {
	mine, theirs := reflect.ValueOf(f), reflect.ValueOf(other)
	for i := range mine.NumField() {
		if !mine.Field(i).IsZero() && !reflect.DeepEqual(mine.Field(i).Interface(), theirs.Field(i).Interface()) {
			return true
		}
	}
	return false
}
