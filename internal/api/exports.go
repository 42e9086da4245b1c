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
	maxExports  = 6   // concurrent downloads; half of them for one account, a third for one session
	exportPage  = 256 // requests per page that is read
	exportChunk = 64  // requests whose votes, comments and events are read together
	exportLimit = 512 // maximum number of votes, of comments or of events that are read together
	exportPath  = "/exports/"
)

type requestsExportParams struct {
	RequestsWhere
	Format string `json:"format" enum:"csv,jsonl" doc:"csv: a table for spreadsheets. jsonl: JSON Lines with votes, comments and history."`
	BOM    bool   `json:"bom,omitempty" doc:"Start a CSV with a byte order mark, which some spreadsheets need to detect UTF-8."`
}

type requestsExportResult struct {
	URL       string        `json:"url" doc:"GET it once, without credentials. Relative without a public URL."`
	ExpiresAt feedback.Time `json:"expires_at" format:"date-time" doc:"When the link expires, unless the session ends first."`
}

func (a *API) requestsExport(ctx context.Context, c caller, in requestsExportParams) (requestsExportResult, error) {
	filter, err := in.wanted("requests", "")
	if err != nil {
		return requestsExportResult{}, err
	}
	if in.BOM && in.Format != feedback.CSV {
		return requestsExportResult{}, feedback.Invalid("requests", "bom", "bom must be false or omitted unless format is csv.")
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
	to   *bufio.Writer
	send func() error // sends what to has written
}

// write writes all requests of the export, one page after the other, newest first. Requests
// that are created meanwhile are not included, so it always ends.
func (e *exporter) write(ctx context.Context) error {
	if e.BOM {
		e.writeText("\ufeff")
	}
	if e.Format == feedback.CSV {
		e.writeRow(exportColumns)
	}
	var after *feedback.ID
	for n := exportPage; n == exportPage; {
		requests, err := withTimeout(ctx, func(ctx context.Context) ([]feedback.Request, error) {
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
			err = e.writeCSV(ctx, requests)
		} else {
			err = e.writeJSONL(ctx, requests)
		}
		if err != nil {
			return err
		}
	}
	return e.flush()
}

// withTimeout calls read with the timeout of a call. A download as a whole has none.
func withTimeout[T any](ctx context.Context, read func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return read(ctx)
}

func (e *exporter) flush() error {
	if err := e.to.Flush(); err != nil {
		return err
	}
	return e.send()
}

// writeText writes s. The next flush returns its error.
func (e *exporter) writeText(s string) { _, _ = e.to.WriteString(s) }

var exportColumns = []string{
	"id", "app_id", "app", "title", "description", "status", "votes", "comments", "tags", "eta", "assignee_id", "assignee",
	"submitter_email", "submitter_name", "submitter_external_id", "submitter_verified",
	"merged_into_id", "source", "metadata", "created_at", "updated_at",
}

// writeCSV writes requests as CSV.
func (e *exporter) writeCSV(ctx context.Context, requests []feedback.Request) error {
	names, err := withTimeout(ctx, func(ctx context.Context) (map[feedback.ID]string, error) {
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
		e.writeRow([]string{
			r.ID.String(), r.AppID.String(), names[r.AppID], r.Title, r.Description, string(r.Status),
			strconv.FormatInt(r.Votes, 10), strconv.FormatInt(r.Comments, 10),
			strings.Join(r.Tags, ", "), orEmpty(r.ETA), idOrEmpty(r.AssigneeID), assignee,
			orEmpty(r.Submitter.Email), orEmpty(r.Submitter.Name), orEmpty(r.Submitter.ExternalID), strconv.FormatBool(r.Submitter.Verified),
			idOrEmpty(r.MergedIntoID), r.Source, string(metadata), timeText(r.CreatedAt), timeText(r.UpdatedAt),
		})
	}
	return e.flush()
}

// writeRow writes a line of CSV (RFC 4180). Every cell is in quotes, so that programs that
// separate cells by semicolons or tabs do not split them.
func (e *exporter) writeRow(cells []string) {
	for i, cell := range cells {
		if i > 0 {
			e.writeText(",")
		}
		e.writeText(`"` + strings.ReplaceAll(feedback.SafeCell(cell), `"`, `""`) + `"`)
	}
	e.writeText("\r\n")
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
	text, _ := t.MarshalText() // cannot fail
	return string(text)
}
