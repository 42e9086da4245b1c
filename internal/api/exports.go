package api

import (
	"cmp"
	"context"

	"gatherkit/internal/calls"
	"gatherkit/internal/feedback"
	"gatherkit/internal/lists"
	"gatherkit/internal/store"
)

const (
	maxExports = 6 // concurrent downloads; half of them for one account, a third for one session
	exportPath = "/exports/"
)

type requestsExportParams struct {
	lists.RequestsWhere
	Format string `json:"format" enum:"csv,jsonl" doc:"csv: a table for spreadsheets. jsonl: JSON Lines with votes, comments and history."`
	BOM    bool   `json:"bom,omitempty" doc:"Start a CSV with a byte order mark, which some spreadsheets need to detect UTF-8."`
}

type requestsExportResult struct {
	URL       string        `json:"url" doc:"GET it once, without credentials. Relative without a public URL."`
	ExpiresAt feedback.Time `json:"expires_at" format:"date-time" doc:"When the link expires, unless the session or token ends first."`
}

func (a *API) requestsExport(ctx context.Context, c caller, in requestsExportParams) (requestsExportResult, error) {
	filter, err := in.Filter("requests", "")
	if err != nil {
		return requestsExportResult{}, err
	}
	if in.BOM && in.Format != feedback.CSV {
		return requestsExportResult{}, feedback.Invalid("requests", "bom", "bom must be false or omitted unless format is csv.")
	}
	filter.Box = cmp.Or(filter.Box, feedback.Live)
	token, expires, err := a.Store.AddExport(ctx, store.Export{
		AccountID: c.Account.ID, SessionID: c.ID, Filter: filter.Index(), Format: in.Format, BOM: in.BOM,
	})
	if err != nil {
		return requestsExportResult{}, err
	}
	return requestsExportResult{a.link(exportPath + token), expires}, nil
}

// withTimeout calls read with the timeout of a call. A download as a whole has none.
func withTimeout[T any](ctx context.Context, read func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, calls.Time)
	defer cancel()
	return read(ctx)
}
