package api

import (
	"context"
	"errors"
	"math"
	"net/netip"
	"time"

	"gatherkit/internal/attempts"
	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
	"gatherkit/internal/password"
	"gatherkit/internal/sessions"
)

// slowLane is a queue for logins from networks with many failed logins. It runs one login
// per network at a time. Each caller can have only one login in the queue, so that callers
// take turns and waiting logins do not hold many connections.
type slowLane struct {
	callers, networks *fair.Pool[netip.Prefix]
	pause             func(context.Context, time.Duration) error
}

func newSlowLane() slowLane {
	return slowLane{
		fair.New[netip.Prefix](math.MaxInt64, 1), fair.New[netip.Prefix](math.MaxInt64, 1),
		func(ctx context.Context, d time.Duration) error { return pause(ctx, d, nil) },
	}
}

// pause waits for d, or until ending is closed. It returns the cause of ctx if ctx ends first.
func pause(ctx context.Context, d time.Duration, ending <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ending:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// errSlowDown means that a login must use the slow lane.
var errSlowDown = errors.New("many logins from this network have failed")

// attempt is an attempt to log in or to change a password.
type attempt struct {
	asker    password.Asker
	subjects []attempts.Subject
}

func (c *client) attempt(email string) attempt {
	return attempt{c.asker(email), attempts.Subjects(email, c.From)}
}

func (c *client) asker(email string) password.Asker {
	return password.Asker{Caller: c.From, Email: feedback.FoldEmail(email)}
}

// checkPassword returns the credentials of an e-mail if the password is correct. It checks
// the limits before the password waits to be hashed and again after that, so that not all of
// many concurrent attempts are hashed.
func (a *API) checkPassword(ctx context.Context, t attempt, secret string) (sessions.Credentials, error) {
	delay, err := a.Store.Team.CheckLogin(ctx, t.subjects)
	if err != nil {
		return sessions.Credentials{}, err
	}
	credentials, err := a.Store.Team.Credentials(ctx, t.asker.Email)
	if err != nil {
		return credentials, err
	}
	correct, err := false, errSlowDown
	if delay == 0 {
		correct, err = a.Passwords.Verify(ctx, t.asker, credentials.PasswordHash, secret, func() error {
			delay, err := a.Store.Team.CheckLogin(ctx, t.subjects)
			if err == nil && delay > 0 {
				err = errSlowDown
			}
			return err
		})
	}
	if errors.Is(err, errSlowDown) {
		leave, enterErr := a.slow.enter(ctx, t.asker.Caller)
		if enterErr != nil {
			return credentials, enterErr
		}
		defer leave() // only after FailLogin, so that the next login waits for the longer delay
		correct, err = a.verifySlowly(ctx, t, credentials.PasswordHash, secret)
	}
	if err != nil {
		return credentials, err
	}
	if !correct {
		return credentials, a.Store.Team.FailLogin(ctx, t.subjects)
	}
	return credentials, nil
}

// errTryLater is the answer to a login that cannot use the slow lane now.
var errTryLater = feedback.ErrTooManyAttempts.After(attempts.MaxDelay)

// enter waits for the caller's turn in the slow lane. It returns ErrTooManyAttempts if the
// caller already has a login in it, or if ctx ends first.
func (l slowLane) enter(ctx context.Context, from netip.Prefix) (leave func(), err error) {
	if !l.callers.TryAcquire(from, 1) {
		return nil, errTryLater
	}
	network := fair.Network(from)
	if l.networks.Acquire(ctx, network, 1) != nil {
		l.callers.Release(from, 1)
		return nil, errTryLater
	}
	return func() {
		l.networks.Release(network, 1)
		l.callers.Release(from, 1)
	}, nil
}

// verifySlowly verifies a password after a delay that depends on the number of failures. It
// returns ErrTooManyAttempts if ctx ends first or a limit is reached.
func (a *API) verifySlowly(ctx context.Context, t attempt, hash, secret string) (bool, error) {
	delay, err := a.Store.Team.CheckLogin(ctx, t.subjects)
	if err != nil {
		return false, err
	}
	if a.slow.pause(ctx, delay) != nil {
		return false, errTryLater
	}
	return a.Passwords.Verify(ctx, t.asker, hash, secret, func() error {
		_, err := a.Store.Team.CheckLogin(ctx, t.subjects)
		return err
	})
}
