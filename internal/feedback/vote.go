package feedback

import "slices"

// MaxWhy is how many characters of what a person wrote with a vote are kept.
const MaxWhy = 500

// Vote is the vote of one person for a request.
type Vote struct {
	RequestID ID `json:"request_id" format:"uuid" doc:"The request that received the vote: the given request or one that is merged into it."`
	Person
	Source    string `json:"source" enum:"widget,portal,dashboard,api,import" doc:"How the vote was given; for the submitter, how the request was submitted."`
	CreatedAt Time   `json:"created_at" format:"date-time"`

	Why *string `json:"why" doc:"What the person wrote with the vote, on one line."`
}

// SharedRequest is a request as callers with the app's API key see it if the app shares it.
type SharedRequest struct {
	ID     ID     `json:"id" format:"uuid"`
	Title  string `json:"title"`
	Status Status `json:"status" enum:"opened,under_review,planned,in_progress,completed,declined,duplicate"`
	Votes  int64  `json:"votes"`
}

// Shares reports whether callers with the app's API key may see the request.
func (s Settings) Shares(r Request) bool {
	return r.Box == Live && !r.Hidden && slices.Contains(s.Shared(), r.Status)
}
