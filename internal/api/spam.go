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
	// leastSeconds is how long people take at least to fill in a form.
	leastSeconds = 2
	// nearDuplicate is how far the letters of two texts agree when one was made of the other.
	nearDuplicate = 0.8
	// burstSize is how many near-duplicates from one address within burstTime are a burst.
	// Colleagues who ask for the same share an address, too.
	burstSize = 5
	burstTime = 10 * time.Minute
	// maxWritten is how many texts are remembered in a generation, which takes about 5 MiB.
	maxWritten = 4096
	// maxWrittenOfOne is how many of them may be of one writer, so that a single one neither
	// fills the memory nor has much to be compared with.
	maxWrittenOfOne = 32
)

// formParams is what the widget says of its form.
type formParams struct {
	Website string   `json:"website,omitempty" lines:"many" doc:"What stands in the field that people do not see: only programs fill it in."`
	Seconds *float64 `json:"seconds,omitempty" minimum:"0" doc:"For how long the form was open."`
}

// looksLikeSpam judges a submission that comes from a form, or from a page that does not say
// so: only a backend is not judged. What falls into a trap counts towards a burst, too.
func (a *API) looksLikeSpam(v visitor, in widgetSubmitRequestParams) bool {
	if in.Form == nil && v.origin == "" {
		return false
	}
	trapped := in.Form != nil && (in.Form.Website != "" || in.Form.Seconds != nil && *in.Form.Seconds < leastSeconds)
	text := written{at: a.Now(), key: in.IdempotencyKey, text: search.NewSketch(in.Title + "\n" + in.Description)}
	return a.bursts.goOn(writer{v.from, v.app.ID}, text) || trapped
}

// writer is who writes, as far as is known: whoever has the address.
type writer struct {
	from netip.Prefix
	app  feedback.ID
}

// written is what came from a writer. It has the key of idempotency because a submission
// that could not be stored is sent again.
type written struct {
	at   time.Time
	key  string
	text search.Sketch
}

// bursts remembers, per process, what was written within the last ten minutes. It holds
// two generations, of which the older is dropped when the younger is ten minutes old or
// full, so it forgets on its own.
type bursts struct {
	mu             sync.Mutex
	began          time.Time
	n              int // texts in young
	young, elderly map[writer][]written
}

// goOn remembers a text and reports whether it belongs to a burst. Loopback peers are
// exempt, as in rate.
func (b *bursts) goOn(by writer, w written) bool {
	if by.from.Addr().IsLoopback() {
		return false
	}
	alike := 1
	for _, earlier := range b.remember(by, w) {
		if earlier.text.Like(w.text) >= nearDuplicate {
			alike++
		}
	}
	return alike >= burstSize
}

// remember adds a text and returns the others of the writer.
func (b *bursts) remember(by writer, w written) []written {
	b.mu.Lock()
	defer b.mu.Unlock()
	if age := w.at.Sub(b.began); age < 0 || age >= burstTime || b.n >= maxWritten {
		b.elderly, b.young, b.n, b.began = b.young, map[writer][]written{}, 0, w.at
	}
	again := false
	others := slices.DeleteFunc(slices.Concat(b.elderly[by], b.young[by]), func(earlier written) bool {
		old := w.at.Sub(earlier.at) >= burstTime
		same := !old && w.key != "" && w.key == earlier.key
		again = again || same
		return old || same
	})
	if again {
		return others
	}
	mine := b.young[by]
	if len(mine) == maxWrittenOfOne {
		mine = slices.Delete(mine, 0, 1)
	} else {
		b.n++
	}
	b.young[by] = append(mine, w)
	return others
}
