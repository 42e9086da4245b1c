package params

import (
	"time"

	"github.com/danielgtaylor/huma/v2"

	"gatherkit/internal/feedback"
)

// Expected is when a request is expected to be done: a day, a month or a quarter, such as
// 2026-12-31, 2026-12 or 2026-Q4.
type Expected string

// Schema implements huma.SchemaProvider.
func (Expected) Schema(huma.Registry) *huma.Schema {
	schema := &huma.Schema{
		Type:     huma.TypeString,
		Pattern:  "^[0-9]{4}-(Q[1-4]|(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)$",
		Examples: []any{"2026-12-31", "2026-12", "2026-Q4"},
	}
	schema.PrecomputeMessages()
	return schema
}

// Check returns requests.invalid_eta for a day that its month does not have.
func (e *Expected) Check() error {
	if e == nil || len(*e) != len(time.DateOnly) {
		return nil
	}
	if _, err := time.Parse(time.DateOnly, string(*e)); err != nil {
		return feedback.Invalid("requests", "eta", "eta must be a day of the calendar, such as 2026-12-31.")
	}
	return nil
}

// OrNil returns nil for an empty text, which callers send for a field that they leave out.
func OrNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Files are ids of files to attach to a request.
type Files []feedback.ID

// Schema implements huma.SchemaProvider.
func (Files) Schema(huma.Registry) *huma.Schema {
	one, most := &huma.Schema{Type: huma.TypeString, Format: "uuid"}, feedback.MaxAttachments
	return &huma.Schema{Type: huma.TypeArray, Items: one, MaxItems: &most, UniqueItems: true}
}

// Tags are tags of a request.
type Tags []string

// Schema implements huma.SchemaProvider.
func (Tags) Schema(huma.Registry) *huma.Schema { return shortTexts(feedback.MaxTags) }

// Labels are labels of an entry of a changelog.
type Labels []string

// Schema implements huma.SchemaProvider.
func (Labels) Schema(huma.Registry) *huma.Schema { return shortTexts(feedback.MaxLabels) }

func shortTexts(most int) *huma.Schema {
	least, longest := 1, 40
	one := &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &longest}
	one.PrecomputeMessages()
	list := &huma.Schema{Type: huma.TypeArray, Items: one, MaxItems: &most}
	list.PrecomputeMessages()
	return list
}
