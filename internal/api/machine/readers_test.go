package machine

import (
	"slices"
	"strings"
	"time"
)

// The answers of the model to people outside the account who read their requests and votes.

const (
	minePath       = "/mine#"
	maxStatusLinks = 5  // of a reader, and of a request
	minePage       = 50 // the most requests
)

// holder is a person outside the account: a reader of an app, or who has a link to a request.
type holder struct {
	*app
	reader string   // "" with a link to a request
	one    *request // nil without such a link
	seen   *time.Time
}

// statusLink is a private link.
type statusLink struct {
	holder
	text   string
	made   time.Time
	opened bool
	ended  bool
}

func (l *statusLink) works() bool { return !l.ended && l.live() && (l.one == nil || !l.one.gone) }

// asked reports whether the person submitted a request.
func (h holder) asked(r *request) bool {
	return r.app == h.app && (r == h.one || h.reader != "" && r.reader == h.reader)
}

// reads returns the person who is a reader of an app.
func (m *model) reads(a *app, reader string) holder {
	key := a.id + reader
	if m.seenUntil[key] == nil {
		m.seenUntil[key] = &time.Time{}
	}
	return holder{app: a, reader: reader, seen: m.seenUntil[key]}
}

// visitor returns the person who calls with an API key.
func (m *model) visitor(w who, in object) (h holder, refusal string) {
	if !w.app.allows(w.origin) {
		return h, "widget.origin_not_allowed"
	}
	person, refusal := m.identified(w, in)
	if person != nil || refusal != "" {
		return m.reads(w.app, keyOf(person)), refusal
	}
	reader, refusal := readerIn(in)
	if refusal == "" && reader == "" {
		refusal = "widget.invalid_reader"
	}
	return m.reads(w.app, reader), refusal
}

// byLink returns the person who has a link.
func (m *model) byLink(in object) (h holder, refusal string) {
	l := find(m.statusLinks, func(l *statusLink) bool { return l.text == in["token"] && l.works() })
	if l == nil {
		return h, "mine.link_not_found"
	}
	l.opened = true
	return l.holder, ""
}

// interest is a request that a person submitted, or voted for.
type interest struct {
	*request
	at    int // its place in the order of creation
	asked bool
	since time.Time
}

// interests returns what a person submitted or voted for, the latest first.
func (m *model) interests(h holder) (list []interest) {
	for n, r := range slices.Backward(m.requests) {
		i := interest{request: r, at: n + 1, asked: h.asked(r), since: r.created}
		vote := find(r.given, func(v *vote) bool { return h.reader != "" && v.reader == h.reader })
		if vote != nil && !i.asked {
			i.since = vote.created
		}
		if r.app == h.app && !r.gone && (i.asked || vote != nil) {
			list = append(list, i)
		}
	}
	return list
}

// visible reports whether the person sees the request at all.
func (i interest) visible() bool {
	counts := i.countsFor()
	if i.binned || counts.binned {
		return false
	}
	return i.asked || !i.quarantined && counts.shared()
}

// newsAt returns the time of the latest news for the person, or zero.
func (i interest) newsAt() time.Time {
	own, atRoot := []time.Time{i.news}, []time.Time{i.countsFor().news}
	if i.asked {
		own, atRoot = append(own, i.commentNews), append(atRoot, i.countsFor().commentNews)
	}
	if i.root != nil {
		atRoot = slices.DeleteFunc(atRoot, func(at time.Time) bool { return !at.After(i.rooted) })
	}
	at := slices.MaxFunc(append(own, atRoot...), time.Time.Compare)
	if i.quarantined || !at.After(i.since) {
		return time.Time{}
	}
	return at
}

// thread returns the latest public comments that the submitter of a request sees, oldest first.
func (r *request) thread() (list []*comment) {
	for _, at := range []*request{r, r.countsFor()} {
		for _, c := range at.liveComments() {
			if c.inTalk() && (at == r || c.ofTeam()) && !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	slices.SortFunc(list, func(a, b *comment) int { return a.number - b.number })
	return list[max(0, len(list)-10):]
}

func (i interest) shown(seen time.Time) object {
	counts := i.countsFor()
	shown := object{
		"id": i.id, "title": i.title, "description": i.description, "status": counts.status, "votes": counts.votes, "asked": i.asked,
		"merged": i.root != nil, "unread": i.newsAt().After(seen), "can_reply": false, "created_at": i.created.Format(timeForm),
		"news_at": timeOrNil(i.newsAt()),
	}
	comments := []object{}
	switch {
	case !i.asked:
		shown["title"], shown["description"] = counts.title, ""
	case i.quarantined:
		shown["status"] = "opened"
	default:
		for _, c := range i.thread() {
			comments = append(comments, c.outside(i.app))
			shown["can_reply"] = shown["can_reply"] == true || c.ofTeam()
		}
	}
	shown["comments"] = comments
	shown["label"] = i.settings["statuses"].(object)[shown["status"].(string)].(object)["label"]
	return shown
}

// outside returns a comment as people outside the account see it.
func (c *comment) outside(a *app) object {
	body := mentionText.ReplaceAllLiteralString(c.body, "@"+a.publicName())
	return object{"id": c.id, "body": body, "at": c.created.Format(timeForm), "mine": !c.ofTeam()}
}

func (m *model) unread(h holder) (n int) {
	for _, i := range m.interests(h) {
		if i.visible() && i.newsAt().After(*h.seen) {
			n++
		}
	}
	return n
}

func (m *model) widgetNews(w who, in, _ object) (string, object) {
	h, refusal := m.visitor(w, in)
	if refusal != "" {
		return refusal, nil
	}
	return "ok", object{"unread": m.unread(h)}
}

func (m *model) widgetMine(w who, in, got object) (string, object) {
	h, refusal := m.visitor(w, in)
	if refusal != "" {
		return refusal, nil
	}
	return m.listMine(h, "widget", in, got)
}

func (m *model) mineList(_ who, in, got object) (string, object) {
	h, refusal := m.byLink(in)
	if refusal != "" {
		return refusal, nil
	}
	code, result := m.listMine(h, "mine", in, got)
	if code == "ok" {
		result["primary_color"] = h.settings["widget"].(object)["primary_color"]
	}
	return code, result
}

func (m *model) listMine(h holder, area string, in, got object) (string, object) {
	w := who{session: &session{user: &user{account: h.account}}}
	at, ok := m.resume(w, in, place{operation: "mine", sort: "newest", request: h.id, limit: 20})
	if !ok || at.request != h.id {
		return area + ".invalid_cursor", nil
	}
	at.limit = min(at.limit, minePage)
	shown, next, before := []object{}, "", 0
	for _, i := range m.interests(h) {
		if at.after > 0 && i.at >= at.after {
			continue
		}
		if len(shown) == at.limit {
			at.after = before
			next = m.cursorTo(at, got)
			break
		}
		if before = i.at; i.visible() {
			shown = append(shown, i.shown(*h.seen))
		}
	}
	result := object{"app_name": h.publicName(), "requests": shown, "unread": m.unread(h), "next_cursor": next, "has_more": next != ""}
	if text, sent := in["seen_until"].(string); sent && len(shown) > 0 {
		until, _ := time.Parse(timeForm, text) // the schema has accepted it
		*h.seen = slices.MaxFunc([]time.Time{*h.seen, slices.MinFunc([]time.Time{until, m.now()}, time.Time.Compare)}, time.Time.Compare)
	}
	return "ok", result
}

// addStatusLink adds a link to those that fit, of which it ends all but the latest ones.
func (m *model) addStatusLink(h holder, keep int, got object, fits func(*statusLink) bool) (string, object) {
	kept := 0
	for _, l := range slices.Backward(m.statusLinks) {
		if l.works() && l.app == h.app && fits(l) {
			kept++
			l.ended = kept > keep
		}
	}
	l := &statusLink{holder: h, text: m.freshLink(got["url"], "status", minePath), made: m.now()}
	m.statusLinks = append(m.statusLinks, l)
	return "ok", object{"url": serviceURL + minePath + l.text}
}

func (m *model) widgetLink(w who, in, got object) (string, object) {
	h, refusal := m.visitor(w, in)
	if refusal != "" {
		return refusal, nil
	}
	if len(m.interests(h)) == 0 {
		return "widget.nothing_asked", nil
	}
	keep := maxStatusLinks - 1
	if in["replace"] == true {
		keep = 0
	}
	return m.addStatusLink(h, keep, got, func(l *statusLink) bool { return l.one == nil && l.reader == h.reader })
}

func (m *model) linkRequest(w who, in, got object) (string, object) {
	r := m.request(w.account, in["id"])
	if r == nil || r.binned {
		return "requests.not_found", nil
	}
	h := holder{app: r.app, one: r, seen: &time.Time{}}
	return m.addStatusLink(h, maxStatusLinks-1, got, func(l *statusLink) bool { return l.one == r })
}

func (m *model) revokeLinks(w who, in, _ object) (string, object) {
	r := m.request(w.account, in["id"])
	if r == nil || r.binned {
		return "requests.not_found", nil
	}
	links := m.linksTo(r)
	for _, l := range links {
		l.ended = true
	}
	return "ok", object{"revoked": len(links)}
}

func (m *model) linksTo(r *request) (links []*statusLink) {
	for _, l := range m.statusLinks {
		if l.one == r && l.works() {
			links = append(links, l)
		}
	}
	return links
}

func (m *model) widgetReply(w who, in, got object) (string, object) {
	h, refusal := m.visitor(w, in)
	if refusal != "" {
		return refusal, nil
	}
	return m.reply(h, in, got)
}

func (m *model) mineReply(_ who, in, got object) (string, object) {
	h, refusal := m.byLink(in)
	if refusal != "" {
		return refusal, nil
	}
	return m.reply(h, in, got)
}

func (m *model) reply(h holder, in, got object) (string, object) {
	r := m.request(h.account, in["request_id"])
	if r == nil || !h.asked(r) || !r.live() || r.countsFor().binned {
		return "requests.not_found", nil
	}
	body := in["body"].(string)
	earlier := last(r.liveComments(), (*comment).inTalk)
	answered := last(r.thread(), (*comment).ofTeam)
	if earlier != nil && !earlier.ofTeam() && earlier.body == body {
		return "ok", object{"comment": earlier.raw()}
	}
	if answered == nil {
		return "requests.reply_not_allowed", nil
	}
	c := &comment{id: m.fresh(got, "id", "comment", "id"), visibility: "public", body: body, created: m.now(), updated: m.now()}
	m.addComment(r, c)
	if slices.Contains(m.users, answered.author) && !answered.author.gone {
		m.mentions = append(m.mentions, &mention{user: answered.author, request: r, comment: c})
	}
	r.replied = m.now()
	m.recount(r)
	m.record(r.account, "comment.created", "api_key", r.app.id, r.app.id, r.id)
	r.latest().differs("visibility", "", "public")
	return "ok", object{"comment": c.raw()}
}

// raw returns a comment as its author sees it, right after writing it.
func (c *comment) raw() object {
	return object{"id": c.id, "body": c.body, "at": c.created.Format(timeForm), "mine": true}
}

// ofReaders reports whether an operation is about what a person outside the account asked for.
func ofReaders(operation string) bool {
	return strings.HasPrefix(operation, "mine-") ||
		slices.Contains([]string{"widget-news", "widget-my-requests", "widget-my-link", "widget-reply"}, operation)
}
