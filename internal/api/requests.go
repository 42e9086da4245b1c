package api

import (
	"context"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
)

const (
	defaultLimit = 50
	maxLimit     = 200
	newest       = "newest"
	oldest       = "oldest"
)

type requestResult struct {
	Request feedback.Request `json:"request"`
}

type requestParams struct {
	ID feedback.ID `json:"id" format:"uuid" doc:"The request."`
}

// statusFilter is one status or several.
type statusFilter []feedback.Status

// Schema implements huma.SchemaProvider.
func (statusFilter) Schema(huma.Registry) *huma.Schema {
	one := &huma.Schema{Type: huma.TypeString}
	for _, status := range feedback.Statuses() {
		one.Enum = append(one.Enum, string(status))
	}
	one.PrecomputeMessages()
	least := 1
	several := &huma.Schema{Type: huma.TypeArray, Items: one, MinItems: &least}
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

type requestsListParams struct {
	Status statusFilter `json:"status,omitempty" doc:"Only requests in this status, or in one of these."`
	AppID  *feedback.ID `json:"app_id,omitempty" format:"uuid" doc:"Only requests of this app."`
	Sort   string       `json:"sort,omitempty" enum:"newest,oldest" doc:"The order; newest first without it."`
	Limit  *int         `json:"limit,omitempty" minimum:"1" doc:"Requests on a page: 50 without it, 200 at the most."`
	Cursor string       `json:"cursor,omitempty" verbatim:"true" doc:"next_cursor of a previous page, whose filter and sort it carries."`
}

type requestsListResult struct {
	Requests []feedback.Request `json:"requests"`
	pageResult
}

func (a *API) requestsList(ctx context.Context, c caller, in requestsListParams) (requestsListResult, error) {
	cur, err := a.requestsCursor(c, in)
	if err != nil {
		return requestsListResult{}, err
	}
	// How long the page is shows only when it has been read, so room for the longest is
	// taken first: memory stays bounded, and long pages do not keep others from the store.
	room := int64(cur.Limit) * rowBytes
	if err := a.pages.Acquire(ctx, room); err != nil {
		return requestsListResult{}, err
	}
	c.held = room
	filter := store.Filter{AppID: cur.AppID, Statuses: cur.Statuses, Box: feedback.Live}
	at := store.Page{Oldest: cur.Sort == oldest, Limit: cur.Limit + 1}
	if cur.After != (feedback.ID{}) {
		at.After = &cur.After
	}
	requests, total, err := a.Store.Requests(ctx, c.Account.ID, filter, at)
	if err != nil {
		return requestsListResult{}, err
	}
	requests, result, err := page(a, cur, requests, total, func(r feedback.Request) feedback.ID { return r.ID })
	return requestsListResult{requests, result}, err
}

// requestsCursor is where the page begins that a call asks for. What is absent
// beside a cursor is taken from it; what contradicts it is refused.
func (a *API) requestsCursor(c caller, in requestsListParams) (cursor, error) {
	cur, fresh, err := a.resume(c, "requests", "requests-list", in.Cursor)
	if err != nil {
		return cur, err
	}
	if fresh {
		cur.AppID, cur.Statuses, cur.Sort = in.AppID, in.Status, in.Sort
		if cur.Sort == "" {
			cur.Sort = newest
		}
	} else if in.AppID != nil && (cur.AppID == nil || *in.AppID != *cur.AppID) ||
		in.Status != nil && !slices.Equal(in.Status, cur.Statuses) ||
		in.Sort != "" && in.Sort != cur.Sort {
		return cur, invalidCursor("requests")
	}
	cur.limit(in.Limit, defaultLimit)
	return cur, nil
}

func (a *API) requestsGet(ctx context.Context, c caller, in requestParams) (requestResult, error) {
	r, err := a.Store.Request(ctx, c.Account.ID, in.ID)
	return requestResult{r}, err
}

type requestsUpdateParams struct {
	ID              feedback.ID      `json:"id" format:"uuid" doc:"The request."`
	Title           *string          `json:"title,omitempty" minLength:"1" maxLength:"200"`
	Description     *string          `json:"description,omitempty" maxLength:"10000"`
	Status          *feedback.Status `json:"status,omitempty" enum:"opened,under_review,planned,in_progress,completed,declined" doc:"Any status may follow any other; duplicate comes by merging only."`
	ExpectedVersion *int64           `json:"expected_version,omitempty" minimum:"1" doc:"Refuse the change when the request has another version by now."`
}

func (a *API) requestsUpdate(ctx context.Context, c caller, in requestsUpdateParams) (requestResult, error) {
	change := feedback.RequestChange{Title: in.Title, Description: in.Description, Status: in.Status}
	r, err := a.Store.ChangeRequest(ctx, c.Account.ID, in.ID, c.actor(), func(r *feedback.Request) error {
		switch {
		case r.Box == feedback.Bin:
			return feedback.ErrRequestNotFound
		case in.ExpectedVersion != nil && *in.ExpectedVersion != r.Version:
			return feedback.ErrVersionConflict
		}
		r.Apply(change)
		return nil
	})
	return requestResult{r}, err
}

func (a *API) requestsDelete(ctx context.Context, c caller, in requestParams) (deletedResult, error) {
	_, err := a.Store.ChangeRequest(ctx, c.Account.ID, in.ID, c.actor(), func(r *feedback.Request) error {
		if r.Box == feedback.Bin {
			return feedback.ErrRequestNotFound
		}
		r.Box = feedback.Bin
		return nil
	})
	return deletedResult{err == nil, in.ID}, err
}

// requestsRestore returns a request that is not in the bin as it is, so that a
// restore can be sent again.
func (a *API) requestsRestore(ctx context.Context, c caller, in requestParams) (requestResult, error) {
	r, err := a.Store.ChangeRequest(ctx, c.Account.ID, in.ID, c.actor(), func(r *feedback.Request) error {
		if r.Box == feedback.Bin {
			r.Box = feedback.Live
		}
		return nil
	})
	return requestResult{r}, err
}
