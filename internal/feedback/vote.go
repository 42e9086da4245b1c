package feedback

// Vote is that one person wants a request.
type Vote struct {
	RequestID ID `json:"request_id" format:"uuid" doc:"Where it was given: the request that was asked for, or one that is merged into it."`
	Person
	Source    string `json:"source" enum:"widget,dashboard,api,import" doc:"How it came; of the submitter, how the request came."`
	CreatedAt Time   `json:"created_at" format:"date-time"`
}

// Shares reports whether holders of an app's API key may see a request of the app.
func (s Settings) Shares(r Request) bool {
	if r.Box != Live {
		return false
	}
	switch s.Sharing {
	case "all":
		return true
	case "triaged":
		return r.Status != Opened && r.Status != "declined" && r.Status != Duplicate
	}
	return false
}
