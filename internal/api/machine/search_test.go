package machine

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// What the model answers to searches by words. It does not calculate the scores. The two
// databases must agree on them, and the model checks which requests are in the result.

// index brings the index of words up to date, because answers depend on it.
func (m *machine) index() {
	m.each(func(_ int, s *service) { s.index(m.t) })
}

// searches reports whether a call reads the index.
func (m *machine) searches(c aCall) bool {
	filter, _ := c.in["filter"].(object)
	from := find(m.cursors, func(p *place) bool { return p.text == c.in["cursor"] })
	return strings.Contains(c.operation, "similar") || c.in["query"] != nil || filter["query"] != nil ||
		from != nil && from.filter["query"] != nil
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

// found reports whether a request has all words of a query. The last one may be the
// beginning of a word.
func (r *request) found(query string) bool {
	words, wanted := r.words(), wordsIn(query)
	for i, word := range wanted {
		there := slices.Contains(words, word)
		if i == len(wanted)-1 {
			there = slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, word) })
		}
		if !there {
			return false
		}
	}
	return len(wanted) > 0
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
	return "ok", m.alike(got, a, text, 10, func(r *request) bool { return r != but })
}

func (m *model) widgetSimilar(w who, in, got object) (string, object) {
	if !w.app.allows(w.origin) {
		return "widget.origin_not_allowed", nil
	}
	result := m.alike(got, w.app, in["text"].(string), 5, (*request).shared)
	for _, shown := range result["requests"].([]object) {
		delete(shown, "score")
	}
	return "ok", result
}

// alike returns the expected result: the requests of the answer that are allowed, each once and
// with its present values. If a request has exactly this title, the first score must be 1.
func (m *model) alike(got object, a *app, text string, most int, may func(*request) bool) object {
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
		return here(r) && root != nil && r.title == text && may(root)
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
