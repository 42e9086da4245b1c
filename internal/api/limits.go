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

// addressOf is the address that a call counts under: the socket's peer, or what a
// trusted proxy says about it. Proxies append to X-Forwarded-For, so it is read
// from the right, up to the first address that is not a trusted proxy.
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

// rates are the limits on calls with an API key. All go by how many submissions an
// address may make in a minute.
type rates struct {
	submits  *rate // submissions and announced files
	files    *rate // bytes of announced files
	votes    *rate
	searches *rate // for similar requests
	keyed    *rate // all calls with an API key, whatever their outcome
}

// newRates returns the limits for so many submissions a minute; 0 = no limits.
func newRates(submits int) rates {
	most := int64(submits)
	perMinute := func(most int64) *rate { return &rate{most: most, window: time.Minute} }
	return rates{
		perMinute(most), &rate{most: most * feedback.MaxUpload, window: 24 * time.Hour}, perMinute(most), perMinute(most),
		perMinute(most * keyedPerSubmit),
	}
}

// keyedPerSubmit is how many calls with an API key an address may make for each
// submission that it may make. That leaves room for the widget's configuration,
// repeated submissions and faults, and bounds what a stranger can make the service read.
const keyedPerSubmit = 5

// maxCounted is how many addresses a rate counts on their own in its window, which takes
// about 3 MiB. One caller can have a great many of IPv6.
const maxCounted = 1 << 15

// rate limits how much may happen in a window of time, by address and per process. It
// counts in whole windows and weighs the window before by how much of it still lies
// within the last one's length, so it forgets on its own.
type rate struct {
	most   int64 // in each window; 0 = no limit
	window time.Duration

	mu                sync.Mutex
	number            int64 // of the current window since the epoch
	current, previous map[netip.Prefix]int64
}

// allow counts n more or refuses with ErrRateLimited. n must not exceed most. Loopback
// peers are exempt, being a developer or a proxy on the same host.
func (r *rate) allow(from netip.Prefix, n int64, now time.Time) error {
	if r.most <= 0 || from.Addr().IsLoopback() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	number := now.UnixNano() / int64(r.window)
	switch {
	case number == r.number+1:
		r.previous, r.current = r.current, map[netip.Prefix]int64{}
	case number != r.number:
		r.previous, r.current = nil, map[netip.Prefix]int64{}
	}
	r.number = number
	from = r.counted(from)
	left := r.window - time.Duration(now.UnixNano()-number*int64(r.window))
	past := math.Ceil(float64(r.previous[from]) * float64(left) / float64(r.window))
	if int64(past)+r.current[from]+n > r.most {
		return feedback.ErrRateLimited.After(r.wait(from, n, left))
	}
	r.current[from] += n
	return nil
}

// counted returns what an address is counted by: itself while there is room, then its
// network, and at last 16 bits of IPv4 or 32 of IPv6. So a network with very many
// addresses uses up the room of its own network first, memory stays bounded, and
// nobody's limit is lifted.
func (r *rate) counted(from netip.Prefix) netip.Prefix {
	if _, known := r.current[from]; known || len(r.current) < maxCounted/2 {
		return from
	}
	network := fair.Network(from)
	if _, known := r.current[network]; known || len(r.current) < maxCounted {
		return network
	}
	bits := 32
	if from.Addr().Is4() {
		bits = 16
	}
	return netip.PrefixFrom(from.Addr(), bits).Masked()
}

// wait is the time until n more are allowed, when so much of the window is left. What
// weighs is the window before, in whose course its share goes down; when this window is
// full on its own, that is the next one.
func (r *rate) wait(from netip.Prefix, n int64, left time.Duration) time.Duration {
	room, weighs, until := r.most-n-r.current[from], r.previous[from], left
	if room < 0 {
		room, weighs, until = r.most-n, r.current[from], left+r.window
	}
	return until - time.Duration(float64(r.window)*float64(room)/float64(weighs))
}
