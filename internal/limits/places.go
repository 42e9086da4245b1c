package limits

import (
	"context"
	"crypto/sha256"
	"math"
	"net/netip"
	"time"

	"gatherkit/internal/deadline"
	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
)

// Shares divides places among accounts, and the places of an account among its sessions, so
// that one session or account cannot take all of them.
type Shares struct {
	Sessions, Accounts *fair.Pool[feedback.ID]
}

// NewShares returns shares of total places: at most perAccount for an account and at most
// perSession for a session.
func NewShares(total, perAccount, perSession int64) *Shares {
	return &Shares{Sessions: fair.New[feedback.ID](math.MaxInt64, perSession), Accounts: fair.New[feedback.ID](total, perAccount)}
}

// Of returns the claims of a holder, that of the session first.
func (s *Shares) Of(who Holder) fair.Claims {
	return fair.Claims{s.Sessions.For(who.Session), s.Accounts.For(who.Account)}
}

// Visitor is a caller who visits an app or a portal, of which each has a name.
func Visitor(of string, from netip.Prefix) Holder {
	id := func(name string) feedback.ID {
		sum := sha256.Sum256([]byte(name))
		return feedback.ID(sum[:16])
	}
	return Holder{Account: id(of), Session: id(from.String())}
}

// Reads are the places of calls that read the database at once. Users and programs have as many as visitors of apps
// and portals, so that many visitors do not delay the team.
type Reads struct{ Users, Visitors *Shares }

// NewReads returns places for a number of users' calls and as many of visitors. An account has at most half of them, and
// two for each processor, as answers take processor time. An app or a portal has all but one: short calls wait less for
// each other then. Its sessions or addresses take turns.
func NewReads(n, processors int64) Reads {
	account := max(1, min(n/2, 2*processors))
	most := max(account, n-1)
	return Reads{NewShares(n, account, account), NewShares(n, most, most)}
}

// MaxCalls is the number of concurrent calls from one network; a quarter of them from one
// caller. Calls from this machine are exempt. Without a limit, many waiting calls could take
// all connections, also behind a proxy.
const MaxCalls = 512

// CallPlaces are the places for concurrent calls.
type CallPlaces struct{ Callers, Networks *fair.Pool[netip.Prefix] }

// NewCallPlaces returns places for MaxCalls calls of a network.
func NewCallPlaces() CallPlaces {
	return CallPlaces{fair.New[netip.Prefix](math.MaxInt64, MaxCalls/4), fair.New[netip.Prefix](math.MaxInt64, MaxCalls)}
}

// Enter takes a place for a call. It returns ErrUnavailable if the caller or its network has
// too many concurrent calls.
func (p CallPlaces) Enter(from netip.Prefix) (leave func(), err error) {
	if from.Addr().IsLoopback() {
		return func() {}, nil
	}
	claims := fair.Claims{p.Callers.For(from), p.Networks.For(fair.Network(from))}
	if !claims.TryAcquire(1) {
		return nil, feedback.ErrUnavailable.With("Too many concurrent calls from your address; try again shortly.")
	}
	return func() { claims.Release(1) }, nil
}

// MaxUploads is the number of concurrent uploads: a quarter of them from one address,
// half from one network, and three quarters for one account.
const MaxUploads = 64

// uploadWait is how long an upload waits for a place.
var uploadWait = deadline.Of(15 * time.Second)

// UploadPlaces are the places for concurrent uploads.
type UploadPlaces struct {
	Callers, Networks *fair.Pool[netip.Prefix]
	Accounts          *fair.Pool[feedback.ID]
}

// NewUploadPlaces returns places for MaxUploads uploads.
func NewUploadPlaces() UploadPlaces {
	return UploadPlaces{
		fair.New[netip.Prefix](math.MaxInt64, MaxUploads/4), fair.New[netip.Prefix](math.MaxInt64, MaxUploads/2),
		fair.New[feedback.ID](MaxUploads, MaxUploads*3/4),
	}
}

// Of returns the claims of a caller that uploads a file to an account.
func (p UploadPlaces) Of(from netip.Prefix, account feedback.ID) fair.Claims {
	return fair.Claims{p.Callers.For(from), p.Networks.For(fair.Network(from)), p.Accounts.For(account)}
}

// Wait waits for a place for at most uploadWait. A caller that waits for its own share does
// not use up the shares of its network and account meanwhile.
func (p UploadPlaces) Wait(ctx context.Context, from netip.Prefix, account feedback.ID) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, uploadWait)
	defer cancel()
	claims := p.Of(from, account)
	if claims.Acquire(ctx, 1) != nil {
		return nil, feedback.ErrUnavailable.With("Too many files are being uploaded; send this one again shortly.")
	}
	return func() { claims.Release(1) }, nil
}
