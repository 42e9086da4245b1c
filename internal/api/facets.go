package api

import (
	"cmp"
	"context"

	"gatherkit/internal/feedback"
)

type requestsFacetsParams struct {
	RequestsWhere
}

func (a *API) requestsFacets(ctx context.Context, c caller, in requestsFacetsParams) (feedback.Facets, error) {
	wanted, err := in.wanted("requests", "")
	if err != nil {
		return feedback.Facets{}, err
	}
	wanted.Box = cmp.Or(wanted.Box, feedback.Live)
	return a.Store.Index.Facets(ctx, c.Account.ID, wanted.filter())
}
