package feedback

import (
	"slices"
	"strings"
)

// StatusSettings are an app's settings of its statuses. Only merging sets the status duplicate, which has none.
type StatusSettings struct {
	Opened      StatusSetting `json:"opened"`
	UnderReview StatusSetting `json:"under_review"`
	Planned     StatusSetting `json:"planned"`
	InProgress  StatusSetting `json:"in_progress"`
	Completed   StatusSetting `json:"completed"`
	Declined    StatusSetting `json:"declined"`
}

// StatusSetting are the settings of one status.
type StatusSetting struct {
	Label   string `json:"label" doc:"Its name in the widget, the portal, the dashboard, mails, CSV exports and summaries; empty for the usual one."`
	Roadmap bool   `json:"roadmap" doc:"Whether the status is a column of the portal's roadmap, if the app shares it."`
}

// StatusesChange is a partial change of the settings of statuses. Nil fields keep their values.
type StatusesChange struct {
	Opened      *StatusChange `json:"opened,omitempty"`
	UnderReview *StatusChange `json:"under_review,omitempty"`
	Planned     *StatusChange `json:"planned,omitempty"`
	InProgress  *StatusChange `json:"in_progress,omitempty"`
	Completed   *StatusChange `json:"completed,omitempty"`
	Declined    *StatusChange `json:"declined,omitempty"`
}

// StatusChange is a partial change of the settings of one status. Nil fields keep their values.
type StatusChange struct {
	Label   *string `json:"label,omitempty" maxLength:"40" doc:"Its name in the widget, the portal, the dashboard, mails, CSV exports and summaries; empty for the usual one."`
	Roadmap *bool   `json:"roadmap,omitempty" doc:"Whether the status is a column of the portal's roadmap."`
}

// defaultStatuses returns the settings of the statuses of a new app.
func defaultStatuses() StatusSettings {
	shown := StatusSetting{Roadmap: true}
	return StatusSettings{Planned: shown, InProgress: shown, Completed: shown}
}

// of returns the setting of a status, or nil for duplicate.
func (s *StatusSettings) of(status Status) *StatusSetting {
	switch status {
	case Opened:
		return &s.Opened
	case "under_review":
		return &s.UnderReview
	case "planned":
		return &s.Planned
	case "in_progress":
		return &s.InProgress
	case "completed":
		return &s.Completed
	case "declined":
		return &s.Declined
	}
	return nil
}

// Label returns an app's own name of a status, or "".
func (s StatusSettings) Label(status Status) string {
	if of := s.of(status); of != nil {
		return of.Label
	}
	return ""
}

// Roadmap returns the statuses that are columns of the roadmap, if the app shares them.
func (s Settings) Roadmap() []Status {
	return slices.DeleteFunc(s.Shared(), func(status Status) bool {
		of := s.Statuses.of(status)
		return of == nil || !of.Roadmap
	})
}

// Name returns an app's own name of a status, or the usual one in English.
func (s StatusSettings) Name(status Status) string {
	if label := s.Label(status); label != "" {
		return label
	}
	if status == Opened {
		return "Open"
	}
	text := strings.ReplaceAll(string(status), "_", " ")
	return strings.ToUpper(text[:1]) + text[1:]
}

func (s *StatusSettings) merge(c StatusesChange) {
	for _, one := range []struct {
		setting *StatusSetting
		change  *StatusChange
	}{
		{&s.Opened, c.Opened},
		{&s.UnderReview, c.UnderReview},
		{&s.Planned, c.Planned},
		{&s.InProgress, c.InProgress},
		{&s.Completed, c.Completed},
		{&s.Declined, c.Declined},
	} {
		if one.change != nil {
			set(&one.setting.Label, one.change.Label)
			set(&one.setting.Roadmap, one.change.Roadmap)
		}
	}
}
