package api

import (
	"net/netip"
	"sync"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/search"
)

// widgetForm is what the widget says of its form. Without it nothing is judged: a
// customer's own backend has no form.
type widgetForm struct {
	Website string  `json:"website" maxLength:"1000" doc:"What stands in a field that people do not see."`
	Seconds float64 `json:"seconds" minimum:"0" doc:"How long the form was open."`
}

const (
	// leastSeconds is how long it takes at least to write an idea.
	leastSeconds = 2
	// A burst is as many texts alike from one address, for one app, within that time.
	burstSize = 3
	burstTime = 10 * time.Minute
	// alike is how much two texts have in common that say the same but for a few words.
	alike = 0.8

	burstTexts = 10   // that are remembered of an address
	burstRunes = 300  // of each
	maxSenders = 2000 // that are remembered: some 25 MiB at the very most
)

// spam reports whether a submission looks like a machine's. It is never refused for that:
// people decide.
func (a *API) spam(v visitor, form *widgetForm, r feedback.Request) bool {
	if form == nil {
		return false
	}
	again := a.bursts.again(v.from, v.app.ID, r.Title+" "+r.Description, a.Now())
	return form.Website != "" || form.Seconds < leastSeconds || again
}

// bursts remembers what addresses have sent just now, per process.
type bursts struct {
	mu      sync.Mutex
	senders map[sender][]sentText // the latest last
}

type sender struct {
	from  netip.Prefix
	appID feedback.ID
}

type sentText struct {
	at   time.Time
	text string
}

// again remembers a text and reports whether it is the third or a later one alike.
// Loopback peers are exempt, being a developer or a proxy on the same host.
func (b *bursts) again(from netip.Prefix, appID feedback.ID, text string, now time.Time) bool {
	if from.Addr().IsLoopback() {
		return false
	}
	if runes := []rune(text); len(runes) > burstRunes {
		text = string(runes[:burstRunes])
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	who := sender{from, appID}
	if b.senders[who] == nil {
		b.forget(now)
	}
	like := 1
	kept := make([]sentText, 0, burstTexts)
	for _, s := range b.senders[who] {
		if now.Sub(s.at).Abs() >= burstTime {
			continue
		}
		kept = append(kept, s)
		if search.Overlap(s.text, text) >= alike {
			like++
		}
	}
	kept = append(kept, sentText{now, text})
	b.senders[who] = kept[max(0, len(kept)-burstTexts):]
	return like >= burstSize
}

// forget makes room for one more sender.
func (b *bursts) forget(now time.Time) {
	if b.senders == nil {
		b.senders = map[sender][]sentText{}
	}
	if len(b.senders) < maxSenders {
		return
	}
	for who, texts := range b.senders {
		if now.Sub(texts[len(texts)-1].at).Abs() >= burstTime {
			delete(b.senders, who)
		}
	}
	for who := range b.senders {
		if len(b.senders) < maxSenders {
			break
		}
		delete(b.senders, who) // any: so many at once are no people
	}
}
