package api

import (
	"gatherkit/internal/search"
	"gatherkit/internal/spam"
)

// minSeconds is the time that people take at least to fill in a form.
const minSeconds = 2

// formParams describe how the form was filled in.
type formParams struct {
	Website string   `json:"website,omitempty" lines:"many" doc:"Content of a hidden field, which only programs fill in."`
	Seconds *float64 `json:"seconds,omitempty" minimum:"0" doc:"How long the form was open."`
}

// looksLikeSpam reports whether a submission that a form or a page sent looks like spam. It
// returns false for submissions of backends. Submissions with a filled hidden field and
// those that were too fast count towards a burst as well.
func (a *API) looksLikeSpam(v visitor, in widgetSubmitRequestParams) bool {
	if in.Form == nil && v.Origin == "" {
		return false
	}
	suspicious := in.Form != nil && (in.Form.Website != "" || in.Form.Seconds != nil && *in.Form.Seconds < minSeconds)
	text := spam.Text{At: a.Now(), Key: in.IdempotencyKey, Sketch: search.NewSketch(in.Title + "\n" + in.Description)}
	return a.bursts.Add(spam.Sender{From: v.From, App: v.app.ID}, text) || suspicious
}
