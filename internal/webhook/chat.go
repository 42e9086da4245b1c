package webhook

import (
	"fmt"
	"strings"

	"gatherkit/internal/events"
	"gatherkit/internal/feedback"
)

// Titles, names and texts in messages are the words of strangers: each format escapes them, so that they
// cannot mention anybody, or show a link that is not there.

const (
	// Characters of a message. Discord allows 256 for a title and Slack 3,000 for a text, and escaping
	// makes up to two, or five, of one.
	titleMost, summaryMost = 120, 400
)

// news is what a chat message says: one event, or how many there were of each kind.
type news struct {
	title, link string
	lines       []string
}

// newNews returns the news of events. More than one become a count.
func newNews(home string, list []events.FeedEvent) news {
	if len(list) == 1 {
		e := list[0]
		n := news{title: "Gatherkit", link: home, lines: []string{cut(e.Summary, summaryMost)}}
		if e.Request != nil {
			n.title, n.link = cut(e.Request.Title, titleMost), e.Request.URL
		}
		return n
	}
	counts := map[string]int{}
	var kinds []string
	for _, e := range list {
		kind := string(e.Kind)
		if counts[kind] == 0 {
			kinds = append(kinds, kind)
		}
		counts[kind]++
	}
	n := news{title: fmt.Sprintf("%d changes", len(list)), link: home}
	for _, kind := range kinds {
		n.lines = append(n.lines, fmt.Sprintf("%d × %s", counts[kind], strings.NewReplacer(".", " ", "_", " ").Replace(kind)))
	}
	return n
}

// cut returns a text on one line, with at most some characters.
func cut(text string, most int) string {
	return feedback.Shorten(strings.Join(strings.Fields(text), " "), most)
}

// object is a JSON object.
type object = map[string]any

// slack returns a message for an incoming webhook
// (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks).
func slack(n news) object {
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
	text := "*" + escape(n.title) + "*\n" + escape(strings.Join(n.lines, "\n"))
	section := object{"type": "section", "text": object{"type": "mrkdwn", "text": text, "verbatim": true}}
	link := object{"type": "section", "text": object{"type": "mrkdwn", "text": "<" + escape(n.link) + "|Open in Gatherkit>"}}
	return object{"text": escape(n.title + ": " + strings.Join(n.lines, ", ")), "blocks": []object{section, link}, "unfurl_links": false}
}

// discord returns a message for a webhook (https://discord.com/developers/docs/resources/webhook#execute-webhook).
func discord(n news) object {
	// A backslash takes the meaning in Markdown from a character, and < begins a mention.
	escape := strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "~", `\~`, "`", "\\`", "|", `\|`, ">", `\>`, "[", `\[`, "]", `\]`,
		"#", `\#`, "-", `\-`, "<", `\<`).Replace
	embed := object{"title": escape(n.title), "description": escape(strings.Join(n.lines, "\n")), "url": n.link}
	return object{"embeds": []object{embed}, "allowed_mentions": object{"parse": []string{}}}
}

// teams returns a message for a workflow that posts Adaptive Cards
// (https://learn.microsoft.com/en-us/connectors/teams/#microsoft-teams-webhook).
func teams(n news) object {
	// A TextRun shows its text as it is. A TextBlock would interpret Markdown.
	text := func(style object, text string) object {
		run := object{"type": "TextRun", "text": text}
		for name, value := range style {
			run[name] = value
		}
		return object{"type": "RichTextBlock", "inlines": []object{run}}
	}
	body := []object{text(object{"weight": "Bolder"}, n.title)}
	for _, line := range n.lines {
		body = append(body, text(object{"isSubtle": true}, line))
	}
	card := object{
		"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4", "body": body,
		"actions": []object{{"type": "Action.OpenUrl", "title": "Open in Gatherkit", "url": n.link}},
	}
	return object{
		"type":        "message",
		"attachments": []object{{"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": nil, "content": card}},
	}
}
