package feedback

import "slices"

// Vote is that one person wants a request.
type Vote struct {
	RequestID ID `json:"request_id" format:"uuid" doc:"Where it was given: the request that was asked for, or one that is merged into it."`
	Person
	Source    string `json:"source" enum:"widget,dashboard,api,import" doc:"How it came; of the submitter, how the request came."`
	CreatedAt Time   `json:"created_at" format:"date-time"`
}

// Shares reports whether holders of an app's API key may see a request of the app.
func (s Settings) Shares(r Request) bool {
	return r.Box == Live && slices.Contains(s.Shared(), r.Status)
}
