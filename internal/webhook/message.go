package webhook

import (
	"encoding/json"

	"gatherkit/internal/events"
	"gatherkit/internal/feedback"
)

// testKind is the kind of the event that webhooks-test sends. It is not in the log.
const testKind = "webhook.test"

// wants reports whether an endpoint receives an event. Without internal, it receives nothing that only
// the team may see: changes of the account and of changelogs, internal comments, links to issues,
// and requests that are in quarantine.
func (webhook Webhook) wants(kinds events.Kinds, e events.FeedEvent) bool {
	if !kinds.Include(e) || webhook.AppID != nil && (e.AppID == nil || *e.AppID != *webhook.AppID) {
		return false
	}
	return webhook.Internal || e.Kind.AboutRequests() && !teamOnly(e) && !e.Quarantined
}

// teamOnly reports whether an event is about spam, about a link to an issue, or about a comment that was or
// became internal. Entries from before webhooks do not say which, and count as internal.
func teamOnly(e events.FeedEvent) bool {
	public := func(fields map[string]any) bool { return fields["visibility"] == string(feedback.Public) }
	switch e.Kind {
	case feedback.CommentCreated:
		return !public(e.After)
	case feedback.CommentUpdated:
		return !public(e.Before) || !public(e.After)
	case feedback.CommentDeleted:
		return !public(e.Before)
	case feedback.LinkAdded, feedback.LinkRemoved, feedback.RequestBlocked:
		return true
	}
	return false
}

// message is what an endpoint receives in one call: an event, or several for a chat.
type message []events.FeedEvent

// event is the first event of a message.
func (m message) event() events.FeedEvent { return m[0] }

// number is the number of the last event of a message.
func (m message) number() int64 { return m[len(m)-1].Number }

// render returns the body of a message. home is the address of the dashboard.
func (f Format) render(home string, m message) ([]byte, error) {
	var v any
	switch f {
	case Slack:
		v = slack(newNews(home, m))
	case Discord:
		v = discord(newNews(home, m))
	case Teams:
		v = teams(newNews(home, m))
	default:
		e := m.event()
		v = struct {
			Type      feedback.ChangeKind `json:"type"`
			Timestamp feedback.Time       `json:"timestamp"`
			Data      events.FeedEvent    `json:"data"`
		}{e.Kind, e.At, e}
	}
	return json.Marshal(v)
}
