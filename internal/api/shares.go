package api

import (
	"context"
	"math"
	"net/netip"

	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
)

// holder is a session that takes places, and its account.
type holder struct{ account, session feedback.ID }

// shares divides places among accounts, and those of an account among its sessions. A
// caller that keeps its places keeps none from other accounts or from its colleagues.
type shares struct {
	sessions, accounts *fair.Pool[feedback.ID]
}

// newShares returns total places, of which an account gets at most perAccount, and each of
// its sessions at most perSession.
func newShares(total, perAccount, perSession int64) *shares {
	return &shares{sessions: fair.New[feedback.ID](math.MaxInt64, perSession), accounts: fair.New[feedback.ID](total, perAccount)}
}

// of returns a caller's claim on the places. Its own share comes first.
func (s *shares) of(who holder) fair.Claims {
	return fair.Claims{s.sessions.For(who.session), s.accounts.For(who.account)}
}

// room is the bytes of a page that a call holds until its answer is sent. The zero room
// is none.
type room struct {
	of    fair.Claims
	bytes int64
}

// shrink gives back what is held beyond n bytes.
func (r *room) shrink(n int64) {
	if r.bytes > n {
		r.of.Release(r.bytes - n)
		r.bytes = n
	}
}

// personBytes is the most that a voter, a user or a tag takes in a page.
const personBytes = 4 << 10

// holdPage takes room for a page of so many rows until it is sent. Its length is known
// only when it has been read, so it takes room for the longest rows: memory stays bounded,
// and calls that wait hold no connection to the database.
func (a *API) holdPage(ctx context.Context, c caller, rows int, longest int64) error {
	r := room{a.pages.of(holder{c.Account.ID, c.ID}), int64(rows) * longest}
	if err := r.of.Acquire(ctx, r.bytes); err != nil {
		return err
	}
	c.room = r
	return nil
}

// maxCalls is how many calls of others than this machine can be under way for each
// network, and a quarter of that for each caller: a crowd that waits, behind a proxy as
// well, must not hold all connections.
const maxCalls = 512

// callPlaces are the places for calls under way.
type callPlaces struct{ callers, networks *fair.Pool[netip.Prefix] }

func newCallPlaces() callPlaces {
	return callPlaces{fair.New[netip.Prefix](math.MaxInt64, maxCalls/4), fair.New[netip.Prefix](math.MaxInt64, maxCalls)}
}

// enter takes a place for a call. It refuses with ErrUnavailable when the caller or its
// network has too many calls under way.
func (p callPlaces) enter(caller netip.Prefix) (leave func(), err error) {
	if caller.Addr().IsLoopback() {
		return func() {}, nil
	}
	claims := fair.Claims{p.callers.For(caller), p.networks.For(fair.Network(caller))}
	if !claims.TryAcquire(1) {
		return nil, feedback.ErrUnavailable.With("Too many calls from your address are under way; try again shortly.")
	}
	return func() { claims.Release(1) }, nil
}
