// Package rate limits how often somebody calls.
package rate

import (
	"math"
	"net/netip"
	"sync"
	"time"

	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
)

// MaxCounted is the number of keys that a limit counts separately in a window. For addresses, they take
// about 3 MiB. One client can have very many IPv6 addresses.
const MaxCounted = 1 << 15

// Limit is a sliding-window rate limit per key and process. It counts in fixed windows and weights the
// count of the previous window by the share of it that is still within the sliding window.
type Limit[K comparable] struct {
	Most   int64 // per window; 0 = no limit
	Window time.Duration
	// Coarser returns the key that a key shares a counter with when many keys are in use (level 1), and
	// when too many are (level 2).
	Coarser func(of K, level int) K
	Exempt  func(K) bool
	Says    string // the message of the error; "" for that of ErrRateLimited

	mu                sync.Mutex
	number            int64 // number of the current window since the epoch
	current, previous map[K]int64
}

// Counted returns how many keys have a counter in this window.
func (r *Limit[K]) Counted() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.current)
}

// Allow counts n events, or returns ErrRateLimited. n must not exceed Most.
func (r *Limit[K]) Allow(key K, n int64, now time.Time) error {
	if r.Most <= 0 || r.Exempt(key) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	number := now.UnixNano() / int64(r.Window)
	switch {
	case number == r.number+1:
		r.previous, r.current = r.current, map[K]int64{}
	case number != r.number:
		r.previous, r.current = nil, map[K]int64{}
	}
	r.number = number
	key = r.counter(key)
	left := r.Window - time.Duration(now.UnixNano()-number*int64(r.Window))
	weighted := math.Ceil(float64(r.previous[key]) * float64(left) / float64(r.Window))
	if int64(weighted)+r.current[key]+n > r.Most {
		err := feedback.ErrRateLimited.After(r.wait(key, n, left))
		if r.Says != "" {
			err = err.With("%s", r.Says)
		}
		return err
	}
	r.current[key] += n
	return nil
}

// counter returns the key by which a key is counted: itself, or a coarser one when half of MaxCounted
// are in use, or the coarsest when all are. This limits the memory without exempting anybody. If one
// network has very many addresses, they share a counter before those of other networks do.
func (r *Limit[K]) counter(key K) K {
	if _, known := r.current[key]; known || len(r.current) < MaxCounted/2 {
		return key
	}
	shared := r.Coarser(key, 1)
	if _, known := r.current[shared]; known || len(r.current) < MaxCounted {
		return shared
	}
	return r.Coarser(key, 2)
}

// wait returns the time until n more events are allowed, if left is what remains of the
// window. The weight of the previous window decreases in the course of this one. If the
// current count alone exceeds the limit, the same applies to the next window.
func (r *Limit[K]) wait(key K, n int64, left time.Duration) time.Duration {
	free, weighted, until := r.Most-n-r.current[key], r.previous[key], left
	if free < 0 {
		free, weighted, until = r.Most-n, r.current[key], left+r.Window
	}
	return until - time.Duration(float64(r.Window)*float64(free)/float64(weighted))
}

// ByAddress returns a limit per address. Loopback addresses are exempt: they belong to a developer or
// to a proxy on the same host.
func ByAddress(most int64, window time.Duration) *Limit[netip.Prefix] {
	return &Limit[netip.Prefix]{
		Most: most, Window: window, Coarser: coarserAddress, Says: "Too many calls from your address; try again later.",
		Exempt: func(from netip.Prefix) bool { return from.Addr().IsLoopback() },
	}
}

// coarserAddress returns the network of an address, or its IPv4 /16 or IPv6 /32.
func coarserAddress(from netip.Prefix, level int) netip.Prefix {
	if level == 1 {
		return fair.Network(from)
	}
	bits := 32
	if from.Addr().Is4() {
		bits = 16
	}
	return netip.PrefixFrom(from.Addr(), bits).Masked()
}
