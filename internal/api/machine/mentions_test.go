package machine

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// What the model answers to the operations on mentions. m.mentions is in the order of creation.

type mention struct {
	listedAs string // its id, after it was listed
	user     *user
	request  *request
	comment  *comment
	read     bool
	gone     bool // because the comment has changed
}

var mentionText = regexp.MustCompile(`@\[([^\[\]\n]+)\]\(user:([^)]+)\)`)

// stored reports whether the service still has a mention after the worker has removed what it removes.
func (n *mention) stored() bool {
	return !n.gone && !n.comment.deleted && !n.user.gone && !n.request.gone && !n.request.deleted
}

func (n *mention) listed() bool { return n.stored() && !n.request.binned }

// saveMentions changes the mentions to those that a comment has now.
func (m *model) saveMentions(r *request, c *comment) {
	of := func(u *user) *mention {
		return find(m.mentions, func(n *mention) bool { return n.comment == c && n.user == u && n.stored() })
	}
	var now []*user
	for _, found := range mentionText.FindAllStringSubmatch(c.body, -1) {
		u := find(m.users, func(u *user) bool { return u.id == found[2] && u.account == r.account && !u.gone })
		if u != nil && u != c.author {
			now = append(now, u)
		}
	}
	for _, u := range m.users {
		switch n := of(u); {
		case n == nil && slices.Contains(now, u):
			m.mentions = append(m.mentions, &mention{user: u, request: r, comment: c})
		case n != nil && !slices.Contains(now, u):
			n.gone = true
		}
	}
}

func (n *mention) shown() object {
	c := n.comment.shown(n.request)
	return object{
		"id": n.listedAs, "request_id": n.request.id, "request_title": n.request.title, "comment_id": n.comment.id,
		"author": c["author"], "excerpt": mentionText.ReplaceAllString(n.comment.body, "@$1"), "read": n.read,
	}
}

func (m *model) listMentions(w who, in, got object) (string, object) {
	unread := in["unread"] == true
	at, ok := m.resume(w, in, place{operation: "mentions-list", sort: "newest", filter: object{"unread": unread}, limit: 50})
	if !ok || unread && at.filter["unread"] != true {
		return "mentions.invalid_cursor", nil
	}
	var list []item
	for i, n := range m.mentions {
		if n.user == w.user && n.listed() && (!n.read || at.filter["unread"] != true) {
			list = append(list, item{n: i + 1, shown: object{"at": n}})
		}
	}
	code, result := m.page(at, list, got, "mentions")
	answered, _ := got["mentions"].([]any)
	for i, shown := range result["mentions"].([]object) {
		n := shown["at"].(*mention)
		if i < len(answered) {
			m.learnMention(n, answered[i].(object))
			result["mentions"].([]object)[i] = n.shown()
			result["mentions"].([]object)[i]["created_at"] = answered[i].(object)["created_at"]
		}
	}
	return code, result
}

// learnMention takes the id of a mention that is listed for the first time.
func (m *model) learnMention(n *mention, answered object) {
	text, _ := answered["id"].(string)
	if n.listedAs != "" {
		return
	}
	if n.listedAs = "a fresh id"; strings.HasPrefix(text, "{id") && !m.learned[text] {
		m.learned[text], n.listedAs = true, text
	}
}

func (m *model) readMentions(w who, in, _ object) (string, object) {
	ids, some := in["ids"].([]any)
	last, until := in["up_to"].(string)
	if some == until {
		return "mentions.invalid_ids", nil
	}
	if until {
		ids = []any{last}
	}
	var meant []*mention
	for _, id := range ids {
		at := slices.IndexFunc(m.mentions, func(n *mention) bool { return n.listedAs == id && n.user == w.user && n.listed() })
		if at < 0 {
			return "mentions.not_found", nil
		}
		meant = append(meant, m.mentions[at])
		if until {
			meant = m.mentions[:at+1]
		}
	}
	read := 0
	for _, n := range meant {
		if n.user == w.user && n.listed() && !n.read {
			n.read = true
			read++
		}
	}
	return "ok", object{"read": read}
}

// mentionValue draws the id of a mention, most likely one of the caller's, and the text of a comment.
func (m *machine) mentionValue(c aCall, name string) (any, bool) {
	by := func(id string) string { return fmt.Sprintf("@[Ann](user:%s) ", id) }
	switch {
	case c.operation == "mentions-read" && name == "ids":
		return m.either(name, []any{[]any{m.mentionID(c)}, []any{m.mentionID(c), m.mentionID(c)}, nil},
			[]any{[]any{}, []any{"junk"}, "x"}), true
	case c.operation == "mentions-read" && name == "up_to":
		if c.in["ids"] != nil {
			return nil, true
		}
		return m.mentionID(c), true
	case name == "body" && m.often("a mention"):
		one, other := by(m.colleagueOf(c)), by(m.colleagueOf(c))
		return draw(m, name, one, other, one+other, by(m.anyOf("{id"))) + "?", true
	}
	return nil, false
}

// mentionID lists the caller's mentions to learn their ids.
func (m *machine) mentionID(c aCall) string {
	t := m.sessionOf(c.who)
	own := func(n *mention) bool { return t != nil && n.user == t.user && n.listed() }
	if find(m.mentions, func(n *mention) bool { return own(n) && n.listedAs == "" }) != nil {
		m.do(aCall{operation: "mentions-list", who: c.who, in: object{}})
	}
	id := one(m, "mention", m.mentions, func(n *mention) string { return n.listedAs }, func(n *mention) bool {
		return n.listedAs != "" && (own(n) || m.rarely("of somebody"))
	})
	if id == "" {
		return m.anyOf("{id")
	}
	return id
}

// checkMentions checks that nothing stays of comments, requests and users that are gone.
func (m *machine) checkMentions() {
	want := 0
	for _, n := range m.mentions {
		if n.stored() {
			want++
		}
	}
	got := m.both("the mentions", func(s *service) string {
		var n int
		if err := s.db.QueryRow("SELECT COUNT(*) FROM mentions").Scan(&n); err != nil {
			m.t.Fatal(err)
		}
		return fmt.Sprint(n)
	})
	if got != fmt.Sprint(want) {
		m.t.Fatalf("%s mentions are stored, want %d", got, want)
	}
}
