package fair

import (
	"context"
	"sync"
)

// place is the place of a call. It is taken while the call works.
type place struct {
	claims Claims

	mu    sync.Mutex
	taken bool
}

type placeKey struct{}

// Enter waits for a place in each of the pools, and returns a context with it for the call that works on this place,
// until leave. A call that has a place keeps it and gets no other. If ctx ends first, Enter returns the cause.
func (c Claims) Enter(ctx context.Context) (on context.Context, leave func(), err error) {
	if ctx.Value(placeKey{}) != nil {
		return ctx, func() {}, nil
	}
	p := &place{claims: c}
	if err := p.take(ctx); err != nil {
		return ctx, nil, err
	}
	return context.WithValue(ctx, placeKey{}, p), func() { p.giveBack() }, nil
}

// Pause gives back the place of the call with ctx, if it has one, while it waits for something that others do.
// Otherwise, calls that have places could wait for those that wait for places. resume waits for the place again.
// If ctx ends meanwhile, the call has none, and can only fail.
func Pause(ctx context.Context) (resume func()) {
	p, ok := ctx.Value(placeKey{}).(*place)
	if !ok || !p.giveBack() {
		return func() {}
	}
	return func() { _ = p.take(ctx) }
}

func (p *place) take(ctx context.Context) error {
	if err := p.claims.Acquire(ctx, 1); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken = true
	return nil
}

// giveBack reports whether the place was taken.
func (p *place) giveBack() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.taken {
		return false
	}
	p.taken = false
	p.claims.Release(1)
	return true
}
