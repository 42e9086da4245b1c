package feedback

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Event is one entry of a request's history, or of the account's audit: a view of the
// account's log of changes.
type Event struct {
	Number  int64          `json:"number" doc:"Its place in the account's log of changes."`
	At      Time           `json:"at" format:"date-time"`
	Kind    ChangeKind     `json:"kind" doc:"What happened, such as request.updated."`
	Actor   EventActor     `json:"actor"`
	Before  map[string]any `json:"before" doc:"The changed fields as they were."`
	After   map[string]any `json:"after" doc:"The changed fields as they became."`
	Summary string         `json:"summary" doc:"The same in a sentence."`

	AppName string `json:"-"` // of the app that was changed, while it is there
}

// EventActor is who made a change.
type EventActor struct {
	Kind string  `json:"kind" enum:"user,api_key,command,service"`
	ID   *ID     `json:"id" format:"uuid" doc:"The user, or the app whose key was used."`
	Name *string `json:"name" doc:"The user's name; null for others, and when the user is gone."`
}

// actorNames are what those are called who have no name.
var actorNames = map[string]string{ByUser: "A former user", ByAPIKey: "Somebody with the app's key", ByCommand: "An operator", ByService: "The service"}

// deeds say what a change of each kind is, as far as no field says it better.
var deeds = map[ChangeKind]string{
	RequestCreated: "made the request", RequestUpdated: "changed the request",
	RequestDeleted: "moved the request to the bin", RequestRestored: "took the request out of the bin",
	RequestReleased: "took the request out of quarantine", RequestBlocked: "moved the request to the bin as spam",
	VoteAdded: "added a vote", VoteRemoved: "removed a vote",
}

// Summarise writes the sentence.
func (e *Event) Summarise() {
	who := actorNames[e.Actor.Kind]
	if e.Actor.Name != nil {
		who = *e.Actor.Name
	}
	deed := deeds[e.Kind]
	switch e.Kind {
	case RequestMerged, RequestUnmerged:
		deed = e.mergeDeed()
	case CommentCreated, CommentUpdated, CommentDeleted:
		deed = e.commentDeed()
	case RequestUpdated:
		deed = cmp.Or(e.each(e.fieldDeed), deed)
	case RequestRecounted:
		deed = "recounted " + e.each(func(field string) string {
			return fmt.Sprintf("%s %s instead of %s", said(e.After[field]), field, said(e.Before[field]))
		})
	default:
		deed = cmp.Or(deed, e.auditDeed())
	}
	e.Summary = who + " " + cmp.Or(deed, string(e.Kind)) + "."
}

// mergeDeed says what a merge or its end was to this request: it was merged itself, it
// followed the one into which it had been merged before, or another one was merged into it.
func (e *Event) mergeDeed() string {
	before, after := e.Before["merged_into_id"], e.After["merged_into_id"]
	switch {
	case before != nil && after != nil && e.Kind == RequestMerged:
		return "merged the request that this one is merged into into another one"
	case before != nil && after != nil:
		return "took the request that this one is merged into out of the one that it was merged into"
	case after != nil:
		return "merged the request into another one"
	case before != nil:
		return "took the request out of the one that it was merged into"
	case e.Kind == RequestMerged:
		return "merged another request into this one"
	}
	return "took a merged request out of this one"
}

// commentDeed says what was done to a comment. What it said stands in the fields.
func (e *Event) commentDeed() string {
	switch e.Kind {
	case CommentCreated:
		return "wrote " + aComment(e.After["visibility"])
	case CommentDeleted:
		deed := "deleted " + aComment(e.Before["visibility"])
		if author, known := e.Before["author_id"].(string); known && e.Actor.ID != nil && author != e.Actor.ID.String() {
			deed += " that somebody else wrote"
		}
		return deed
	}
	_, rewritten := e.After["body"]
	visibility, shown := e.After["visibility"]
	switch {
	case rewritten && shown:
		return fmt.Sprintf("rewrote a comment and made it %v", visibility)
	case shown:
		return fmt.Sprintf("made a comment %v", visibility)
	}
	return "rewrote a comment"
}

func aComment(visibility any) string {
	if visibility == string(Public) {
		return "a public comment"
	}
	return "an internal comment"
}

// each puts together what is said of each field that was changed.
func (e *Event) each(say func(field string) string) string {
	var parts []string
	for _, field := range slices.Sorted(maps.Keys(e.After)) {
		parts = append(parts, say(field))
	}
	return joined(parts)
}

// fieldDeed says how one field was changed.
func (e *Event) fieldDeed(field string) string {
	name := strings.TrimSuffix(strings.ReplaceAll(field, "_", " "), " id")
	if field == "eta" {
		name = "ETA"
	}
	switch {
	case field == "description":
		return "rewrote the description"
	case field == "tags":
		return tagsDeed(texts(e.Before[field]), texts(e.After[field]))
	case strings.HasSuffix(field, "_id"):
		if e.After[field] == nil {
			return "removed the " + name
		}
		return "changed the " + name
	case e.Before[field] == nil:
		return fmt.Sprintf("set the %s to %s", name, said(e.After[field]))
	case e.After[field] == nil:
		return "removed the " + name
	}
	return fmt.Sprintf("changed the %s from %s to %s", name, said(e.Before[field]), said(e.After[field]))
}

func tagsDeed(before, after []string) string {
	var parts []string
	for _, tag := range after {
		if !slices.Contains(before, tag) {
			parts = append(parts, fmt.Sprintf("added the tag %q", tag))
		}
	}
	for _, tag := range before {
		if !slices.Contains(after, tag) {
			parts = append(parts, fmt.Sprintf("removed the tag %q", tag))
		}
	}
	return cmp.Or(joined(parts), "reordered the tags")
}

func texts(list any) (all []string) {
	items, _ := list.([]any)
	for _, item := range items {
		all = append(all, fmt.Sprint(item))
	}
	return all
}

// said is a value as it stands in a sentence: statuses as words, text in quotes.
func said(v any) string {
	text, ok := v.(string)
	if !ok {
		encoded, _ := json.Marshal(v) // it came from JSON
		return string(encoded)
	}
	if slices.Contains(Statuses(), Status(text)) {
		return strings.ReplaceAll(text, "_", " ")
	}
	return fmt.Sprintf("%q", text)
}

// joined is "a", "a and b", "a, b and c".
func joined(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}
