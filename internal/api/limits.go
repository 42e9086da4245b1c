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

// keyedPerSubmit is how many calls with an API key an address may make for each
// submission that it may make. That leaves room for the widget's configuration,
// repeated submissions and faults, and bounds what a stranger can make the service read.
const keyedPerSubmit = 5

// maxCounted is how many addresses a rate counts on their own in a minute, which takes
// about 3 MiB. One caller can have a great many of IPv6.
const maxCounted = 1 << 15

// rate limits how often something may happen in a minute, by address and per
// process. It counts in whole minutes and weighs the minute before by how much of
// it still lies within the last sixty seconds, so it forgets on its own.
type rate struct {
	perMinute int // 0 = no limit

	mu                sync.Mutex
	minute            int64
	current, previous map[netip.Prefix]int
}

// allow counts one more or refuses with ErrRateLimited. Loopback peers are exempt,
// being a developer or a proxy on the same host.
func (r *rate) allow(from netip.Prefix, now time.Time) error {
	if r.perMinute <= 0 || from.Addr().IsLoopback() {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	minute := now.Unix() / 60
	switch {
	case minute == r.minute+1:
		r.previous, r.current = r.current, map[netip.Prefix]int{}
	case minute != r.minute:
		r.previous, r.current = nil, map[netip.Prefix]int{}
	}
	r.minute = minute
	from = r.counted(from)
	left := time.Minute - time.Duration(now.UnixNano()-minute*int64(time.Minute))
	past := math.Ceil(float64(r.previous[from]) * float64(left) / float64(time.Minute))
	if int(past)+r.current[from] >= r.perMinute {
		return feedback.ErrRateLimited.After(r.wait(from, left))
	}
	r.current[from]++
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

// wait is the time until one more is allowed, when so much of the minute is left.
// What weighs is the minute before, in whose course its share goes down; when this
// minute is full on its own, that is the next one.
func (r *rate) wait(from netip.Prefix, left time.Duration) time.Duration {
	room, weighs, until := r.perMinute-1-r.current[from], r.previous[from], left
	if room < 0 {
		room, weighs, until = r.perMinute-1, r.current[from], left+time.Minute
	}
	return until - time.Duration(float64(time.Minute)*float64(room)/float64(weighs))
}
