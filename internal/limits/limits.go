// Package limits says how often somebody may call. Most limits follow from the number of submissions per minute
// and address.
package limits

import (
	"net/netip"
	"time"

	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
	"gatherkit/internal/rate"
)

// Holder is a session or a token, with its account.
type Holder struct{ Account, Session feedback.ID }

// Rates are the limits on calls with an API key, which all follow from the number of submissions per
// minute and address, and on calls with a token.
type Rates struct {
	Submits  *rate.Limit[netip.Prefix] // submissions and announced files
	Files    *rate.Limit[netip.Prefix] // bytes of announced files
	Votes    *rate.Limit[netip.Prefix]
	Searches *rate.Limit[netip.Prefix] // for similar requests
	Entries  *rate.Limit[netip.Prefix] // pages of changelogs
	Mine     *rate.Limit[netip.Prefix] // calls about what a person asked for
	Asks     Asks
	Keyed    *rate.Limit[netip.Prefix] // all calls with an API key, successful or not
	Tokens   *rate.Limit[Holder]
	Sends    *rate.Limit[Holder] // calls of endpoints that callers wait for
}

// New returns the limits for a number of submissions per minute; 0 = no limits for addresses.
func New(submits int) Rates {
	most := int64(submits)
	return Rates{
		Submits:  rate.ByAddress(most, time.Minute),
		Files:    rate.ByAddress(most*feedback.MaxUpload, 24*time.Hour),
		Votes:    rate.ByAddress(most, time.Minute),
		Searches: rate.ByAddress(most, time.Minute),
		Entries:  rate.ByAddress(most, time.Minute),
		Mine:     rate.ByAddress(most, time.Minute),
		Asks:     newAsks(submits),
		Keyed:    rate.ByAddress(most*KeyedPerSubmit, time.Minute),
		Tokens:   holderRate(CallsPerToken),
		Sends:    holderRate(sendsPerAccount),
	}
}

// holderRate returns a limit per minute.
func holderRate(most int64) *rate.Limit[Holder] {
	return &rate.Limit[Holder]{
		Most: most, Window: time.Minute,
		Coarser: func(of Holder, _ int) Holder { return Holder{Account: of.Account} },
		Exempt:  func(Holder) bool { return false },
	}
}

// sendsPerAccount is how many calls of endpoints, and mails with links, an account may cause a minute.
const sendsPerAccount = 10

// CallsPerToken is how many calls a minute a token may send to a process.
const CallsPerToken = 600

// KeyedPerSubmit is the ratio of the limit on all calls with an API key to the limit on
// submissions. It allows for loading the widget's configuration, repeated submissions and
// errors, and limits the database reads that a stranger can cause.
const KeyedPerSubmit = 5

// Asks limits the submissions whose sender wants e-mail and is not verified: each can cause a mail that asks an address
// to confirm.
type Asks struct{ address, network *rate.Limit[netip.Prefix] }

// An address and a network may cause so many of these mails an hour.
const (
	asksPerAddress = 20
	asksPerNetwork = 60
)

func newAsks(submits int) Asks {
	if submits == 0 {
		return Asks{rate.ByAddress(0, time.Hour), rate.ByAddress(0, time.Hour)}
	}
	return Asks{rate.ByAddress(asksPerAddress, time.Hour), rate.ByAddress(asksPerNetwork, time.Hour)}
}

// Allow counts a submission. It returns ErrRateLimited.
func (a Asks) Allow(from netip.Prefix, now time.Time) error {
	if err := a.address.Allow(from, 1, now); err != nil {
		return err
	}
	return a.network.Allow(fair.Network(from), 1, now)
}
