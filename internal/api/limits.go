package api

import (
	"net/netip"
	"time"

	"gatherkit/internal/feedback"
	"gatherkit/internal/rate"
)

// rates are the limits on calls with an API key, which all follow from the number of submissions per
// minute and address, and on calls with a token.
type rates struct {
	submits  *rate.Limit[netip.Prefix] // submissions and announced files
	files    *rate.Limit[netip.Prefix] // bytes of announced files
	votes    *rate.Limit[netip.Prefix]
	searches *rate.Limit[netip.Prefix] // for similar requests
	mine     *rate.Limit[netip.Prefix] // calls about what a person asked for
	keyed    *rate.Limit[netip.Prefix] // all calls with an API key, successful or not
	tokens   *rate.Limit[holder]
	sends    *rate.Limit[holder] // calls of endpoints that callers wait for
}

// newRates returns the limits for a number of submissions per minute; 0 = no limits for addresses.
func newRates(submits int) rates {
	most := int64(submits)
	return rates{
		submits:  rate.ByAddress(most, time.Minute),
		files:    rate.ByAddress(most*feedback.MaxUpload, 24*time.Hour),
		votes:    rate.ByAddress(most, time.Minute),
		searches: rate.ByAddress(most, time.Minute),
		mine:     rate.ByAddress(most, time.Minute),
		keyed:    rate.ByAddress(most*keyedPerSubmit, time.Minute),
		tokens:   holderRate(callsPerToken),
		sends:    holderRate(sendsOfAccount),
	}
}

// holderRate returns a limit per minute.
func holderRate(most int64) *rate.Limit[holder] {
	return &rate.Limit[holder]{
		Most: most, Window: time.Minute,
		Coarser: func(of holder, _ int) holder { return holder{account: of.account} },
		Exempt:  func(holder) bool { return false },
	}
}

// callsPerToken is how many calls a minute a token may send to a process.
const callsPerToken = 600

// keyedPerSubmit is the ratio of the limit on all calls with an API key to the limit on
// submissions. It allows for loading the widget's configuration, repeated submissions and
// errors, and limits the database reads that a stranger can cause.
const keyedPerSubmit = 5
