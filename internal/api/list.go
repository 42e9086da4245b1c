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
	"gatherkit/internal/params"
)

// statusFilter is one or several statuses.
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

// UnmarshalJSON accepts a string or an array of strings.
func (s *statusFilter) UnmarshalJSON(text []byte) error {
	statuses, err := params.OneOrMore[feedback.Status](text)
	slices.Sort(statuses)
	*s = slices.Compact(statuses)
	return err
}

// RequestsWhere are the parameters of a filter.
type RequestsWhere struct {
	Status        statusFilter   `json:"status,omitempty" doc:"Only requests with this status, or with one of these statuses."`
	AppID         *feedback.ID   `json:"app_id,omitempty" format:"uuid" doc:"Only requests of this app."`
	Tag           string         `json:"tag,omitempty" lines:"many" minLength:"1" maxLength:"40" doc:"Only requests with this tag."`
	AssigneeID    string         `json:"assignee_id,omitempty" doc:"Only requests that are assigned to this user; none: unassigned."`
	Query         string         `json:"query,omitempty" lines:"many" maxLength:"200" doc:"Only live requests with all of these words. See Words."`
	Source        string         `json:"source,omitempty" enum:"widget,dashboard,api,import" doc:"Only requests from this source."`
	Person        *wantedPerson  `json:"person,omitempty" doc:"Only requests that this person submitted or voted for. Send what a submitter or a vote says of them."`
	CreatedAfter  *feedback.Time `json:"created_after,omitempty" format:"date-time" doc:"Only requests created at this time or later."`
	CreatedBefore *feedback.Time `json:"created_before,omitempty" format:"date-time" doc:"Only requests created before this time."`
	Box           feedback.Box   `json:"box,omitempty" enum:"live,bin,quarantine" doc:"Only requests in this box; live by default."`
}

// wantedPerson is a person as a submitter or a vote has them.
type wantedPerson struct {
	Email      string `json:"email,omitempty" maxLength:"254"`
	Name       string `json:"name,omitempty" maxLength:"200"`
	ExternalID string `json:"external_id,omitempty" maxLength:"200"`
	Verified   bool   `json:"verified,omitzero"`
}

// key returns the key of the person, or "" if p does not identify anybody.
func (p *wantedPerson) key() string {
	if p.Verified && p.ExternalID == "" {
		return ""
	}
	return feedback.Person{Email: orNil(p.Email), Name: orNil(p.Name), ExternalID: orNil(p.ExternalID), Verified: p.Verified}.Key()
}

// wanted returns the filter. area is that of the operation, and prefix precedes the names of parameters
// in messages.
func (w RequestsWhere) wanted(area, prefix string) (requestsFilter, error) {
	fault := func(name, text string) error {
		parameter, _, _ := strings.Cut(prefix+name, ".")
		return feedback.Invalid(area, parameter, prefix+name+text)
	}
	if _, err := feedback.ParseID(w.AssigneeID); err != nil && w.AssigneeID != nobody && w.AssigneeID != "" {
		return requestsFilter{}, fault("assignee_id", " must be a UUID, or none for unassigned requests.")
	}
	person := ""
	if w.Person != nil {
		if person = w.Person.key(); person == "" {
			return requestsFilter{}, fault("person", " must have an email, a name or an external_id; a verified person, an external_id.")
		}
	}
	if w.Query != "" && w.Box != "" && w.Box != feedback.Live {
		return requestsFilter{}, fault("query", " finds only live requests; omit box.")
	}
	return requestsFilter{
		Query: w.Query, Statuses: w.Status, AppID: w.AppID, Tag: feedback.FoldTag(w.Tag), AssigneeID: w.AssigneeID, Source: w.Source,
		Person: person, CreatedAfter: w.CreatedAfter, CreatedBefore: w.CreatedBefore, Box: w.Box,
	}, nil
}

type requestsListParams struct {
	RequestsWhere
	Sort   index.Sort `json:"sort,omitempty" enum:"newest,oldest,most_voted,recently_updated,relevance" doc:"The order; newest by default. See Words. In most_voted and recently_updated, a request that changes between two pages can be missing."`
	Limit  *int       `json:"limit,omitempty" minimum:"1" doc:"Page size: 50 by default, at most 200."`
	Cursor string     `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of the previous page; includes its filter and sort."`
}

type requestsListResult struct {
	Requests []feedback.Request `json:"requests"`
	PageResult
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
		at.After = &index.Place{ID: cur.After, Votes: cur.Number, UpdatedAt: feedback.Time(cur.Number), Score: cur.Number}
	}
	if at.Sort == index.MostVoted {
		at.Unchanged = &cur.Began
	}
	filter := cur.Filter.filter()
	listed, total, err := a.listed(ctx, c.Account.ID, filter, at)
	if err != nil {
		return requestsListResult{}, err
	}
	listed, result, err := page(a, cur, listed, total.N, func(cur *cursor, r index.Ranked) {
		switch cur.After = r.ID; cur.Filter.Sort {
		case index.MostVoted:
			cur.Number = r.Votes
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

// requestsFilter is the filter and sort order as cursors contain it.
type requestsFilter struct {
	Statuses      []feedback.Status `json:"s,omitempty"`
	AppID         *feedback.ID      `json:"p,omitempty"`
	Tag           string            `json:"t,omitempty"`
	AssigneeID    string            `json:"u,omitempty"`
	Source        string            `json:"w,omitempty"`
	Query         string            `json:"y,omitempty"`
	Person        string            `json:"k,omitempty"`
	CreatedAfter  *feedback.Time    `json:"a,omitempty"`
	CreatedBefore *feedback.Time    `json:"b,omitempty"`
	Box           feedback.Box      `json:"x,omitempty"`
	Sort          index.Sort        `json:"o,omitempty"`
}

const nobody = feedback.Nobody

func (f requestsFilter) filter() index.Filter {
	filter := index.Filter{
		AppID: f.AppID, Statuses: f.Statuses, Box: f.Box, Tag: f.Tag, Source: f.Source, Query: f.Query, Person: f.Person,
		CreatedAfter: f.CreatedAfter, CreatedBefore: f.CreatedBefore, Unassigned: f.AssigneeID == nobody,
	}
	if id, err := feedback.ParseID(f.AssigneeID); err == nil {
		filter.AssigneeID = &id
	}
	return filter
}

// requestsCursor returns the position where the page starts. Parameters that are omitted are
// taken from the cursor, and those that contradict it are refused.
func (a *API) requestsCursor(c caller, in requestsListParams) (cursor, error) {
	wanted, err := in.wanted("requests", "")
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
	if cur.Filter.Sort == index.Relevance && cur.Filter.Query == "" {
		return cur, feedback.Invalid("requests", "sort", "sort can be relevance only with query.")
	}
	cur.limit(in.Limit, defaultLimit)
	return cur, nil
}

// contradicts reports whether a field that is set in f differs from that of other.
func (f requestsFilter) contradicts(other requestsFilter) bool {
	mine, theirs := reflect.ValueOf(f), reflect.ValueOf(other)
	for i := range mine.NumField() {
		if !mine.Field(i).IsZero() && !reflect.DeepEqual(mine.Field(i).Interface(), theirs.Field(i).Interface()) {
			return true
		}
	}
	return false
}
