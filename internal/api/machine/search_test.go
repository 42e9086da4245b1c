package machine

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// What the model answers to searches by words. It does not calculate the scores. The two
// databases must agree on them, and the model checks which requests are in the result.

// index brings the index up to date.
func (m *machine) index() {
	m.each(func(_ int, s *service) { s.index(m.t) })
}

// guesses reports whether a call finds words that are only similar. Of new words, it knows
// those that the index has followed.
func (m *machine) guesses(c aCall) bool {
	from := find(m.cursors, func(p *place) bool { return p.text == c.in["cursor"] })
	return strings.Contains(c.operation, "similar") || c.in["sort"] == "relevance" || from != nil && from.sort == "relevance"
}

// wordsIn returns the words of a text. It only handles the texts that are drawn.
func wordsIn(text string) []string {
	text = strings.ReplaceAll(strings.ToLower(text), "é", "e")
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, word := range words {
		words[i] = word[:min(len(word), 32)]
	}
	return words
}

// words returns the words under which a request is found.
func (r *request) words() []string {
	described := wordsIn(r.description)
	return append(wordsIn(r.title), described[:min(len(described), 24)]...)
}

// submittedBy returns the words of the submitter's name and e-mail address.
func (r *request) submittedBy() []string {
	name, _ := r.submitter["name"].(string)
	email, _ := r.submitter["email"].(string)
	return append(wordsIn(name), wordsIn(topDomain.ReplaceAllString(email, "$1"))...)
}

// topDomain finds the last part of the domain of an address, by which nobody is found.
var topDomain = regexp.MustCompile(`(@\S*)\.[^\s.]*`)

// queried returns the words of a query.
func queried(query string) []string { return wordsIn(topDomain.ReplaceAllString(query, "$1")) }

// found reports whether a request has all words of a query. The last one may be the
// beginning of a word.
func (r *request) found(query string) bool {
	wanted := queried(query)
	if len(wanted) == 0 {
		return false
	}
	last := wanted[len(wanted)-1]
	begins := func(word string) bool { return strings.HasPrefix(word, last) }
	// Two letters of a name or an address are not enough.
	named := slices.Contains(r.submittedBy(), last) || len(last) > 2 && slices.ContainsFunc(r.submittedBy(), begins)
	return r.hasAll(wanted[:len(wanted)-1]) && (named || slices.ContainsFunc(r.words(), begins))
}

func (m *model) similarRequests(w who, in, got object) (string, object) {
	text, _ := in["text"].(string)
	var a *app
	var but *request
	switch {
	case in["id"] != nil && in["app_id"] == nil && text == "":
		r := m.request(w.account, in["id"])
		if r == nil || r.binned {
			return "requests.not_found", nil
		}
		a, text, but = r.app, r.title, r
		if r.root != nil {
			but = r.root
		}
	case in["id"] == nil && in["app_id"] != nil && text != "":
		if a = m.app(w.account, in["app_id"]); a == nil {
			return "apps.not_found", nil
		}
	default:
		return "requests.invalid_text", nil
	}
	return "ok", m.alike(got, a, text, 10, func(r *request) bool { return r != but }, func(*request) bool { return true })
}

func (m *model) widgetSimilar(w who, in, got object) (string, object) {
	key, refusal := m.viewer(w, in)
	if refusal != "" {
		return refusal, nil
	}
	result := m.alike(got, w.app, in["text"].(string), 5, (*request).shared, (*request).sharedUnmerged)
	for _, shown := range result["requests"].([]object) {
		delete(shown, "score")
		r := find(m.requests, func(r *request) bool { return r.id == shown["id"] })
		shown["voted"] = r != nil && key != "" && m.people(r)[key] != nil
	}
	return "ok", result
}

// alike returns the expected result: the requests of the answer that are allowed, each once and
// with its present values. If a request that counts has exactly this title, the first score must be 1.
func (m *model) alike(got object, a *app, text string, most int, may, counts func(*request) bool) object {
	here := func(r *request) bool { return r.app == a && r.live() }
	shown, least := []object{}, 1.0
	list, _ := got["requests"].([]any)
	for _, one := range list[:min(len(list), most)] {
		one := one.(object)
		r := find(m.requests, func(r *request) bool { return r.id == one["id"] && here(r) && r.root == nil && may(r) })
		again := slices.ContainsFunc(shown, func(other object) bool { return other["id"] == one["id"] })
		if r != nil && !again && likeness(one) <= least && likeness(one) >= 0.25 {
			least = likeness(one)
			shown = append(shown, object{"id": r.id, "title": r.title, "status": r.status, "votes": r.votes, "score": one["score"]})
		}
	}
	same := find(m.requests, func(r *request) bool {
		root := r.whereItCounts()
		return here(r) && root != nil && r.title == text && may(root) && counts(r)
	})
	if same != nil && len(wordsIn(text)) > 0 && (len(shown) == 0 || likeness(shown[0]) < 1) {
		shown = append(shown, object{"missing": same.id})
	}
	return object{"requests": shown}
}

// likeness returns the score of a result, or 1 for users of the widget, who get no scores.
func likeness(shown object) float64 {
	score, ok := shown["score"].(json.Number)
	if !ok {
		return 1
	}
	n, _ := score.Float64()
	return n
}

// relevant returns a page in the order of relevance, which is that of the answer: the
// requests must be those that the other filters match. It says what is wrong otherwise.
func (m *model) relevant(w who, at place, got object) object {
	query, wide := at.filter["query"].(string), at.without("query")
	var may, all, titled []*request // those that may match, have all of the words, and have this title
	for _, r := range slices.Backward(m.requests) {
		if r.account != w.account || !wide.holds(r) || len(queried(query)) == 0 {
			continue
		}
		may = append(may, r)
		if r.hasAll(queried(query)) {
			all = append(all, r)
		}
		if strings.EqualFold(r.title, query) {
			titled = append(titled, r)
		}
	}
	var listed []*request
	list, _ := got["requests"].([]any)
	for _, one := range list {
		r := find(may, func(r *request) bool { return r.id == one.(object)["id"] && !slices.Contains(listed, r) })
		if r != nil {
			listed = append(listed, r)
		}
	}
	total, more, wrong := count(got["total_count"]), got["has_more"] == true, ""
	switch {
	case len(listed) < len(list) || len(list) > at.limit || more && len(list) < at.limit:
		wrong = "the requests"
	case total < len(all) || total < len(listed) || total > len(may):
		wrong = "the total"
	case at.after > 0: // scores may have changed since the page before
	case more != (total > at.limit) || !more && total != len(listed):
		wrong = "the end"
	case !more && slices.ContainsFunc(all, func(r *request) bool { return !slices.Contains(listed, r) }):
		wrong = "one with all of the words is missing"
	case !m.leads(titled, listed):
		wrong = "one with this title is not first"
	}
	shown, next := []object{}, ""
	for _, r := range listed {
		shown = append(shown, r.shown())
	}
	if more && wrong == "" {
		at.after = 1 + slices.Index(m.requests, listed[at.limit-1])
		at.afterKey, _ = got["next_cursor"].(string) // which stands for the score
		next = m.cursorTo(at, got)
	}
	result := object{"requests": shown, "next_cursor": next, "has_more": more, "total_count": total}
	if wrong != "" {
		result["wrong"] = wrong
	}
	return result
}

// leads reports whether a list begins with the requests that match best, the newest first,
// and others that share the first place and are newer.
func (m *model) leads(best, listed []*request) bool {
	for _, r := range listed {
		if len(best) == 0 {
			return true
		}
		if r == best[0] {
			best = best[1:]
		} else if m.older(r, best[0]) < 0 {
			return false
		}
	}
	return true
}

// hasAll reports whether a request has all of some words.
func (r *request) hasAll(wanted []string) bool {
	words := append(r.words(), r.submittedBy()...)
	return !slices.ContainsFunc(wanted, func(word string) bool { return !slices.Contains(words, word) })
}

// count returns a number of an answer.
func count(v any) int {
	n, _ := v.(json.Number)
	i, _ := n.Int64()
	return int(i)
}

// suggested returns did_you_mean of an answer if it can be one for the query.
func suggested(query string, got object) (string, bool) {
	meant, there := got["did_you_mean"].(string)
	words := wordsIn(meant)
	return meant, there && meant != query && len(words) > 0 && len(words) <= len(wordsIn(query)) && strings.Join(words, " ") == meant
}

// turnPages reads a list in the order of relevance in one piece and in pages: nothing is
// missing, and nothing is repeated.
func (m *machine) turnPages(c aCall) {
	c.body = ""
	read := func(limit string) (requests []any, total any) {
		c.in = maps.Clone(c.in)
		delete(c.in, "cursor")
		c.in["limit"] = number(limit)
		page := m.do(c)
		requests, _ = page["requests"].([]any)
		for page["has_more"] == true {
			next := object{"cursor": page["next_cursor"]}
			if voter, sent := c.in["voter"]; sent { // it says for whom to read, and not what
				next["voter"] = voter
			}
			page = m.do(aCall{operation: c.operation, who: c.who, in: next})
			more, _ := page["requests"].([]any)
			requests = append(requests, more...)
		}
		return requests, page["total_count"]
	}
	whole, total := read("200")
	if pages, again := read("2"); !reflect.DeepEqual(pages, whole) || again != total {
		m.t.Fatalf("%s: in pages\n%s (of %v) and in one piece\n%s (of %v)", c, text(pages), again, text(whole), total)
	}
}
