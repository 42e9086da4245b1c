package feedback

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Event is one entry of a request's history or of the account's audit log. Both are views
// of the account's log of changes.
type Event struct {
	Number  int64          `json:"number" doc:"Position in the account's log of changes."`
	At      Time           `json:"at" format:"date-time"`
	Kind    ChangeKind     `json:"kind" doc:"What happened, such as request.updated."`
	Actor   EventActor     `json:"actor"`
	Before  map[string]any `json:"before" doc:"The changed fields before the change."`
	After   map[string]any `json:"after" doc:"The changed fields after the change."`
	Summary string         `json:"summary" doc:"The change in one sentence."`

	AppName  string         `json:"-"` // name of the changed app, or empty if it was deleted
	Statuses StatusSettings `json:"-"` // of the app, if the change is about a status
}

// EventActor is who made a change.
type EventActor struct {
	Kind string  `json:"kind" enum:"user,token,api_key,command,service"`
	ID   *ID     `json:"id" format:"uuid" doc:"The user, the token, or the app whose key was used."`
	Name *string `json:"name" doc:"The name of the user or token; null for other actors and for removed users."`
	Of   *string `json:"of" doc:"The user whose personal token it is; null for other actors."`
}

// actorNames are the names of actors without a name of their own.
var actorNames = map[string]string{
	ByUser: "A former user", ByToken: "A former token", ByAPIKey: "A visitor",
	ByCommand: "An operator", ByService: "The service",
}

// actions describe changes by their kind, for use when the changed fields do not say more.
var actions = map[ChangeKind]string{
	RequestCreated: "created the request", RequestUpdated: "changed the request",
	RequestDeleted: "moved the request to the bin", RequestRestored: "restored the request from the bin",
	RequestReleased: "released the request from quarantine", RequestBlocked: "moved the request to the bin as spam",
	RequestPurged: "removed a request for good",
	RequestErased: "erased the data of a person", RequestRectified: "corrected the data of a person",
	VoteAdded: "added a vote", VoteRemoved: "removed a vote",
	CommentReleased: "released a comment of a visitor", CommentBlocked: "deleted a held comment of a visitor",
}

// label returns the actor as the subject of a sentence.
func (a EventActor) label() string {
	switch {
	case a.Name == nil:
		return actorNames[a.Kind]
	case a.Kind != ByToken:
		return *a.Name
	case a.Of == nil:
		return fmt.Sprintf("The token %q", *a.Name)
	}
	return fmt.Sprintf("The token %q of %s", *a.Name, *a.Of)
}

// Summarize sets Summary.
func (e *Event) Summarize() {
	who := e.Actor.label()
	action := actions[e.Kind]
	switch e.Kind {
	case RequestMerged, RequestUnmerged:
		action = e.describeMerge()
	case CommentCreated, CommentUpdated, CommentDeleted:
		action = e.describeComment()
	case LinkAdded:
		action = "added a link to " + quoted(e.After["url"])
	case LinkRemoved:
		action = "removed the link to " + quoted(e.Before["url"])
	case RequestUpdated:
		action = cmp.Or(e.describeEach(e.describeField), action)
	case RequestRecounted:
		action = "corrected " + e.describeEach(func(field string) string {
			return fmt.Sprintf("the number of %s from %s to %s", field, quoted(e.Before[field]), quoted(e.After[field]))
		})
	default:
		action = cmp.Or(action, e.describeAudit())
	}
	e.Summary = who + " " + cmp.Or(action, string(e.Kind)) + "."
}

// describeMerge describes a merge or an unmerge from the point of view of this request:
// it was merged itself, the request that contains it was merged, or another request was
// merged into it.
func (e *Event) describeMerge() string {
	before, after := e.Before["merged_into_id"], e.After["merged_into_id"]
	switch {
	case before != nil && after != nil && e.Kind == RequestMerged:
		return "merged the request that contains this one into another request"
	case before != nil && after != nil:
		return "unmerged the request that contains this one"
	case after != nil:
		return "merged this request into another one"
	case before != nil:
		return "unmerged this request"
	case e.Kind == RequestMerged:
		return "merged another request into this one"
	}
	return "unmerged another request from this one"
}

// describeComment describes a change of a comment. Its text is in Before and After.
func (e *Event) describeComment() string {
	switch e.Kind {
	case CommentCreated:
		return "wrote " + commentWithVisibility(e.After["visibility"])
	case CommentDeleted:
		action := "deleted " + commentWithVisibility(e.Before["visibility"])
		if author, known := e.Before["author_id"].(string); known && e.Actor.ID != nil && author != e.Actor.ID.String() {
			action += " by another user"
		}
		return action
	}
	_, rewritten := e.After["body"]
	visibility := e.After["visibility"]
	shown := visibility != e.Before["visibility"]
	switch {
	case rewritten && shown:
		return fmt.Sprintf("edited a comment and made it %v", visibility)
	case shown:
		return fmt.Sprintf("made a comment %v", visibility)
	}
	return "edited a comment"
}

func commentWithVisibility(visibility any) string {
	if visibility == string(Public) {
		return "a public comment"
	}
	return "an internal comment"
}

// describeEach joins the descriptions of the changed fields.
func (e *Event) describeEach(describe func(field string) string) string {
	var parts []string
	for _, field := range slices.Sorted(maps.Keys(e.After)) {
		if field != "told" && field != "quiet" { // who was told of the change is not part of it
			parts = append(parts, describe(field))
		}
	}
	return join(parts)
}

// describeField describes the change of one field.
func (e *Event) describeField(field string) string {
	name := strings.TrimSuffix(strings.ReplaceAll(field, "_", " "), " id")
	if field == "eta" {
		name = "ETA"
	}
	switch {
	case field == "description":
		return "edited the description"
	case field == "hidden" && e.After[field] == true:
		return "hid the request"
	case field == "hidden":
		return "stopped hiding the request"
	case field == "status":
		return fmt.Sprintf("changed the status from %s to %s", e.status(e.Before[field]), e.status(e.After[field]))
	case field == "tags":
		return describeTags(stringsOf(e.Before[field]), stringsOf(e.After[field]))
	case strings.HasSuffix(field, "_id"):
		if e.After[field] == nil {
			return "removed the " + name
		}
		return "changed the " + name
	case e.Before[field] == nil:
		return fmt.Sprintf("set the %s to %s", name, quoted(e.After[field]))
	case e.After[field] == nil:
		return "removed the " + name
	}
	return fmt.Sprintf("changed the %s from %s to %s", name, quoted(e.Before[field]), quoted(e.After[field]))
}

func describeTags(before, after []string) string {
	var parts []string
	if added := quotedWithout(after, before); len(added) > 0 {
		parts = append(parts, "added "+tagsNamed(added))
	}
	if removed := quotedWithout(before, after); len(removed) > 0 {
		parts = append(parts, "removed "+tagsNamed(removed))
	}
	return cmp.Or(join(parts), "reordered the tags")
}

// quotedWithout returns tags in quotes, without those that are also among others.
func quotedWithout(tags, others []string) []string {
	var left []string
	for _, tag := range tags {
		if !slices.Contains(others, tag) {
			left = append(left, quoted(tag))
		}
	}
	return left
}

// tagsNamed returns, for example, the tags "a", "b" and "c".
func tagsNamed(quoted []string) string {
	if len(quoted) == 1 {
		return "the tag " + quoted[0]
	}
	return "the tags " + join(quoted)
}

// stringsOf returns the items of a list that was decoded from JSON.
func stringsOf(list any) []string {
	var texts []string
	items, _ := list.([]any)
	for _, item := range items {
		texts = append(texts, fmt.Sprint(item))
	}
	return texts
}

// status returns the name of a status.
func (e *Event) status(v any) string {
	text, _ := v.(string)
	if text == "" {
		return quoted(v)
	}
	return e.Statuses.Name(Status(text))
}

// quoted formats a value for a sentence, text in quotes.
func quoted(v any) string {
	text, ok := v.(string)
	if !ok {
		encoded, _ := json.Marshal(v) // v was decoded from JSON, so it can be encoded
		return string(encoded)
	}
	return fmt.Sprintf("%q", text)
}

// join returns "a", "a and b" or "a, b and c".
func join(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}
