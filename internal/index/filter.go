package index

import (
	"slices"
	"strconv"

	"gatherkit/internal/feedback"
)

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
	Person        string         `json:",omitempty"` // the key of a submitter or voter; "" means any
	Hidden        *bool          `json:",omitempty"` // nil means any
	CreatedAfter  *feedback.Time `json:",omitempty"` // from this time on
	CreatedBefore *feedback.Time `json:",omitempty"` // up to this time

	Query string `json:",omitempty"` // words of live requests; "" means any
	// Public finds words only in titles and descriptions, and not in names and e-mail addresses of submitters.
	// A list in the order of votes can then leave out matches that come late in it, so that nobody outside has the
	// service read a whole app.
	Public bool `json:",omitempty"`
}

// facet is a part of a filter: an app, words, a person, or a field. The part of a field is what its
// terms in the index begin with.
type facet string

const (
	byApp      facet = ""
	byWords    facet = "words"
	byPerson   facet = "person"
	byTag      facet = "!tag "
	byAssignee facet = "!assignee "
	bySource   facet = "!source "
	byStatus   facet = "!status "
	byBox      facet = "!box "
	byHidden   facet = "!hidden "
	byAnswer   facet = "!answer "
)

// field is a column of requests by whose values lists are filtered, or requests are counted.
type field struct {
	part   facet
	column string
	// values returns the values of a request.
	values func(column []byte) ([]string, error)
	// chosen returns the values that a filter allows, or none if it allows all.
	chosen func(Filter) []string
	// counted is whether the counters know how many requests have each value.
	counted bool
}

// version is the version of fields and of the other terms. An index that was made with a lower one is
// brought up to date from the beginning of the log, and totals are not exact until then.
const version = 1

// fields begin with those whose values match the fewest requests, as far as their kind can tell.
// Raise version when you add one.
var fields = []field{
	{part: byTag, column: "tags", values: tagValues, chosen: func(f Filter) []string { return unlessEmpty(f.Tag) }},
	{part: byAssignee, column: "assignee_id", values: assigneeValues, chosen: func(f Filter) []string {
		if f.AssigneeID == nil && !f.Unassigned {
			return nil
		}
		return []string{assigneeValue(f.AssigneeID)}
	}},
	{part: bySource, column: "source", values: oneValue, chosen: func(f Filter) []string { return unlessEmpty(f.Source) }},
	{part: byStatus, column: "status", values: oneValue, counted: true, chosen: func(f Filter) (chosen []string) {
		for _, status := range f.Statuses {
			chosen = append(chosen, string(status))
		}
		return chosen
	}},
	{part: byHidden, column: "hidden", values: boolValue, chosen: func(f Filter) []string {
		if f.Hidden == nil {
			return nil
		}
		return []string{strconv.FormatBool(*f.Hidden)}
	}},
	{part: byBox, column: "box", values: oneValue, counted: true, chosen: func(f Filter) []string {
		if f.Query != "" && f.Box == feedback.Live { // words are of live requests only
			return nil
		}
		return []string{string(f.Box)}
	}},
	// Statistics count by it, and no filter has it.
	{part: byAnswer, column: "answered_after", values: answerValues, chosen: func(Filter) []string { return nil }},
}

func unlessEmpty(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// counted reports whether the counters know how many requests match.
func (f Filter) counted() bool {
	return f.Query == "" && f.Person == "" && f.CreatedAfter == nil && f.CreatedBefore == nil &&
		!slices.ContainsFunc(fields, func(of field) bool { return !of.counted && of.chosen(f) != nil })
}

// countedButHidden reports whether the filter leaves out hidden requests, and the counters know how many
// requests match with them.
func (f Filter) countedButHidden() bool {
	without := f.Hidden != nil && !*f.Hidden
	f.Hidden = nil
	return without && f.counted()
}

// Sort is the order of a list.
type Sort string

// The orders. Requests with equally many votes, with the same heat, updated at the same time, and
// requests that match a query equally well are ordered as in Newest.
const (
	Newest    Sort = "newest"
	Oldest    Sort = "oldest"
	MostVoted Sort = "most_voted"
	// Trending is the order of votes, where a vote counts half as much as one that was given a week later.
	// Requests for which only their submitters have voted follow the others.
	Trending        Sort = "trending"
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
	// Brief reads only ids, apps, titles, and what the rows are ordered by.
	Brief bool
	// Unchanged leaves out requests that were updated later. Otherwise a request that loses
	// a vote between two pages would appear on both.
	Unchanged *feedback.Time
}

// Place is the position of a row in a list, whatever its order.
type Place struct {
	ID        feedback.ID
	Votes     int64
	Heat      int64
	UpdatedAt feedback.Time
	Score     int64 // in the order of Relevance, in thousandths
}

// Total is how many requests a filter matches. Exact is false while the index is so far
// behind that N leaves out some of the latest changes.
type Total struct {
	N     int64
	Exact bool
}
