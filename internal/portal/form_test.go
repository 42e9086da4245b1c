package portal

import (
	"crypto/rand"
	"net/url"
	"strings"
	"testing"
	"time"

	"gatherkit/internal/feedback"
)

func TestForm(t *testing.T) {
	token := feedback.NewToken(feedback.StatusToken, feedback.NewIDs(time.Now, rand.Reader).New(), rand.Reader)
	const address = "https://example.com/ideas/mine#"
	for _, pasted := range []string{token, "#" + token, address + token, " <" + address + token + ">.\n"} {
		f := ParseForm([]byte(url.Values{"link": {pasted}}.Encode()))
		if f.Token != token || f.Pasted != pasted || f.Reply != nil || f.Forget || f.Next() != "mine" {
			t.Errorf("%q: %+v", pasted, f)
		}
	}
	other := strings.Replace(token, "gsl_", "gat_", 1)
	for _, pasted := range []string{"", token[:40], token + "a", "x" + token[1:], other, "https://example.com/mine"} {
		if f := ParseForm([]byte(url.Values{"link": {pasted}}.Encode())); f.Token != "" || f.Pasted != pasted {
			t.Errorf("%q: %+v", pasted, f)
		}
	}
	if f := ParseForm([]byte("do=forget")); !f.Forget || f.Next() != "mine?forgotten" || !Visit(url.Values{"forgotten": {""}}).Forgotten {
		t.Errorf("%+v", f)
	}
	for cursor, next := range map[string]string{"": "mine?sent=id", "a&b": "mine?cursor=a%26b&sent=id"} {
		sent := url.Values{"do": {"reply"}, "request_id": {"id"}, "body": {"1\r\n2\n3"}, "cursor": {cursor}}
		f := ParseForm([]byte(sent.Encode()))
		if f.Reply == nil || *f.Reply != (Reply{RequestID: "id", Body: "1\n2\n3"}) || f.Next() != next {
			t.Errorf("%+v", f)
		}
		_, query, _ := strings.Cut(next, "?")
		values, err := url.ParseQuery(query)
		if page := Visit(values); err != nil || page.Cursor != cursor || page.Reply.RequestID != "id" || page.Forgotten {
			t.Errorf("%+v, %v", page, err)
		}
	}
}
