package api

import (
	"context"
	"errors"
	"math"
	"net/netip"
	"time"

	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
	"gatherkit/internal/password"
	"gatherkit/internal/store"
)

// slowLane lets the logins of a network in which many have failed pass one at a time.
// A caller has one login in the lane, so callers take turns, and a crowd holds no
// connections that wait.
type slowLane struct {
	callers, networks *fair.Pool[netip.Prefix]
	pause             func(context.Context, time.Duration) error
}

func newSlowLane() slowLane {
	return slowLane{fair.New[netip.Prefix](math.MaxInt64, 1), fair.New[netip.Prefix](math.MaxInt64, 1), pause}
}

// pause waits, unless ctx ends before.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// errSlowDown says that a login has to use the slow lane.
var errSlowDown = errors.New("many logins from this network have failed")

// attempt is a try to log in, or to change a password.
type attempt struct {
	asker    password.Asker
	subjects []store.LoginSubject
}

func (c *client) attempt(email string) attempt {
	return attempt{c.asker(email), store.LoginSubjects(email, c.from)}
}

func (c *client) asker(email string) password.Asker {
	return password.Asker{Caller: c.from, Email: feedback.FoldEmail(email)}
}

// check returns the credentials of an e-mail when the password is right. The limits
// are looked at before anything costly is done, and again when the password's turn
// has come: a crowd of wrong ones is not hashed to its end.
func (a *API) check(ctx context.Context, t attempt, secret string) (store.Credentials, error) {
	delay, err := a.Store.CheckLogin(ctx, t.subjects)
	if err != nil {
		return store.Credentials{}, err
	}
	credentials, err := a.Store.Credentials(ctx, t.asker.Email)
	if err != nil {
		return credentials, err
	}
	right, err := false, errSlowDown
	if delay == 0 {
		right, err = a.Passwords.Verify(ctx, t.asker, credentials.PasswordHash, secret, func() error {
			delay, err := a.Store.CheckLogin(ctx, t.subjects)
			if err == nil && delay > 0 {
				err = errSlowDown
			}
			return err
		})
	}
	if errors.Is(err, errSlowDown) {
		leave, entering := a.slow.enter(ctx, t.asker.Caller)
		if entering != nil {
			return credentials, entering
		}
		defer leave() // when a failure has been counted, which delays the next one
		right, err = a.verifySlowly(ctx, t, credentials.PasswordHash, secret)
	}
	if err != nil {
		return credentials, err
	}
	if !right {
		return credentials, a.Store.FailLogin(ctx, t.subjects)
	}
	return credentials, nil
}

// errLater refuses a login for which the slow lane has no room.
var errLater = feedback.ErrTooManyAttempts.After(store.MaxLoginDelay)

// enter waits for a place in the slow lane. It refuses with ErrTooManyAttempts when the
// caller has a login there already, or when ctx ends first.
func (l slowLane) enter(ctx context.Context, caller netip.Prefix) (leave func(), err error) {
	if !l.callers.TryAcquire(caller, 1) {
		return nil, errLater
	}
	network := fair.Network(caller)
	if l.networks.Acquire(ctx, network, 1) != nil {
		l.callers.Release(caller, 1)
		return nil, errLater
	}
	return func() {
		l.networks.Release(network, 1)
		l.callers.Release(caller, 1)
	}, nil
}

// verifySlowly verifies a password after the delay that the failures so far demand. It
// refuses with ErrTooManyAttempts when ctx ends first, or a limit is reached.
func (a *API) verifySlowly(ctx context.Context, t attempt, hash, secret string) (bool, error) {
	delay, err := a.Store.CheckLogin(ctx, t.subjects)
	if err != nil {
		return false, err
	}
	if a.slow.pause(ctx, delay) != nil {
		return false, errLater
	}
	return a.Passwords.Verify(ctx, t.asker, hash, secret, func() error {
		_, err := a.Store.CheckLogin(ctx, t.subjects)
		return err
	})
}
