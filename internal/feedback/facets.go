package feedback

// Facets count the requests that a list would contain if another value were chosen for
// one part of its filter. Values without requests are omitted, except for statuses, boxes
// and the chosen values.
type Facets struct {
	Apps      []AppFacet      `json:"apps" doc:"Sorted by number of requests, most first."`
	Statuses  []StatusFacet   `json:"statuses" doc:"Every status, in the order of a request's life cycle."`
	Boxes     []BoxFacet      `json:"boxes" doc:"Every box. With query, which finds only live requests, the counts of the other boxes are 0."`
	Assignees []AssigneeFacet `json:"assignees" doc:"Sorted by number of requests, most first; at most 200."`
	Sources   []SourceFacet   `json:"sources" doc:"Sorted by number of requests, most first."`
	Tags      []TagFacet      `json:"tags" doc:"The 30 most frequent tags, most frequent first."`
}

// Tally is a count, which is not exact while the index is far behind.
type Tally struct {
	Count int64 `json:"count"`
	Exact bool  `json:"exact" doc:"False while the index is more than 2,048 changes behind; count then leaves out some of the latest changes."`
}

// AppFacet counts the requests of one app.
type AppFacet struct {
	AppID ID `json:"app_id" format:"uuid"`
	Tally
}

// StatusFacet counts the requests with one status.
type StatusFacet struct {
	Status Status `json:"status" enum:"opened,under_review,planned,in_progress,completed,declined,duplicate"`
	Tally
}

// BoxFacet counts the requests in one box.
type BoxFacet struct {
	Box Box `json:"box" enum:"live,quarantine,bin"`
	Tally
}

// AssigneeFacet counts the requests assigned to one user, or the unassigned ones.
type AssigneeFacet struct {
	AssigneeID string `json:"assignee_id" doc:"The user's id, or none for unassigned requests."`
	Tally
}

// SourceFacet counts the requests from one source.
type SourceFacet struct {
	Source string `json:"source" enum:"widget,portal,dashboard,api,import"`
	Tally
}

// TagFacet counts the requests with one tag.
type TagFacet struct {
	Tag string `json:"tag"`
	Tally
}

// Nobody is used in place of a user's id for unassigned requests.
const Nobody = "none"
