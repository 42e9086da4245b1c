package api

import (
	"math"
	"net/netip"
	"strings"
	"sync"
	"time"

	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
)

// addressOf returns the address of the client: the peer of the connection, or the address
// that a trusted proxy forwards. Proxies append to X-Forwarded-For, so it is read from the
// right, up to the first address that is not a trusted proxy.
func addressOf(peer netip.Addr, forwardedFor []string, trusted []netip.Prefix) netip.Addr {
	address := peer.Unmap()
	hops := strings.Split(strings.Join(forwardedFor, ","), ",")
	for i := len(hops) - 1; i >= 0 && fair.Within(address, trusted); i-- {
		hop := strings.TrimSpace(hops[i])
		next, err := netip.ParseAddr(hop)
		if err != nil {
			withPort, err := netip.ParseAddrPort(hop)
			if err != nil {
				break
			}
			next = withPort.Addr()
		}
		address = next.Unmap().WithZone("")
	}
	return address
}

// rates are the limits on calls with an API key, which all follow from the number of submissions per
// minute and address, and on calls with a token.
type rates struct {
	submits  *rate[netip.Prefix] // submissions and announced files
	files    *rate[netip.Prefix] // bytes of announced files
	votes    *rate[netip.Prefix]
	searches *rate[netip.Prefix] // for similar requests
	keyed    *rate[netip.Prefix] // all calls with an API key, successful or not
	tokens   *rate[holder]
	sends    *rate[holder] // calls of endpoints that callers wait for
}

// newRates returns the limits for a number of submissions per minute; 0 = no limits for addresses.
func newRates(submits int) rates {
	most := int64(submits)
	return rates{
		submits:  addressRate(most, time.Minute),
		files:    addressRate(most*feedback.MaxUpload, 24*time.Hour),
		votes:    addressRate(most, time.Minute),
		searches: addressRate(most, time.Minute),
		keyed:    addressRate(most*keyedPerSubmit, time.Minute),
		tokens:   holderRate(callsPerToken),
		sends:    holderRate(sendsOfAccount),
	}
}

// holderRate returns a limit per minute.
func holderRate(most int64) *rate[holder] {
	return &rate[holder]{
		most: most, window: time.Minute,
		coarser: func(of holder, _ int) holder { return holder{account: of.account} },
		exempt:  func(holder) bool { return false },
	}
}

// addressRate returns a limit per address. Loopback addresses are exempt: they belong to a developer or
// to a proxy on the same host.
func addressRate(most int64, window time.Duration) *rate[netip.Prefix] {
	return &rate[netip.Prefix]{
		most: most, window: window, coarser: coarserAddress, exempt: func(from netip.Prefix) bool { return from.Addr().IsLoopback() },
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

// callsPerToken is how many calls a minute a token may send to a process.
const callsPerToken = 600

// keyedPerSubmit is the ratio of the limit on all calls with an API key to the limit on
// submissions. It allows for loading the widget's configuration, repeated submissions and
// errors, and limits the database reads that a stranger can cause.
const keyedPerSubmit = 5

// maxCounted is the number of keys that a rate counts separately in a window. For addresses, they take
// about 3 MiB. One client can have very many IPv6 addresses.
const maxCounted = 1 << 15

// rate is a sliding-window rate limit per key and process. It counts in fixed windows and weights the
// count of the previous window by the share of it that is still within the sliding window.
type rate[K comparable] struct {
	most   int64 // per window; 0 = no limit
	window time.Duration
	// coarser returns the key that a key shares a counter with when many keys are in use (level 1), and
	// when too many are (level 2).
	coarser func(of K, level int) K
	exempt  func(K) bool

	mu                sync.Mutex
	number            int64 // number of the current window since the epoch
	current, previous map[K]int64
}

// allow counts n events, or returns ErrRateLimited. n must not exceed most.
func (r *rate[K]) allow(key K, n int64, now time.Time) error {
	if r.most <= 0 || r.exempt(key) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	number := now.UnixNano() / int64(r.window)
	switch {
	case number == r.number+1:
		r.previous, r.current = r.current, map[K]int64{}
	case number != r.number:
		r.previous, r.current = nil, map[K]int64{}
	}
	r.number = number
	key = r.counter(key)
	left := r.window - time.Duration(now.UnixNano()-number*int64(r.window))
	weighted := math.Ceil(float64(r.previous[key]) * float64(left) / float64(r.window))
	if int64(weighted)+r.current[key]+n > r.most {
		return feedback.ErrRateLimited.After(r.wait(key, n, left))
	}
	r.current[key] += n
	return nil
}

// counter returns the key by which a key is counted: itself, or a coarser one when half of maxCounted
// are in use, or the coarsest when all are. This limits the memory without exempting anybody. If one
// network has very many addresses, they share a counter before those of other networks do.
func (r *rate[K]) counter(key K) K {
	if _, known := r.current[key]; known || len(r.current) < maxCounted/2 {
		return key
	}
	shared := r.coarser(key, 1)
	if _, known := r.current[shared]; known || len(r.current) < maxCounted {
		return shared
	}
	return r.coarser(key, 2)
}

// wait returns the time until n more events are allowed, if left is what remains of the
// window. The weight of the previous window decreases in the course of this one. If the
// current count alone exceeds the limit, the same applies to the next window.
func (r *rate[K]) wait(key K, n int64, left time.Duration) time.Duration {
	free, weighted, until := r.most-n-r.current[key], r.previous[key], left
	if free < 0 {
		free, weighted, until = r.most-n, r.current[key], left+r.window
	}
	return until - time.Duration(float64(r.window)*float64(free)/float64(weighted))
}
