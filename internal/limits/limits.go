// Package limits says how often somebody may call. Most limits follow from the number of submissions per minute
// and address.
package limits

import (
	"fmt"
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
	Sessions *rate.Limit[Holder]
	Made     *rate.Limit[Holder] // tokens that a user creates
	Sends    *rate.Limit[Holder] // calls of endpoints that callers wait for, and mails with links
	Rewinds  *rate.Limit[Holder] // of webhooks
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
		Tokens:   holderRate(CallsPerToken, time.Minute, "A token can make %d calls a minute; try again later."),
		Sessions: holderRate(CallsPerSession, time.Minute, "A session can make %d calls a minute; try again later."),
		Made:     holderRate(tokensPerUser, time.Hour, "A user can create %d tokens an hour; try again later."),
		Sends:    holderRate(sendsPerAccount, time.Minute, "An account can send %d links or test events a minute; try again later."),
		Rewinds:  holderRate(rewindsPerAccount, time.Hour, "An account can rewind webhooks %d times an hour; try again later."),
	}
}

// holderRate returns a limit whose error says it.
func holderRate(most int64, window time.Duration, says string) *rate.Limit[Holder] {
	return &rate.Limit[Holder]{
		Most: most, Window: window, Says: fmt.Sprintf(says, most),
		Coarser: func(of Holder, _ int) Holder { return Holder{Account: of.Account} },
		Exempt:  func(Holder) bool { return false },
	}
}

const (
	// sendsPerAccount is how many calls of endpoints, and mails with links, an account may cause a minute.
	sendsPerAccount = 10
	// tokensPerUser is how many tokens a user may create in an hour. The audit log keeps each of them.
	tokensPerUser = 60
	// rewindsPerAccount is how often an account may rewind its webhooks in an hour. Each can deliver its whole log.
	rewindsPerAccount = 20
	// CallsPerToken is how many calls a minute a token may send to a process.
	CallsPerToken = 600
	// CallsPerSession is the same for a session: of a user, whose dashboard makes several calls for what they do.
	CallsPerSession = 1_200
)

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
