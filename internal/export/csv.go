package export

import (
	"context"
	"strconv"
	"strings"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store"
)

// Columns are the columns of a CSV.
var Columns = []string{
	"id", "app_id", "app", "title", "description", "status", "votes", "comments", "tags", "eta", "assignee_id", "assignee",
	"submitter_email", "submitter_name", "submitter_external_id", "submitter_verified",
	"merged_into_id", "source", "metadata", "created_at", "updated_at", "status_label",
}

// writeCSV writes requests as CSV.
func (e *exporter) writeCSV(ctx context.Context, requests []feedback.Request) error {
	names, err := read(ctx, e.Writer, func(ctx context.Context) (store.Names, error) {
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
			assignee = names.Users[*r.AssigneeID]
		}
		e.writeRow([]string{
			r.ID.String(), r.AppID.String(), names.Apps[r.AppID].Name, r.Title, r.Description, string(r.Status),
			strconv.FormatInt(r.Votes, 10), strconv.FormatInt(r.Comments, 10),
			strings.Join(r.Tags, ", "), orEmpty(r.ETA), idOrEmpty(r.AssigneeID), assignee,
			orEmpty(r.Submitter.Email), orEmpty(r.Submitter.Name), orEmpty(r.Submitter.ExternalID), strconv.FormatBool(r.Submitter.Verified),
			idOrEmpty(r.MergedIntoID), r.Source, string(metadata), timeText(r.CreatedAt), timeText(r.UpdatedAt),
			names.Apps[r.AppID].Settings.Statuses.Name(r.Status),
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
