package feedback

// Facets say how many requests a list would have if another value were chosen for one
// part of its filter. Values without any are left out, but for statuses, boxes and what
// is chosen.
type Facets struct {
	Apps      []AppFacet      `json:"apps" doc:"The most requests first."`
	Statuses  []StatusFacet   `json:"statuses" doc:"In the order of a request's life, every status."`
	Boxes     []BoxFacet      `json:"boxes" doc:"Every box; with query, which finds live requests only, the others have none."`
	Assignees []AssigneeFacet `json:"assignees" doc:"The most requests first, at most 200."`
	Sources   []SourceFacet   `json:"sources" doc:"The most requests first."`
	Tags      []TagFacet      `json:"tags" doc:"The 30 that the most of them have, the most requests first."`
}

// Tally is how many there are, as far as there was time to count.
type Tally struct {
	Count int64 `json:"count"`
	Exact bool  `json:"exact" doc:"False when counting takes longer than a quarter of a second: then count is how many were counted."`
}

// AppFacet is how many requests the list would have of an app.
type AppFacet struct {
	AppID ID `json:"app_id" format:"uuid"`
	Tally
}

// StatusFacet is how many it would have in a status.
type StatusFacet struct {
	Status Status `json:"status" enum:"opened,under_review,planned,in_progress,completed,declined,duplicate"`
	Tally
}

// BoxFacet is how many it would have in a box.
type BoxFacet struct {
	Box Box `json:"box" enum:"live,quarantine,bin"`
	Tally
}

// AssigneeFacet is how many it would have of a user, or of nobody.
type AssigneeFacet struct {
	AssigneeID string `json:"assignee_id" doc:"A user's id, or none for requests of nobody."`
	Tally
}

// SourceFacet is how many it would have that came one way.
type SourceFacet struct {
	Source string `json:"source" enum:"widget,dashboard,api,import"`
	Tally
}

// TagFacet is how many it would have with a tag.
type TagFacet struct {
	Tag string `json:"tag"`
	Tally
}

// Nobody stands in the place of a user's id for requests that are nobody's.
const Nobody = "none"
