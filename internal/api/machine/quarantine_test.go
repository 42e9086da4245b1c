package machine

import (
	"strings"
	"time"
	"unicode"
)

// How the model detects spam, and what it answers to the operations on quarantine.

// submittedText is a text that was submitted by a form or a page, or a comment on a portal.
type submittedText struct {
	app      *app
	key      string // of idempotency
	at       time.Time
	trigrams map[string]bool
}

// spam reports whether a new request looks like spam.
func (m *model) spam(r *request, form any) bool {
	sent, judged := form.(object)
	if !judged && !r.ofPage {
		return false
	}
	burst := m.burst(&m.written, submittedText{r.app, r.idempotencyKey, m.now(), trigramsOf(r.title + "\n" + r.description)})
	website, _ := sent["website"].(string)
	seconds, timed := sent["seconds"].(float64)
	return website != "" || timed && seconds < 2 || burst
}

// burst adds a text to the earlier ones, and reports whether many of these are like it. All calls come from one
// address. A refused submission that is sent again with its idempotency key counts once.
func (m *model) burst(earlier *[]submittedText, text submittedText) bool {
	alike, again := 1, false
	for _, one := range *earlier {
		switch {
		case one.app != text.app || m.now().Sub(one.at) >= 10*time.Minute:
		case text.key != "" && one.key == text.key:
			again = true
		case similarity(one.trigrams, text.trigrams) >= 0.8:
			alike++
		}
	}
	if !again {
		*earlier = append(*earlier, text)
	}
	return alike >= 5
}

// trigramsOf returns the trigrams of the words of a text, or of the text itself if it has no
// words.
func trigramsOf(text string) map[string]bool {
	words := strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(text), "é", "e"), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	if len(words) > 0 {
		text = strings.Join(words, " ")
	}
	letters := []rune(" " + text + " ")
	trigrams := map[string]bool{}
	for i := range len(letters) - 2 {
		trigrams[string(letters[i:i+3])] = true
	}
	return trigrams
}

// similarity returns the Dice coefficient of two sets of trigrams.
func similarity(a, b map[string]bool) float64 {
	common := 0
	for trigram := range a {
		if b[trigram] {
			common++
		}
	}
	return 2 * float64(common) / float64(len(a)+len(b))
}

func (r *request) box() string {
	switch {
	case r.binned:
		return "bin"
	case r.quarantined:
		return "quarantine"
	}
	return "live"
}

// moved returns the kind of a change that moves a request from one box to another.
func moved(from, to string) string {
	if from == to {
		return "request.updated"
	}
	return map[string]string{
		"live to bin": "request.deleted", "bin to live": "request.restored",
		"quarantine to bin": "request.blocked", "quarantine to live": "request.released",
	}[from+" to "+to]
}

func (m *model) releaseRequest(w who, in, _ object) (string, object) {
	r := m.request(w.account, in["id"])
	if r == nil || r.binned {
		return "requests.not_found", nil
	}
	m.changeRequest(w, r, "request.released", func(r *request) { r.quarantined = false })
	return "ok", object{"request": r.shown()}
}

func (m *model) blockRequest(w who, in, _ object) (string, object) {
	r := m.request(w.account, in["id"])
	switch {
	case r == nil, r.binned:
		return "requests.not_found", nil
	case !r.quarantined:
		return "requests.not_quarantined", nil
	}
	m.changeRequest(w, r, "request.blocked", func(r *request) { r.binned, r.quarantined = true, false })
	return "ok", object{"deleted": true, "id": r.id}
}
