package api

import (
	"context"
	"math"
	"net/netip"

	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
	"gatherkit/internal/limits"
)

// shares divides places among accounts, and the places of an account among its sessions, so
// that one session or account cannot take all of them.
type shares struct {
	sessions, accounts *fair.Pool[feedback.ID]
}

// newShares returns shares of total places: at most perAccount for an account and at most
// perSession for a session.
func newShares(total, perAccount, perSession int64) *shares {
	return &shares{sessions: fair.New[feedback.ID](math.MaxInt64, perSession), accounts: fair.New[feedback.ID](total, perAccount)}
}

// of returns the claims of a holder, that of the session first.
func (s *shares) of(who limits.Holder) fair.Claims {
	return fair.Claims{s.sessions.For(who.Session), s.accounts.For(who.Account)}
}

// pageMemory is the memory that a call holds for a page until the answer is sent.
type pageMemory struct {
	claims fair.Claims
	bytes  int64
}

// shrink releases all but n bytes.
func (m *pageMemory) shrink(n int64) {
	if m.bytes > n {
		m.claims.Release(m.bytes - n)
		m.bytes = n
	}
}

// personBytes is the maximum size of a voter, a user or a tag in a page.
const personBytes = 4 << 10

// holdPage waits for the memory for a page, and holds it until the answer is sent. The size
// of a page is known only after reading it, so holdPage acquires the maximum beforehand. This
// limits the memory, and calls that wait do not hold a database connection.
func (a *API) holdPage(ctx context.Context, c caller, rows int, maxRowBytes int64) error {
	return hold(ctx, c.client, a.pages.of(limits.Holder{Account: c.Account.ID, Session: c.ID}), rows, maxRowBytes)
}

// hold is holdPage for any client, with claims on other memory.
func hold(ctx context.Context, c *client, claims fair.Claims, rows int, maxRowBytes int64) error {
	m := pageMemory{claims, int64(rows) * maxRowBytes}
	if err := m.claims.Acquire(ctx, m.bytes); err != nil {
		return err
	}
	c.memory = m
	return nil
}

// maxCalls is the number of concurrent calls from one network; a quarter of them from one
// caller. Calls from this machine are exempt. Without a limit, many waiting calls could take
// all connections, also behind a proxy.
const maxCalls = 512

// callPlaces are the places for concurrent calls.
type callPlaces struct{ callers, networks *fair.Pool[netip.Prefix] }

func newCallPlaces() callPlaces {
	return callPlaces{fair.New[netip.Prefix](math.MaxInt64, maxCalls/4), fair.New[netip.Prefix](math.MaxInt64, maxCalls)}
}

// enter takes a place for a call. It returns ErrUnavailable if the caller or its network has
// too many concurrent calls.
func (p callPlaces) enter(from netip.Prefix) (leave func(), err error) {
	if from.Addr().IsLoopback() {
		return func() {}, nil
	}
	claims := fair.Claims{p.callers.For(from), p.networks.For(fair.Network(from))}
	if !claims.TryAcquire(1) {
		return nil, feedback.ErrUnavailable.With("Too many concurrent calls from your address; try again shortly.")
	}
	return func() { claims.Release(1) }, nil
}
