package api

import (
	"cmp"
	"context"
	"slices"

	"gatherkit/internal/feedback"
	"gatherkit/internal/lists"
)

type requestsFacetsParams struct {
	lists.RequestsWhere
}

func (a *API) requestsFacets(ctx context.Context, c caller, in requestsFacetsParams) (feedback.Facets, error) {
	wanted, err := in.Filter("requests", "")
	if err != nil {
		return feedback.Facets{}, err
	}
	wanted.Box = cmp.Or(wanted.Box, feedback.Live)
	facets, err := a.Store.Index.Facets(ctx, c.Account.ID, wanted.Index())
	if only := c.onlyApp(); only != nil { // the counts of apps ignore the filter for the app
		facets.Apps = slices.DeleteFunc(facets.Apps, func(f feedback.AppFacet) bool { return f.AppID != *only })
	}
	return facets, err
}
