package fair

import "context"

// Claims are a holder's claims on places in several pools at once, such as those of an
// address in a pool of addresses and in a pool of networks. Places are taken in order, so
// the pool with the smallest shares must come first: a holder that waits for its own share
// then holds no places in the other pools.
type Claims []Claim

// Claim is a holder's claim on places in a pool. Pool.For returns one.
type Claim interface {
	tryAcquire(n int64) bool
	acquire(ctx context.Context, n int64) error
	release(n int64)
}

// For returns the claim of a holder on places in the pool.
func (p *Pool[K]) For(who K) Claim { return claim[K]{p, who} }

type claim[K comparable] struct {
	pool *Pool[K]
	who  K
}

func (c claim[K]) tryAcquire(n int64) bool                    { return c.pool.TryAcquire(c.who, n) }
func (c claim[K]) acquire(ctx context.Context, n int64) error { return c.pool.Acquire(ctx, c.who, n) }
func (c claim[K]) release(n int64)                            { c.pool.Release(c.who, n) }

// TryAcquire takes n places in each of the pools or none at all. It reports whether it took
// them.
func (c Claims) TryAcquire(n int64) bool {
	for i, inner := range c {
		if !inner.tryAcquire(n) {
			c[:i].Release(n)
			return false
		}
	}
	return true
}

// Acquire waits for n places in each of the pools and takes them. If ctx ends first, it
// returns the cause and takes none. It panics like Pool.Acquire.
func (c Claims) Acquire(ctx context.Context, n int64) error {
	for i, inner := range c {
		if err := inner.acquire(ctx, n); err != nil {
			c[:i].Release(n)
			return err
		}
	}
	return nil
}

// Release returns n places to each of the pools, in reverse order: a call that then gets
// places of the same holder in the first pool finds those in the others free.
func (c Claims) Release(n int64) {
	for i := len(c) - 1; i >= 0; i-- {
		c[i].release(n)
	}
}
