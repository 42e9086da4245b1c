package api

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/search"
)

const (
	// minSeconds is the time that people take at least to fill in a form.
	minSeconds = 2
	// nearDuplicate is the minimum similarity of two texts that count as nearly the same.
	nearDuplicate = 0.8
	// burstSize is the number of near-duplicates from one sender within burstTime that are
	// a burst. Fewer may come from colleagues who share an address.
	burstSize = 5
	burstTime = 10 * time.Minute
	// maxTexts is the number of texts per generation, which take about 5 MiB.
	maxTexts = 4096
	// maxTextsOfOne is the number of texts per sender and generation. It keeps one sender from
	// filling the memory and limits the number of comparisons.
	maxTextsOfOne = 32
)

// formParams describe how the form was filled in.
type formParams struct {
	Website string   `json:"website,omitempty" lines:"many" doc:"Content of a hidden field, which only programs fill in."`
	Seconds *float64 `json:"seconds,omitempty" minimum:"0" doc:"How long the form was open."`
}

// looksLikeSpam reports whether a submission that a form or a page sent looks like spam. It
// returns false for submissions of backends. Submissions with a filled hidden field and
// those that were too fast count towards a burst as well.
func (a *API) looksLikeSpam(v visitor, in widgetSubmitRequestParams) bool {
	if in.Form == nil && v.origin == "" {
		return false
	}
	suspicious := in.Form != nil && (in.Form.Website != "" || in.Form.Seconds != nil && *in.Form.Seconds < minSeconds)
	text := sentText{at: a.Now(), key: in.IdempotencyKey, sketch: search.NewSketch(in.Title + "\n" + in.Description)}
	return a.bursts.add(sender{v.from, v.app.ID}, text) || suspicious
}

// sender is an address that sends submissions to an app.
type sender struct {
	from netip.Prefix
	app  feedback.ID
}

// sentText is the text of a submission. It includes the idempotency key, because a
// submission that could not be stored is sent again.
type sentText struct {
	at     time.Time
	key    string
	sketch search.Sketch
}

// bursts detects bursts of similar texts, per process. It keeps the texts of two
// generations. When the current one is ten minutes old or full, the previous one is
// dropped.
type bursts struct {
	mu                sync.Mutex
	began             time.Time // start of the current generation
	n                 int       // texts in current
	current, previous map[sender][]sentText
}

// add adds a text and reports whether it belongs to a burst. Loopback addresses are exempt,
// as in rate.
func (b *bursts) add(by sender, text sentText) bool {
	if by.from.Addr().IsLoopback() {
		return false
	}
	similar := 1
	for _, other := range b.remember(by, text) {
		if other.sketch.Like(text.sketch) >= nearDuplicate {
			similar++
		}
	}
	return similar >= burstSize
}

// remember adds a text and returns the sender's other texts of the last ten minutes. A text
// with a known idempotency key is a repeated submission and is not added again.
func (b *bursts) remember(by sender, text sentText) []sentText {
	b.mu.Lock()
	defer b.mu.Unlock()
	if age := text.at.Sub(b.began); age < 0 || age >= burstTime || b.n >= maxTexts {
		b.previous, b.current, b.n, b.began = b.current, map[sender][]sentText{}, 0, text.at
	}
	repeated := false
	others := slices.DeleteFunc(slices.Concat(b.previous[by], b.current[by]), func(other sentText) bool {
		old := text.at.Sub(other.at) >= burstTime
		same := !old && text.key != "" && text.key == other.key
		repeated = repeated || same
		return old || same
	})
	if repeated {
		return others
	}
	texts := b.current[by]
	if len(texts) == maxTextsOfOne {
		texts = slices.Delete(texts, 0, 1)
	} else {
		b.n++
	}
	b.current[by] = append(texts, text)
	return others
}
