package api

import (
	"bytes"
	"context"
	"slices"

	"gatherkit/internal/feedback"
	"gatherkit/internal/lists"
	"gatherkit/internal/params"
	"gatherkit/internal/store"
)

type requestsBulkUpdateParams struct {
	IDs           []feedback.ID        `json:"ids,omitempty" format:"uuid" minItems:"1" maxItems:"1000" doc:"The requests. Or send filter."`
	Filter        *lists.RequestsWhere `json:"filter,omitempty" doc:"As in requests-list; matches at most 10,000 requests."`
	ExpectedCount *int64               `json:"expected_count,omitempty" minimum:"0" doc:"Required with filter, which must match exactly this many."`
	Set           bulkSet              `json:"set" doc:"The new values."`
	Quiet         bool                 `json:"quiet,omitempty" doc:"Do not tell the people who asked. See Your ideas."`
}

// bulkSet are the changes to make. Omitted fields keep their values.
type bulkSet struct {
	Status     *feedback.Status `json:"status,omitempty" enum:"opened,under_review,planned,in_progress,completed,declined"`
	Hidden     *bool            `json:"hidden,omitempty" doc:"true hides from everyone outside the account but the submitters; false stops hiding."`
	AssigneeID string           `json:"assignee_id,omitempty" doc:"A user, or none to remove the assignee."`
	AddTags    params.Tags      `json:"add_tags,omitempty"`
	RemoveTags params.Tags      `json:"remove_tags,omitempty" lines:"many"`
	Box        feedback.Box     `json:"box,omitempty" enum:"live,bin" doc:"bin deletes; live restores, or releases from quarantine."`
}

type requestsBulkUpdateResult struct {
	Updated int `json:"updated" doc:"Number of requests that changed. One that somebody else changes meanwhile, so that set no longer fits it, stays as it is."`
}

func (a *API) requestsBulkUpdate(ctx context.Context, c caller, in requestsBulkUpdateParams) (requestsBulkUpdateResult, error) {
	bulk, err := in.bulk()
	if err != nil {
		return requestsBulkUpdateResult{}, err
	}
	change, err := in.Set.change()
	if err != nil {
		return requestsBulkUpdateResult{}, err
	}
	updated, err := a.Store.ChangeRequests(ctx, c.Account.ID, bulk, c.acting(in.Quiet), change)
	return requestsBulkUpdateResult{updated}, err
}

// bulk returns the requests to change.
func (in requestsBulkUpdateParams) bulk() (store.Bulk, error) {
	switch {
	case (in.IDs == nil) == (in.Filter == nil):
		return store.Bulk{}, feedback.Invalid("requests", "ids", "Send either ids or filter, but not both.")
	case in.IDs != nil:
		ids := slices.Clone(in.IDs)
		slices.SortFunc(ids, func(a, b feedback.ID) int { return bytes.Compare(a[:], b[:]) })
		return store.Bulk{IDs: slices.Compact(ids)}, nil
	case in.ExpectedCount == nil:
		return store.Bulk{}, feedback.Invalid("requests", "expected_count",
			"expected_count is required with filter and must be the number of requests that it matches, the total_count of requests-list.")
	}
	wanted, err := in.Filter.Filter("requests", "filter.")
	if err != nil {
		return store.Bulk{}, err
	}
	if wanted.Box == "" {
		wanted.Box = feedback.Live
	}
	return store.Bulk{Filter: wanted.Index(), Expected: *in.ExpectedCount}, nil
}

// change returns the function that changes each request. Requests in the bin can only be
// restored.
func (s bulkSet) change() (func(*feedback.Request) error, error) {
	var assignee *feedback.ID
	if s.AssigneeID != "" && s.AssigneeID != feedback.Nobody {
		id, err := feedback.ParseID(s.AssigneeID)
		if err != nil {
			return nil, feedback.Invalid("requests", "set", "set.assignee_id must be a UUID, or none to remove the assignee.")
		}
		assignee = &id
	}
	return func(r *feedback.Request) error {
		if r.Box == feedback.Bin && s.Box != feedback.Live {
			return feedback.ErrRequestNotFound
		}
		change := feedback.RequestChange{Status: s.Status, Hidden: s.Hidden}
		if s.AssigneeID != "" {
			change.AssigneeID = &assignee
		}
		if s.AddTags != nil || s.RemoveTags != nil {
			change.Tags = new(s.tags(r.Tags))
		}
		r.Apply(change)
		if s.Box != "" {
			r.Box = s.Box
		}
		if len(r.Tags) > feedback.MaxTags {
			return feedback.Invalid("requests", "set", "set.add_tags would give a request more than 20 tags.")
		}
		return nil
	}, nil
}

// tags returns the tags of a request after the change.
func (s bulkSet) tags(now []string) []string {
	removed := func(tag string) bool {
		return slices.ContainsFunc(s.RemoveTags, func(r string) bool { return feedback.Fold(r) == feedback.Fold(tag) })
	}
	return slices.Concat(slices.DeleteFunc(slices.Clone(now), removed), s.AddTags)
}
