package fair

import "context"

// Claims is one holder's claim on places in several pools at once, such as an address's
// in the pool of addresses and in the pool of networks. The pools are asked in order,
// so the one with the smallest shares comes first: a holder that waits for its own
// share takes nothing from the others meanwhile.
type Claims []Claim

// Claim is a holder's claim on the places of a pool. Pool.For makes one.
type Claim interface {
	tryAcquire(n int64) bool
	acquire(ctx context.Context, n int64) error
	release(n int64)
}

// For returns the claim of a holder on the pool's places.
func (p *Pool[K]) For(who K) Claim { return claim[K]{p, who} }

type claim[K comparable] struct {
	pool *Pool[K]
	who  K
}

func (c claim[K]) tryAcquire(n int64) bool                    { return c.pool.TryAcquire(c.who, n) }
func (c claim[K]) acquire(ctx context.Context, n int64) error { return c.pool.Acquire(ctx, c.who, n) }
func (c claim[K]) release(n int64)                            { c.pool.Release(c.who, n) }

// TryAcquire takes n places in each of the pools, or none, and reports whether it did.
func (c Claims) TryAcquire(n int64) bool {
	for i, inner := range c {
		if !inner.tryAcquire(n) {
			c[:i].Release(n)
			return false
		}
	}
	return true
}

// Acquire waits for n places in each of the pools. When ctx ends first, it fails with
// the cause of that and holds none. It panics as Pool.Acquire does.
func (c Claims) Acquire(ctx context.Context, n int64) error {
	for i, inner := range c {
		if err := inner.acquire(ctx, n); err != nil {
			c[:i].Release(n)
			return err
		}
	}
	return nil
}

// Release gives n places back to each of the pools, the last one first: when somebody
// gets the holder's own share, the places behind it are free.
func (c Claims) Release(n int64) {
	for i := len(c) - 1; i >= 0; i-- {
		c[i].release(n)
	}
}
