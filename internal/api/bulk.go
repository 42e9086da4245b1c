package api

import (
	"bytes"
	"context"
	"slices"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
)

type requestsBulkUpdateParams struct {
	IDs           []feedback.ID  `json:"ids,omitempty" format:"uuid" minItems:"1" maxItems:"1000" doc:"The requests; or else filter."`
	Filter        *RequestsWhere `json:"filter,omitempty" doc:"The requests, as in requests-list: at most 10,000."`
	ExpectedCount *int64         `json:"expected_count,omitempty" minimum:"0" doc:"How many the filter matches, required with it: nothing changes when it matches another number."`
	Set           bulkSet        `json:"set" doc:"What is to become of them."`
}

// bulkSet is what becomes of all of them; what is absent stays.
type bulkSet struct {
	Status     *feedback.Status `json:"status,omitempty" enum:"opened,under_review,planned,in_progress,completed,declined"`
	AssigneeID string           `json:"assignee_id,omitempty" doc:"A user, or none for nobody."`
	AddTags    tagList          `json:"add_tags,omitempty"`
	RemoveTags tagList          `json:"remove_tags,omitempty" lines:"many"`
	Box        feedback.Box     `json:"box,omitempty" enum:"live,bin" doc:"bin moves them to the bin, live takes them out of it or out of quarantine."`
}

type requestsBulkUpdateResult struct {
	Updated int `json:"updated" doc:"How many are different now."`
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
	updated, err := a.Store.ChangeRequests(ctx, c.Account.ID, bulk, c.actor(), change)
	return requestsBulkUpdateResult{updated}, err
}

// bulk says which requests are meant.
func (in requestsBulkUpdateParams) bulk() (store.Bulk, error) {
	switch {
	case (in.IDs == nil) == (in.Filter == nil):
		return store.Bulk{}, feedback.Invalid("requests", "ids", "ids or filter is required, and not both.")
	case in.IDs != nil:
		ids := slices.Clone(in.IDs)
		slices.SortFunc(ids, func(a, b feedback.ID) int { return bytes.Compare(a[:], b[:]) })
		return store.Bulk{IDs: slices.Compact(ids)}, nil
	case in.ExpectedCount == nil:
		return store.Bulk{}, feedback.Invalid("requests", "expected_count", "expected_count is required with filter: how many requests it matches, as requests-list says.")
	}
	wanted, err := in.Filter.wanted("filter.")
	if err != nil {
		return store.Bulk{}, err
	}
	if wanted.Box == "" {
		wanted.Box = feedback.Live
	}
	return store.Bulk{Filter: wanted.filter(), Expected: *in.ExpectedCount}, nil
}

// change is what is done to each request. One in the bin can only be taken out of it.
func (s bulkSet) change() (func(*feedback.Request) error, error) {
	var assignee *feedback.ID
	if s.AssigneeID != "" && s.AssigneeID != nobody {
		id, err := feedback.ParseID(s.AssigneeID)
		if err != nil {
			return nil, feedback.Invalid("requests", "set", "set.assignee_id must be a UUID, or none for nobody.")
		}
		assignee = &id
	}
	return func(r *feedback.Request) error {
		if r.Box == feedback.Bin && s.Box != feedback.Live {
			return feedback.ErrRequestNotFound
		}
		change := feedback.RequestChange{Status: s.Status}
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

// tags are a request's tags after the change.
func (s bulkSet) tags(now []string) []string {
	removed := func(tag string) bool {
		return slices.ContainsFunc(s.RemoveTags, func(r string) bool { return feedback.FoldTag(r) == feedback.FoldTag(tag) })
	}
	return slices.Concat(slices.DeleteFunc(slices.Clone(now), removed), s.AddTags)
}
