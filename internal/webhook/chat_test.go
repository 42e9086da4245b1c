package webhook_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
	"gatherkit/internal/webhook"
)

// chats are the formats for chats.
var chats = []webhook.Format{webhook.Slack, webhook.Discord, webhook.Teams}

// title sets the title of the request.
func (r *rig) title(title string) {
	r.T.Helper()
	_, err := r.ChangeRequest(ctx, r.account.ID, r.request.ID, feedback.Command(), func(q *feedback.Request) error {
		q.Title = title
		return nil
	})
	if err != nil {
		r.T.Fatal(err)
	}
}

// TestChats: a chat receives messages in its own format, without a signature.
func TestChats(t *testing.T) {
	r := newRig(t, storetest.SQLite(t))
	page := "https://feedback.example.com/?request=" + r.request.ID.String()
	endpoints := map[webhook.Format]webhook.Webhook{}
	for _, format := range chats {
		endpoints[format] = r.add(func(w *webhook.Webhook) { w.Format = format; w.Kinds = []string{"request.*"} })
	}
	r.title("Dark & <b>light</b> *mode*")
	const escaped = "Dark &amp; &lt;b&gt;light&lt;/b&gt; *mode" // without the last asterisk
	const summary = `An operator changed the title from "T0" to "Dark & <b>light</b> *mode*".`
	wants := map[webhook.Format]string{
		webhook.Slack: `{"blocks":[
			{"type":"section","text":{"type":"mrkdwn","verbatim":true,
				"text":"*` + escaped + `**\nAn operator changed the title from \"T0\" to \"` + escaped + `*\"."}},
			{"type":"section","text":{"type":"mrkdwn","text":"<` + page + `|Open in Gatherkit>"}}],
			"text":"` + escaped + `*: An operator changed the title from \"T0\" to \"` + escaped + `*\".",
			"unfurl_links":false}`,
		webhook.Discord: `{"allowed_mentions":{"parse":[]},"embeds":[{"url":"` + page + `",
			"title":"Dark & \\<b\\>light\\</b\\> \\*mode\\*",
			"description":"An operator changed the title from \"T0\" to \"Dark & \\<b\\>light\\</b\\> \\*mode\\*\"."}]}`,
		webhook.Teams: `{"type":"message","attachments":[{"contentType":"application/vnd.microsoft.card.adaptive","contentUrl":null,"content":{
			"$schema":"http://adaptivecards.io/schemas/adaptive-card.json","type":"AdaptiveCard","version":"1.4","body":[
			{"type":"RichTextBlock","inlines":[{"type":"TextRun","text":"Dark & <b>light</b> *mode*","weight":"Bolder"}]},
			{"type":"RichTextBlock","inlines":[{"type":"TextRun","text":` + string(must(json.Marshal(summary))) + `,"isSubtle":true}]}],
			"actions":[{"type":"Action.OpenUrl","title":"Open in Gatherkit","url":"` + page + `"}]}}]}`,
	}
	for range chats {
		r.round()
	}
	for format, w := range endpoints {
		attempt, err := r.sender.Resend(ctx, r.account.ID, w.ID, r.last())
		got := r.taken()
		if err != nil || attempt.Outcome != "delivered" || len(got) != 1 {
			t.Fatal(format, attempt, err, len(got))
		}
		var have, want any
		if err := json.Unmarshal(got[0].body, &have); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(wants[format]), &want); err != nil {
			t.Fatal(format, err)
		}
		if one, other := must(json.Marshal(have)), must(json.Marshal(want)); !bytes.Equal(one, other) {
			t.Errorf("%s:\n%s\nwant\n%s", format, one, other)
		}
		if got[0].header.Get("webhook-signature") != "" || got[0].header.Get("Content-Type") != "application/json" {
			t.Error(format, got[0].header)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestChatPace: a chat gets a message a second, and one with counts when more than five events wait.
func TestChatPace(t *testing.T) {
	for _, format := range chats {
		r := newRig(t, storetest.SQLite(t))
		w := r.add(func(w *webhook.Webhook) { w.Format = format; w.Kinds = []string{"request.*", "comment.*"} })
		messages := func() (bodies []string) {
			t.Helper()
			if err := r.sender.Round(ctx); err != nil {
				t.Fatal(err)
			}
			for _, one := range r.taken() {
				bodies = append(bodies, string(one.body))
			}
			return bodies
		}
		r.change(5)
		for i := range 5 {
			expect(t, "messages", len(messages()), 1)
			expect(t, "too early", len(messages()), 0)
			expect(t, "behind", r.get(w).Health.Behind, 4-i)
			r.Clock.Move(time.Second)
		}
		r.change(300)
		_, err := r.AddComment(ctx, r.account.ID, feedback.Command(),
			feedback.Comment{RequestID: r.request.ID, Visibility: feedback.Public, Body: "B"})
		if err != nil {
			t.Fatal(err)
		}
		if got := messages(); len(got) != 1 || !strings.Contains(got[0], "256 changes") || !strings.Contains(got[0], "256 × request updated") ||
			!strings.Contains(got[0], `https://feedback.example.com`) {
			t.Error(got)
		}
		r.Clock.Move(time.Second)
		if got := messages(); len(got) != 1 || !strings.Contains(got[0], "45 changes") ||
			!strings.Contains(got[0], "44 × request updated") || !strings.Contains(got[0], "1 × comment created") {
			t.Error(got)
		}
		if a := r.attempts(w)[0]; a.Events != 45 || a.Number != r.last() {
			t.Errorf("%+v", a)
		}
		// What a chat refuses, it would refuse again. What fails waits.
		r.Clock.Move(time.Second)
		r.status(http.StatusBadRequest)
		r.change(1)
		expect(t, "refused", len(messages()), 1)
		if h := r.get(w).Health; h.Behind != 0 || h.SetAside != 0 || h.Failures != 0 {
			t.Errorf("%+v", h)
		}
		r.Clock.Move(time.Second)
		r.status(http.StatusTooManyRequests)
		r.change(6)
		expect(t, "failed", len(messages()), 1)
		expect(t, "behind", r.get(w).Health.Behind, 6)
		r.untilDue(w)
		r.status(http.StatusOK)
		expect(t, "again", len(messages()), 1)
		expect(t, "behind", r.get(w).Health.Behind, 0)
	}
}

// TestStrangersWords: nothing that people write mentions somebody in a chat, shows a link, or makes a
// message too large.
func TestStrangersWords(t *testing.T) {
	r := newRig(t, storetest.SQLite(t))
	endpoints := map[webhook.Format]webhook.Webhook{}
	for _, format := range chats {
		endpoints[format] = r.add(func(w *webhook.Webhook) { w.Format = format })
	}
	for _, title := range []string{
		"<!channel> <@U1> <https://evil.example|Sign in>", "[Sign in](https://evil.example) @everyone <@&1> <@1>",
		"**bold** _it_ ~no~ `code` || x",
		strings.Repeat("&", 200), strings.Repeat("<", 200), strings.Repeat("*", 200), strings.Repeat("漢", 200), `"\u0000", "x": 1}`, "a\u202eb",
	} {
		r.title(title)
		for format, w := range endpoints {
			if _, err := r.sender.Resend(ctx, r.account.ID, w.ID, r.last()); err != nil {
				t.Fatal(err)
			}
			body := string(r.taken()[0].body)
			var message struct {
				Text   string
				Blocks []struct{ Text struct{ Text string } }
				Embeds []struct{ Title, Description string }
			}
			if err := json.Unmarshal([]byte(body), &message); err != nil {
				t.Fatal(format, err)
			}
			bad := len(body) > 20<<10
			for i, block := range message.Blocks {
				bad = bad || i == 0 && strings.ContainsAny(block.Text.Text, "<>") || utf8.RuneCountInString(block.Text.Text) > 3_000
			}
			bad = bad || strings.ContainsAny(message.Text, "<>")
			unescaped := regexp.MustCompile("(^|[^\\\\])[][*_~`|<>]")
			for _, embed := range message.Embeds {
				for _, text := range []string{embed.Title, embed.Description} {
					text = strings.ReplaceAll(text, `\\`, "")
					bad = bad || unescaped.MatchString(text)
				}
				bad = bad || utf8.RuneCountInString(embed.Title) > 256 || utf8.RuneCountInString(embed.Description) > 4_096
			}
			if bad {
				t.Errorf("%s, %q: %s", format, title, body)
			}
		}
	}
}
