package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"gatherkit/internal/feedback"
)

const (
	day          = 24 * time.Hour
	statsDays    = 30
	maxStatsDays = 366
)

// dayOrTime is a day in UTC such as 2026-12-31, or a time.
type dayOrTime string

// Schema implements huma.SchemaProvider.
func (dayOrTime) Schema(huma.Registry) *huma.Schema {
	schema := &huma.Schema{}
	for _, format := range []string{"date", "date-time"} {
		one := &huma.Schema{Type: huma.TypeString, Format: format}
		one.PrecomputeMessages()
		schema.OneOf = append(schema.OneOf, one)
	}
	return schema
}

// bounds returns the start and the end of the day. For a time, both are that time.
func (d dayOrTime) bounds() (begin, end time.Time, err error) {
	if begin, err = time.Parse(time.DateOnly, string(d)); err == nil {
		return begin, begin.Add(day), nil
	}
	var at feedback.Time
	err = at.UnmarshalText([]byte(d))
	return at.Std(), at.Std(), err
}

type requestsStatsParams struct {
	AppID *feedback.ID `json:"app_id,omitempty" format:"uuid" doc:"Only requests of this app."`
	From  dayOrTime    `json:"from,omitempty" doc:"First day, or start time; 30 days before the end by default."`
	To    dayOrTime    `json:"to,omitempty" doc:"Last day (included) or end time (not included); today by default."`
}

func (a *API) requestsStats(ctx context.Context, c caller, in requestsStatsParams) (feedback.Stats, error) {
	to := a.Now().UTC().Truncate(day).Add(day)
	if in.To != "" {
		var err error
		if _, to, err = in.To.bounds(); err != nil {
			return feedback.Stats{}, feedback.Invalid("requests", "to", "to must be a day such as 2026-12-31 or a time.")
		}
	}
	from := to.Add(-statsDays * day)
	if in.From != "" {
		var err error
		if from, _, err = in.From.bounds(); err != nil {
			return feedback.Stats{}, feedback.Invalid("requests", "from", "from must be a day such as 2026-12-31 or a time.")
		}
	}
	if !from.Before(to) || to.Sub(from) > maxStatsDays*day {
		return feedback.Stats{}, feedback.Invalid("requests", "from", "from must lie before to, and at most 366 days before it.")
	}
	return a.Store.Index.Stats(ctx, c.Account.ID, in.AppID, feedback.At(from), feedback.At(to))
}
