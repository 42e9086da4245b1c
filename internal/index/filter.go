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

// counted reports whether the counters know how many requests match.
func (f Filter) counted() bool {
	return f.Query == "" && f.Tag == "" && f.AssigneeID == nil && !f.Unassigned && f.Source == "" &&
		f.CreatedAfter == nil && f.CreatedBefore == nil
}

// Sort is the order of a list.
type Sort string

// The orders. Requests with equally many votes, requests updated at the same time, and
// requests that match a query equally well are ordered as in Newest.
const (
	Newest          Sort = "newest"
	Oldest          Sort = "oldest"
	MostVoted       Sort = "most_voted"
	RecentlyUpdated Sort = "recently_updated"
	// Relevance is the order of how well requests match the query. It finds requests that
	// have some of the words, or similar words, too.
	Relevance Sort = "relevance"
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
	Score     int64 // in the order of Relevance, in thousandths
}

// Total is how many requests a filter matches. Exact is false while the index is so far
// behind that N leaves out some of the latest changes.
type Total struct {
	N     int64
	Exact bool
}
