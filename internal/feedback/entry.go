package feedback

import "slices"

// The largest number of labels of an entry, and of the requests that it is about.
const (
	MaxLabels        = 10
	MaxEntryRequests = 50
)

// Entry is an entry of an app's changelog: it says what is new.
type Entry struct {
	ID          ID           `json:"id" format:"uuid"`
	AppID       ID           `json:"app_id" format:"uuid"`
	State       EntryState   `json:"state" enum:"draft,scheduled,published"`
	Title       string       `json:"title"`
	Body        string       `json:"body" doc:"Markdown."`
	Labels      []string     `json:"labels"`
	Author      *EntryAuthor `json:"author" doc:"The user or service token that created it; null if the user was removed."`
	PublishAt   *Time        `json:"publish_at" format:"date-time" doc:"When it will be published; null unless it is scheduled."`
	Complete    bool         `json:"complete" doc:"Whether its requests will be completed when it is published; false unless it is scheduled."`
	Quiet       bool         `json:"quiet" doc:"Whether the people who asked will not be told of that; false unless it is scheduled."`
	PublishedAt *Time        `json:"published_at" format:"date-time" doc:"When it was published; null unless it is published."`
	RequestIDs  []ID         `json:"request_ids" doc:"The requests that it is about, oldest first."`
	Version     int64        `json:"version" doc:"Increases by one with each change."`
	CreatedAt   Time         `json:"created_at" format:"date-time"`
	UpdatedAt   Time         `json:"updated_at" format:"date-time"`
}

// EntryState says whether an entry can be read by anybody.
type EntryState string

// The states of an entry.
const (
	Draft     EntryState = "draft"
	Scheduled EntryState = "scheduled"
	Published EntryState = "published"
)

// EntryAuthor is the user or the service token that created an entry.
type EntryAuthor struct {
	ID   ID     `json:"id" format:"uuid"`
	Name string `json:"name"`
}

// EntryAudience is what completing the requests of an entry would do.
type EntryAudience struct {
	Requests int   `json:"requests" doc:"Number of requests that would be completed. A merged request counts as the one that it is merged into; those that are completed already, or not live, do not count."`
	People   int64 `json:"people" doc:"Number of people outside the account who would be told. Somebody who asked or voted for several of the requests counts for each."`
}

// EntryChange is a partial change of an entry. Nil fields keep their values.
type EntryChange struct {
	Title, Body *string
	Labels      *[]string
	RequestIDs  *[]ID
}

// Apply applies a change. Labels that differ only in case, and repeated requests, are the same.
func (e *Entry) Apply(c EntryChange) {
	set(&e.Title, c.Title)
	set(&e.Body, c.Body)
	if c.Labels != nil {
		e.Labels = CleanTags(*c.Labels)
	}
	if c.RequestIDs != nil {
		e.RequestIDs = slices.Clone(*c.RequestIDs)
		slices.SortFunc(e.RequestIDs, ID.Compare)
		e.RequestIDs = slices.Compact(e.RequestIDs)
	}
}

// Schedule has the entry published later. It returns an error with the code entries.invalid_at if the time is
// not in the future, or if the entry is published.
func (e *Entry) Schedule(at, now Time, complete, quiet bool) error {
	switch {
	case e.State == Published:
		return Invalid("entries", "at", "The entry is published already; take it back with entries-unpublish before you schedule it.")
	case at <= now:
		return Invalid("entries", "at", "at must be a time in the future; omit it to publish the entry now.")
	}
	e.State, e.PublishAt, e.Complete, e.Quiet = Scheduled, &at, complete, quiet
	return nil
}

// Publish publishes the entry, unless it is published.
func (e *Entry) Publish(now Time) {
	if e.State == Published {
		return
	}
	e.Unpublish()
	e.State, e.PublishedAt = Published, &now
}

// Unpublish makes the entry a draft.
func (e *Entry) Unpublish() {
	e.State, e.PublishAt, e.Complete, e.Quiet, e.PublishedAt = Draft, nil, false, false, nil
}
