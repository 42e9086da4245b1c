// Package spam tells a burst of nearly the same text from what many people say alike.
package spam

import (
	"net/netip"
	"slices"
	"sync"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/search"
)

const (
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

// Sender is an address that sends submissions to an app.
type Sender struct {
	From netip.Prefix
	App  feedback.ID
}

// Text is the text of a submission. It includes the idempotency key, because a
// submission that could not be stored is sent again.
type Text struct {
	At     time.Time
	Key    string
	Sketch search.Sketch
}

// Bursts detects bursts of similar texts, per process. It keeps the texts of two generations. When
// the current one is ten minutes old or full, the previous one is dropped. Its methods are safe for
// concurrent use, and the zero value is ready.
type Bursts struct {
	mu                sync.Mutex
	began             time.Time // start of the current generation
	n                 int       // texts in current
	current, previous map[Sender][]Text
}

// Add adds a text and reports whether it belongs to a burst. Loopback addresses are exempt,
// as from other limits.
func (b *Bursts) Add(by Sender, text Text) bool {
	if by.From.Addr().IsLoopback() {
		return false
	}
	similar := 1
	for _, other := range b.remember(by, text) {
		if other.Sketch.Like(text.Sketch) >= nearDuplicate {
			similar++
		}
	}
	return similar >= burstSize
}

// remember adds a text and returns the sender's other texts of the last ten minutes. A text
// with a known idempotency key is a repeated submission and is not added again.
func (b *Bursts) remember(by Sender, text Text) []Text {
	b.mu.Lock()
	defer b.mu.Unlock()
	if age := text.At.Sub(b.began); age < 0 || age >= burstTime || b.n >= maxTexts {
		b.previous, b.current, b.n, b.began = b.current, map[Sender][]Text{}, 0, text.At
	}
	repeated := false
	others := slices.DeleteFunc(slices.Concat(b.previous[by], b.current[by]), func(other Text) bool {
		old := text.At.Sub(other.At) >= burstTime
		same := !old && text.Key != "" && text.Key == other.Key
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
