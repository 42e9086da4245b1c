package limits

import (
	"net/netip"
	"time"

	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
	"gatherkit/internal/rate"
)

// Strangers limits how many people take part in portals from one address without signing in: a program can be any
// number of them. People who are signed in are not counted.
type Strangers struct {
	onRequest, newInApp *rate.Limit[stranger]
}

// The limits of an address: how often somebody takes part in one request in an hour, and how many new people take part
// in an app in a day.
const (
	StrangersOnRequest = 30
	NewStrangersInApp  = 200
)

// stranger is an address and what somebody takes part in from there.
type stranger struct {
	from netip.Prefix
	in   feedback.ID
}

// NewStrangers returns the limits.
func NewStrangers() Strangers {
	limit := func(most int64, window time.Duration) *rate.Limit[stranger] {
		return &rate.Limit[stranger]{
			Most: most, Window: window, Exempt: func(stranger) bool { return false },
			Coarser: func(of stranger, level int) stranger {
				if level == 1 {
					return stranger{fair.Network(of.from), of.in}
				}
				return stranger{in: of.in}
			},
		}
	}
	return Strangers{limit(StrangersOnRequest, time.Hour), limit(NewStrangersInApp, 24*time.Hour)}
}

// Allow counts somebody who takes part in a request of an app, which is zero for a new one. isNew says that they have
// not taken part in the app before. Known people count on a request, too: otherwise, a program that has been many
// people at other requests could have them all vote for one. It returns ErrRateLimited.
func (s Strangers) Allow(from netip.Prefix, appID, requestID feedback.ID, isNew bool, now time.Time) error {
	if requestID != (feedback.ID{}) {
		if err := s.onRequest.Allow(stranger{from, requestID}, 1, now); err != nil {
			return err
		}
	}
	if !isNew {
		return nil
	}
	return s.newInApp.Allow(stranger{from, appID}, 1, now)
}
