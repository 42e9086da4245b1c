package feedback

import "strings"

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
	Label string `json:"label" doc:"Its name in the widget, the dashboard, mails, CSV exports and summaries; empty for the usual one."`
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
	Label *string `json:"label,omitempty" maxLength:"40" doc:"Its name in the widget, the dashboard, mails, CSV exports and summaries; empty for the usual one."`
}

// Label returns an app's own name of a status, or "".
func (s StatusSettings) Label(status Status) string {
	switch status {
	case Opened:
		return s.Opened.Label
	case "under_review":
		return s.UnderReview.Label
	case "planned":
		return s.Planned.Label
	case "in_progress":
		return s.InProgress.Label
	case "completed":
		return s.Completed.Label
	case "declined":
		return s.Declined.Label
	}
	return ""
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
		}
	}
}
