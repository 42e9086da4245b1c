package machine

import (
	"encoding/csv"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What the model answers to requests-export, and what a download must contain.

// export is an export link, which works once within ten minutes.
type export struct {
	place
	text    string
	by      who
	format  string
	bom     bool
	expires time.Time
	opened  bool
}

func (m *model) exportRequests(w who, in, got object) (string, object) {
	x := &export{
		place: place{account: w.account, filter: object{"box": "live"}}, by: w, format: in["format"].(string),
		bom: in["bom"] == true, expires: m.now().Add(10 * time.Minute),
	}
	if name := unfit(in); name != "" {
		return "requests.invalid_" + name, nil
	}
	if x.bom && x.format != "csv" {
		return "requests.invalid_bom", nil
	}
	x.narrow(in)
	if !m.knows(w, x.place) {
		return "apps.not_found", nil
	}
	x.text = m.freshLink(got["url"], "link", exportPath)
	m.exports = append(m.exports, x)
	return "ok", object{"url": serviceURL + exportPath + x.text, "expires_at": x.expires.Format(timeForm)}
}

// open downloads an export.
func (m *machine) open(x *export) {
	said := m.both("the download of "+x.text, func(s *service) string {
		got := s.get(exportPath + s.fill(x.text))
		return fmt.Sprintln(got.Code, got.Header().Get("Content-Type"), got.Header().Get("Content-Disposition")) + s.mask(got.Body.String())
	})
	head, body, _ := strings.Cut(said, "\n")
	good := !x.opened && x.by.works(m.now()) && m.now().Before(x.expires)
	x.opened = true
	switch {
	case !good:
		m.tally.add("export-download", "exports.not_found")
		if !strings.HasPrefix(head, "404 ") || !strings.Contains(body, `"exports.not_found"`) {
			m.t.Fatalf("a link that should not work: %s", said)
		}
		return
	case !strings.HasPrefix(head, "200 "):
		m.t.Fatalf("a link that should work: %s", said)
	}
	m.tally.add("export-download", "ok")
	var requests []*request
	for _, r := range slices.Backward(m.requests) {
		if r.account == x.account && x.holds(r) && (x.filter["app_id"] == nil || r.app.live()) {
			requests = append(requests, r)
		}
	}
	if x.format == "csv" {
		m.checkTable(x, body, requests)
	} else {
		m.checkLines(body, requests)
	}
}

// checkTable compares a CSV with the requests of the model.
func (m *machine) checkTable(x *export, body string, requests []*request) {
	text, marked := strings.CutPrefix(body, "\ufeff")
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || marked != x.bom || len(rows) != len(requests)+1 {
		m.t.Fatalf("%v: of %d requests, marked %v: %s", err, len(requests), x.bom, body)
	}
	for i, r := range requests {
		cells := map[string]string{}
		for column, name := range rows[0] {
			cells[name] = rows[i+1][column]
		}
		want := maps.Clone(r.plain)
		maps.Copy(want, object{
			"id": r.id, "app_id": r.app.id, "status": r.status, "votes": r.votes, "comments": len(r.liveComments()), "merged_into_id": idOf(r.root),
			"source": r.source, "assignee_id": r.assignee, "submitter_verified": r.submitter["verified"],
			"created_at": r.created.Format(timeForm), "updated_at": r.updated.Format(timeForm),
		})
		for name, want := range want {
			if want == nil {
				want = ""
			}
			if cells[name] != fmt.Sprint(want) {
				m.t.Fatalf("%s of %s is %q, want %v:\n%s", name, r.id, cells[name], want, body)
			}
		}
	}
}

// checkLines compares JSON Lines with the requests of the model. Of the history, it checks
// the length and the votes; finish compares the log itself.
func (m *machine) checkLines(body string, requests []*request) {
	lines := strings.SplitAfter(body, "\n")
	if len(lines) != len(requests)+1 {
		m.t.Fatalf("%d requests: %s", len(requests), body)
	}
	for i, r := range requests {
		var got, want object
		decode(m.t, lines[i], &got)
		m.learn(got)
		comments, _ := got["comments"].([]any)
		for at, c := range r.liveComments() {
			m.learnComment(c, at, comments)
		}
		decode(m.t, text(r.exported()), &want)
		events, _ := got["history"].([]any)
		delete(got, "history")
		votes, _ := got["votes"].([]any)
		for _, v := range votes {
			delete(v.(object), "person") // the model does not predict how the service identifies people
		}
		logged := 0
		for _, c := range r.log {
			if c.request == r.id {
				logged++
			}
		}
		if !reflect.DeepEqual(got, want) || len(events) != logged || !r.votesAgree(events) {
			m.t.Fatalf("the export has\n%s and should have %d events and\n%s", lines[i], logged, text(want))
		}
	}
}

// exported returns a request with its votes and comments.
func (r *request) exported() object {
	votes, comments := []object{}, []object{}
	slices.SortFunc(r.given, func(a, b *vote) int { return strings.Compare(a.key, b.key) })
	for _, v := range r.given {
		votes = append(votes, v.shown(r))
	}
	for _, c := range r.liveComments() {
		comments = append(comments, c.shown(r))
	}
	x := object{"request": r.shown(), "box": r.box(), "merged": nil, "votes": votes, "comments": comments}
	if r.parent != nil {
		x["merged"] = object{"parent_id": r.parent.id, "status": r.former}
	}
	return x
}

// votesAgree reports whether each event begins with the number of votes of the one before, and
// the last one ends with the present number.
func (r *request) votesAgree(events []any) bool {
	votes := any(nil)
	for _, e := range events {
		before, after := e.(object)["before"].(object)["votes"], e.(object)["after"].(object)["votes"]
		if votes != nil && before != nil && before != votes {
			return false
		}
		if after != nil {
			votes = after
		}
	}
	return votes == nil || votes == number(strconv.Itoa(r.votes))
}
