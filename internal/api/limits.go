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

// rates are the limits on calls with an API key. All of them follow from the number of
// submissions per minute and address.
type rates struct {
	submits  *rate // submissions and announced files
	files    *rate // bytes of announced files
	votes    *rate
	searches *rate // for similar requests
	keyed    *rate // all calls with an API key, successful or not
}

// newRates returns the limits for a number of submissions per minute; 0 = no limits.
func newRates(submits int) rates {
	most := int64(submits)
	perMinute := func(most int64) *rate { return &rate{most: most, window: time.Minute} }
	return rates{
		perMinute(most), &rate{most: most * feedback.MaxUpload, window: 24 * time.Hour}, perMinute(most), perMinute(most),
		perMinute(most * keyedPerSubmit),
	}
}

// keyedPerSubmit is the ratio of the limit on all calls with an API key to the limit on
// submissions. It allows for loading the widget's configuration, repeated submissions and
// errors, and limits the database reads that a stranger can cause.
const keyedPerSubmit = 5

// maxCounted is the number of addresses that a rate counts separately in a window, which
// take about 3 MiB. One client can have very many IPv6 addresses.
const maxCounted = 1 << 15

// rate is a sliding-window rate limit per address and process. It counts in fixed windows
// and weights the count of the previous window by the share of it that is still within the
// sliding window.
type rate struct {
	most   int64 // per window; 0 = no limit
	window time.Duration

	mu                sync.Mutex
	number            int64 // number of the current window since the epoch
	current, previous map[netip.Prefix]int64
}

// allow counts n events, or returns ErrRateLimited. n must not exceed most. Loopback
// addresses are exempt: they belong to a developer or to a proxy on the same host.
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
	from = r.counterKey(from)
	left := r.window - time.Duration(now.UnixNano()-number*int64(r.window))
	weighted := math.Ceil(float64(r.previous[from]) * float64(left) / float64(r.window))
	if int64(weighted)+r.current[from]+n > r.most {
		return feedback.ErrRateLimited.After(r.wait(from, n, left))
	}
	r.current[from] += n
	return nil
}

// counterKey returns the prefix by which an address is counted: itself, or its network when
// half of maxCounted are in use, or an IPv4 /16 or IPv6 /32 when all are. This limits the
// memory without exempting anybody. If one network has very many addresses, they share a
// counter before those of other networks do.
func (r *rate) counterKey(from netip.Prefix) netip.Prefix {
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

// wait returns the time until n more events are allowed, if left is what remains of the
// window. The weight of the previous window decreases in the course of this one. If the
// current count alone exceeds the limit, the same applies to the next window.
func (r *rate) wait(from netip.Prefix, n int64, left time.Duration) time.Duration {
	free, weighted, until := r.most-n-r.current[from], r.previous[from], left
	if free < 0 {
		free, weighted, until = r.most-n, r.current[from], left+r.window
	}
	return until - time.Duration(float64(r.window)*float64(free)/float64(weighted))
}
