package machine

import (
	"maps"
	"regexp"
	"strings"
	"time"
)

// Who outside the account is told of a change of a request.

// people are numbers of people who see what becomes of a request.
type people struct {
	askers, voters, links int
	submitter             bool // whether the submitter is one of the askers
}

func (p people) shown() object {
	return object{"askers": p.askers, "submitter": p.submitter, "voters": p.voters, "links": p.links}
}

// readers are the secrets of two browsers.
var readers = []any{
	"0197a2b3c4d5" + strings.Repeat("0f", 26), "0197a2b3c4d6" + strings.Repeat("1e", 26),
}

var readerText = regexp.MustCompile(`^[0-9a-f]{64}$`)

// readerIn returns the reader that a call names, or "".
func readerIn(in object) (reader, refusal string) {
	reader, _ = in["reader"].(string)
	if reader != "" && (!readerText.MatchString(reader) || strings.HasPrefix(reader, "ffff")) {
		return "", "widget.invalid_reader"
	}
	return reader, ""
}

// countsFor returns the request whose status and votes count for r.
func (r *request) countsFor() *request {
	if r.root != nil {
		return r.root
	}
	return r
}

// audience returns who sees changes of a request.
func (m *model) audience(r *request) people { return m.audienceBelow(r, r.countsFor()) }

// unseen reports whether nobody outside sees the status and the comments of a request, whose votes count
// for another one.
func (r *request) unseen(counts *request) bool { return r.box() != "live" || counts.binned }

// audienceBelow returns who sees changes of a request and of those merged into it, if the app shares the
// request that counts.
func (m *model) audienceBelow(r, counts *request) people {
	askers, voters := map[string]bool{}, map[string]bool{}
	for _, at := range m.counting(r) {
		askers[at.reader] = true
		for _, v := range at.given {
			voters[v.reader] = true
		}
	}
	maps.DeleteFunc(voters, func(reader string, _ bool) bool { return askers[reader] })
	delete(askers, "")
	delete(voters, "")
	p := people{len(askers), len(voters), len(m.linksTo(r)), r.reader != ""}
	if !counts.shared() {
		p.voters = 0
	}
	if r.unseen(counts) {
		p.askers, p.voters, p.submitter = 0, 0, false // but the links can be ended
	}
	return p
}

// tell says in an entry of the log how many people were told of the change of a request.
func (c *change) tell(w who, r *request, p people) {
	if c.quiet = w.quiet; !w.quiet && !r.unseen(r.countsFor()) {
		c.told = p.askers + p.voters + p.links
	}
}

// outside returns changed fields with what they say about people outside.
func (c change) outside(fields object) object {
	fields = maps.Clone(fields)
	delete(fields, "told")
	delete(fields, "quiet")
	if c.told > 0 {
		fields["told"] = whole(c.told)
	}
	if c.quiet {
		fields["quiet"] = true
	}
	return fields
}

// tellNews notes that requests have news.
func (m *model) tellNews(w who, requests ...*request) {
	for _, r := range requests {
		if !w.quiet {
			r.news = m.now()
		}
	}
}

// tellStatus tells of a new status, which the latest entry of the log is about.
func (m *model) tellStatus(w who, r *request, before string) {
	if r.status != before && r.box() == "live" {
		r.latest().tell(w, r, m.audience(r))
		m.tellNews(w, r)
	}
}

// published tells of a comment that is public now, which the latest entry of the log is about.
func (m *model) published(w who, r *request, before string, c *comment) {
	if c.visibility != "public" || before == "public" {
		return
	}
	p := m.audience(r)
	p.voters = 0
	r.latest().tell(w, r, p)
	if !w.quiet {
		r.commentNews = m.now()
	}
	r.replied = time.Time{}
}

// unanswered notes that a comment was deleted, which may have been the last one of the submitter.
func (m *model) unanswered(r *request, c *comment) {
	if c.ofTeam() || c.visitor != nil || r.replied.IsZero() {
		return
	}
	r.replied = time.Time{}
	if left := last(r.liveComments(), (*comment).inTalk); left != nil && !left.ofTeam() {
		r.replied = left.created
	}
}

// inTalk reports whether the submitter sees the comment: those of visitors of the portal are not for them.
func (c *comment) inTalk() bool { return c.visibility == "public" && c.visitor == nil }

func timeOrNil(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Format(timeForm)
}
