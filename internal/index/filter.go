package index

import "gatherkit/internal/feedback"

// Filter says which requests of an account a list contains. Export links store it as JSON
// and omit the fields that are not set, so that an older replica can read it unless a field
// is set that the replica does not know.
type Filter struct {
	AppID    *feedback.ID      `json:",omitempty"`
	Statuses []feedback.Status `json:",omitempty"` // empty means any
	Box      feedback.Box      `json:",omitempty"`

	Tag           string         `json:",omitempty"` // folded; "" means any
	AssigneeID    *feedback.ID   `json:",omitempty"`
	Unassigned    bool           `json:",omitempty"`
	Source        string         `json:",omitempty"` // "" means any
	CreatedAfter  *feedback.Time `json:",omitempty"` // from this time on
	CreatedBefore *feedback.Time `json:",omitempty"` // up to this time

	Query string `json:",omitempty"` // words of live requests; "" means any
}

// fromWidget is the source of most requests. The indexes by source leave it out.
const fromWidget = "widget"

// counted reports whether the counters know how many requests match.
func (f Filter) counted() bool {
	return f.Query == "" && !f.beside()
}

// beside reports whether the filter has conditions other than app, status, box and query.
func (f Filter) beside() bool {
	return f.narrow() || f.Unassigned || f.Source != "" || f.CreatedAfter != nil || f.CreatedBefore != nil
}

// narrow reports whether the filter has a condition that matches few requests and has an index.
func (f Filter) narrow() bool {
	return f.Tag != "" || f.AssigneeID != nil || f.Source != "" && f.Source != fromWidget
}

// Sort is the order of a list.
type Sort string

// The orders. Requests with equally many votes, and requests updated at the same time, are
// ordered as in Newest.
const (
	Newest          Sort = "newest"
	Oldest          Sort = "oldest"
	MostVoted       Sort = "most_voted"
	RecentlyUpdated Sort = "recently_updated"
)

// Page selects a part of a list: at most Limit rows after the row After, or from the
// beginning if After is nil.
type Page struct {
	Sort  Sort
	After *Place
	Limit int
	// Unchanged leaves out requests that were updated later. Otherwise a request that loses
	// a vote between two pages would appear on both.
	Unchanged *feedback.Time
}

// Place is the position of a row in a list, whatever its order.
type Place struct {
	ID        feedback.ID
	Votes     int64
	UpdatedAt feedback.Time
}

// Total is how many requests a filter matches. If the counters cannot tell, the rows are
// counted for a limited time; N is then the number counted so far, and Exact is false.
type Total struct {
	N     int64
	Exact bool
}
