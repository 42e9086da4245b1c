package api

import (
	"bufio"
	"cmp"
	"context"
	"strconv"
	"strings"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
)

const (
	maxExports  = 6   // that are read at once: half of them for an account, a third for a session
	exportPage  = 256 // requests that are read at once
	exportChunk = 64  // requests that are read at once with what belongs to them
	exportLimit = 512 // of the votes, comments or events of a chunk
	exportPath  = "/exports/"
)

type requestsExportParams struct {
	RequestsWhere
	Format string `json:"format" enum:"csv,jsonl" doc:"csv is a table for spreadsheets; jsonl is JSON Lines, with all that belongs to the requests."`
	BOM    bool   `json:"bom,omitempty" doc:"Begin a CSV with a byte order mark, by which some spreadsheets know UTF-8."`
}

type requestsExportResult struct {
	URL       string        `json:"url" doc:"Where a GET without credentials downloads the export, once. Relative to the service's origin unless the operator has set its public URL."`
	ExpiresAt feedback.Time `json:"expires_at" format:"date-time" doc:"Until when the link can be opened; it dies with the session, too."`
}

func (a *API) requestsExport(ctx context.Context, c caller, in requestsExportParams) (requestsExportResult, error) {
	filter, err := in.wanted("")
	if err != nil {
		return requestsExportResult{}, err
	}
	if in.BOM && in.Format != feedback.CSV {
		return requestsExportResult{}, feedback.Invalid("requests", "bom", "bom is for csv only: JSON must not begin with one.")
	}
	filter.Box = cmp.Or(filter.Box, feedback.Live)
	token, expires, err := a.Store.AddExport(ctx, store.Export{
		AccountID: c.Account.ID, SessionID: c.ID, Filter: filter.filter(), Format: in.Format, BOM: in.BOM,
	})
	if err != nil {
		return requestsExportResult{}, err
	}
	return requestsExportResult{a.link(exportPath + token), expires}, nil
}

// exporter writes an export.
type exporter struct {
	*API
	store.Export
	to *bufio.Writer
	// sent is called after each part.
	sent func() error
}

// write reads requests a page at a time, newest first, and writes them. What comes
// meanwhile is before the place where it reads, and not in it; so it also ends.
func (e *exporter) write(ctx context.Context) error {
	if e.BOM {
		e.text("\ufeff")
	}
	if e.Format == feedback.CSV {
		e.row(exportColumns)
	}
	var after *feedback.ID
	for n := exportPage; n == exportPage; {
		requests, err := inTime(ctx, func(ctx context.Context) ([]feedback.Request, error) {
			return e.Store.ExportPage(ctx, e.AccountID, e.Filter, after, exportPage)
		})
		if err != nil {
			return err
		}
		if n = len(requests); n == 0 {
			break
		}
		after = &requests[n-1].ID
		if e.Format == feedback.CSV {
			err = e.rows(ctx, requests)
		} else {
			err = e.lines(ctx, requests)
		}
		if err != nil {
			return err
		}
	}
	return e.flush()
}

// inTime reads from the store in the time of a call: the whole export may take longer.
func inTime[T any](ctx context.Context, read func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return read(ctx)
}

func (e *exporter) flush() error {
	if err := e.to.Flush(); err != nil {
		return err
	}
	return e.sent()
}

// text writes text. Its failure shows at the next flush.
func (e *exporter) text(s string) { _, _ = e.to.WriteString(s) }

var exportColumns = []string{
	"id", "app_id", "app", "title", "description", "status", "votes", "comments", "tags", "eta", "assignee_id", "assignee",
	"submitter_email", "submitter_name", "submitter_external_id", "submitter_verified", "merged_into_id", "source", "metadata", "created_at", "updated_at",
}

// rows writes requests as CSV.
func (e *exporter) rows(ctx context.Context, requests []feedback.Request) error {
	names, err := inTime(ctx, func(ctx context.Context) (map[feedback.ID]string, error) {
		return e.Store.ExportNames(ctx, e.AccountID, requests)
	})
	if err != nil {
		return err
	}
	for _, r := range requests {
		metadata, err := r.Metadata.MarshalJSON()
		if err != nil {
			return err
		}
		assignee := ""
		if r.AssigneeID != nil {
			assignee = names[*r.AssigneeID]
		}
		e.row([]string{
			r.ID.String(), r.AppID.String(), names[r.AppID], r.Title, r.Description, string(r.Status), strconv.FormatInt(r.Votes, 10), strconv.FormatInt(r.Comments, 10),
			strings.Join(r.Tags, ", "), orEmpty(r.ETA), idOrEmpty(r.AssigneeID), assignee,
			orEmpty(r.Submitter.Email), orEmpty(r.Submitter.Name), orEmpty(r.Submitter.ExternalID), strconv.FormatBool(r.Submitter.Verified),
			idOrEmpty(r.MergedIntoID), r.Source, string(metadata), timeText(r.CreatedAt), timeText(r.UpdatedAt),
		})
	}
	return e.flush()
}

// row writes a line of CSV (RFC 4180). Every cell is in quotes, so that none is taken
// apart where a semicolon or a tab divides them.
func (e *exporter) row(cells []string) {
	for i, cell := range cells {
		if i > 0 {
			e.text(",")
		}
		e.text(`"` + strings.ReplaceAll(feedback.SafeCell(cell), `"`, `""`) + `"`)
	}
	e.text("\r\n")
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func idOrEmpty(id *feedback.ID) string {
	if id == nil {
		return ""
	}
	return id.String()
}

func timeText(t feedback.Time) string {
	text, _ := t.MarshalText() // which cannot fail
	return string(text)
}
