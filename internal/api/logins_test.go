package api

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatherkit/internal/attempts"
	"gatherkit/internal/fair"
	"gatherkit/internal/feedback"
	"gatherkit/internal/store/storetest"
)

// loginFrom logs the owner in from an address, with the correct or a wrong password.
func (s *service) loginFrom(ctx context.Context, a *API, address, password string) answer {
	r := s.request("auth-login", "", `{"email":"owner@example.com","password":"`+password+`"}`).WithContext(ctx)
	r.RemoteAddr = "[" + address + "]:4711"
	return serve(a, r)
}

// failIn records failed logins from many addresses in the network 2001:db8:1::/48.
func (s *service) failIn(n int) {
	s.t.Helper()
	for i := range n {
		from := netip.MustParsePrefix(fmt.Sprintf("2001:db8:1:%x::/64", i))
		err := s.store.Team.FailLogin(s.t.Context(), attempts.Subjects("owner@example.com", from))
		if !errors.Is(err, feedback.ErrInvalidCredentials) {
			s.t.Fatal(err)
		}
	}
}

// TestTenGuesses: after ten wrong passwords, the correct one is refused.
func TestTenGuesses(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	for i := range 10 {
		if got := s.loginFrom(t.Context(), s.api, "198.51.100.1", "wrong"); got.code(t) != "auth.invalid_credentials" {
			t.Fatalf("guess %d: %s", i+1, got.body)
		}
	}
	if got := s.loginFrom(t.Context(), s.api, "198.51.100.1", testPassword); got.code(t) != "auth.too_many_attempts" {
		t.Errorf("the right password after ten guesses: %s", got.body)
	}
}

// TestPasswordChangesAtOnce: of concurrent changes with the same current password, only one
// succeeds, because the current password is different after it.
func TestPasswordChangesAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		second := newAPI(t, at.Open(t, s.clock.Now), s.clock)
		var changed, refused atomic.Int32
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				body := fmt.Sprintf(`{"current_password":%q,"new_password":"another password %d"}`, testPassword, i)
				switch got := serve([]*API{s.api, second}[i%2], s.request("auth-change-password", "owner", body)); got.code(t) {
				case "ok":
					changed.Add(1)
				case "auth.invalid_credentials":
					refused.Add(1)
				default:
					t.Errorf("%s", got.body)
				}
			})
		}
		wg.Wait()
		if changed.Load() != 1 || refused.Load() != 3 {
			t.Errorf("%d changes and %d refusals", changed.Load(), refused.Load())
		}
	})
}

// TestSlowLane: the logins of a network with many failed logins run one at a time, each after
// a growing delay. Callers take turns, and none is refused. Other networks are not
// affected.
func TestSlowLane(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.failIn(199)
	delays, done := make(chan time.Duration), make(chan struct{})
	s.api.slow.pause = func(_ context.Context, d time.Duration) error {
		delays <- d
		<-done
		return nil
	}
	if got := s.loginFrom(t.Context(), s.api, "2001:db8:1:ffff::1", "wrong"); got.code(t) != "auth.invalid_credentials" {
		t.Fatalf("the last one without a delay: %s", got.body)
	}
	answers := make(chan answer, 3)
	login := func(address, password string) { answers <- s.loginFrom(t.Context(), s.api, address, password) }
	go login("2001:db8:1:fffe::1", "wrong")
	if d := <-delays; d != 100*time.Millisecond {
		t.Errorf("the first delay is %v", d)
	}
	go login("2001:db8:1:fffd::1", testPassword)
	go login("2001:db8:1:fffb::1", "wrong")
	if got := s.loginFrom(t.Context(), s.api, "2001:db8:1:fffe::2", testPassword); got.code(t) != "auth.too_many_attempts" {
		t.Errorf("a second login of the caller that is judged: %s", got.body)
	}
	if got := s.loginFrom(t.Context(), s.api, "2001:db8:2::1", testPassword); got.status != 200 {
		t.Errorf("another network: %s", got.body)
	}
	untilWaiting(t, s.api.slow.networks)
	select {
	case d := <-delays:
		t.Errorf("a second login of the network is judged at the same time, after %v", d)
	default:
	}
	done <- struct{}{}
	if got := <-answers; got.code(t) != "auth.invalid_credentials" {
		t.Errorf("a wrong password after the delay: %s", got.body)
	}
	codes := map[string]int{}
	for range 2 {
		if d := <-delays; d != 200*time.Millisecond && d != 300*time.Millisecond {
			t.Errorf("a further delay is %v", d)
		}
		done <- struct{}{}
		got := <-answers
		codes[got.code(t)]++
	}
	if codes["ok"] != 1 || codes["auth.invalid_credentials"] != 1 {
		t.Errorf("the answers after the delays: %v", codes)
	}
	s.api.slow.pause = func(context.Context, time.Duration) error { return context.DeadlineExceeded }
	got := s.loginFrom(t.Context(), s.api, "2001:db8:1:fffc::1", testPassword)
	if got.code(t) != "auth.too_many_attempts" || got.header.Get("Retry-After") != "1" {
		t.Errorf("a login whose time is over: %v %s", got.header, got.body)
	}
}

// untilWaiting returns when a call waits for a place in the pool.
func untilWaiting[K comparable](t *testing.T, pool *fair.Pool[K]) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(storetest.Patience)
	for pool.Waiting() == 0 {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("nobody waits for a place")
		}
	}
}

// TestSlowLaneLeft: logins wait for others of their network, and release their places when
// they stop waiting.
func TestSlowLaneLeft(t *testing.T) {
	s := newService(t, storetest.SQLite(t))
	s.failIn(200)
	network, crowd := netip.MustParsePrefix("2001:db8:1::/48"), netip.MustParsePrefix("2001:db8:1:fffe::/64")
	lane := s.api.slow
	if !lane.networks.TryAcquire(network, 1) {
		t.Fatal("the lane is not free")
	}
	ctx, leave := context.WithCancel(t.Context())
	answered := make(chan answer)
	go func() { answered <- s.loginFrom(ctx, s.api, "2001:db8:1:fffe::1", testPassword) }()
	untilWaiting(t, lane.networks)
	leave()
	if got := <-answered; got.code(t) != "auth.too_many_attempts" {
		t.Errorf("a login that leaves the lane: %d %s", got.status, got.body)
	}
	lane.networks.Release(network, 1)
	if !lane.networks.TryAcquire(network, 1) || !lane.callers.TryAcquire(crowd, 1) {
		t.Error("a login that left has kept a place")
	}
}

// TestSlowLaneForWaitingLogins: a login that waits to be hashed while others of its network
// fail uses the slow lane afterwards.
func TestSlowLaneForWaitingLogins(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		s := newService(t, at)
		s.failIn(199)
		var checks atomic.Int32
		late := newAPI(t, at.Open(t, func() time.Time {
			if checks.Add(1) == 2 { // the second check, after the password has waited
				from := netip.MustParsePrefix("2001:db8:1:eeee::/64")
				err := s.store.Team.FailLogin(context.Background(), attempts.Subjects("a@example.com", from))
				if !errors.Is(err, feedback.ErrInvalidCredentials) {
					t.Error(err)
				}
			}
			return s.clock.Now()
		}), s.clock)
		checks.Store(0)
		var delays []time.Duration
		late.slow.pause = func(_ context.Context, d time.Duration) error {
			delays = append(delays, d)
			return nil
		}
		if got := s.loginFrom(t.Context(), late, "2001:db8:1:fffe::1", testPassword); got.status != 200 {
			t.Errorf("%s", got.body)
		}
		if len(delays) != 1 || delays[0] != 100*time.Millisecond {
			t.Errorf("delays of %v, want one of 100ms", delays)
		}
	})
}

// TestPause: a pause ends after its time or with its context.
func TestPause(t *testing.T) {
	if err := pause(t.Context(), time.Millisecond, nil); err != nil {
		t.Error(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if err := pause(ctx, time.Hour, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
