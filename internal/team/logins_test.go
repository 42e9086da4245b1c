package team_test

import (
	"crypto/rand"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

	"gatherkit/internal/attempts"
	"gatherkit/internal/feedback"
	"gatherkit/internal/sessions"
	"gatherkit/internal/store"
	"gatherkit/internal/store/storetest"
)

// failLogin counts a failed login and returns what it is answered.
func failLogin(r *storetest.Rig, email, from string) error {
	return r.Team.FailLogin(ctx, attempts.Subjects(email, netip.MustParsePrefix(from)))
}

func wantLogin(r *storetest.Rig, what, email, from string, delay time.Duration, want error) {
	r.T.Helper()
	got, err := r.Team.CheckLogin(ctx, attempts.Subjects(email, netip.MustParsePrefix(from)))
	if got != delay || !errors.Is(err, want) {
		r.T.Errorf("%s: a delay of %v, %v; want %v, %v", what, got, err, delay, want)
	}
}

// ownerOf returns the credentials of the owner that an account of the rig has.
func ownerOf(r *storetest.Rig, account feedback.Account) sessions.Credentials {
	r.T.Helper()
	c, err := r.Team.Credentials(ctx, "acme@example.com")
	if err != nil || c.AccountID != account.ID {
		r.T.Fatal(err)
	}
	return c
}

// TestLoginLimits: ten failures of an e-mail from one address and a hundred from one
// address are judged, and no more; a right password is refused as well then.
func TestLoginLimits(t *testing.T) {
	for name, c := range map[string]struct {
		limit int
		email func(i int) string
	}{
		"pair":    {10, func(int) string { return "acme@example.com" }},
		"address": {100, func(i int) string { return fmt.Sprint(i, "@example.com") }},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, at storetest.Place) {
				r := storetest.NewRig(t, at)
				owner := ownerOf(r, r.NewAccount("Acme"))
				const from = "198.51.100.1/32"
				subjects := attempts.Subjects("acme@example.com", netip.MustParsePrefix(from))
				for i := range c.limit {
					if i == c.limit-1 {
						wantLogin(r, "the last try", "acme@example.com", from, 0, nil)
						if _, _, err := r.Sessions.Open(ctx, owner, subjects, ""); err != nil {
							t.Fatalf("a right password at the last try: %v", err)
						}
					}
					if err := failLogin(r, c.email(i), from); !errors.Is(err, feedback.ErrInvalidCredentials) {
						t.Fatalf("failure %d: %v", i+1, err)
					}
				}
				wantLogin(r, "one more", "acme@example.com", from, 0, feedback.ErrTooManyAttempts)
				if _, _, err := r.Sessions.Open(ctx, owner, subjects, ""); !errors.Is(err, feedback.ErrTooManyAttempts) {
					t.Errorf("a right password beyond the limit: %v", err)
				}
				if err := failLogin(r, c.email(c.limit), from); name == "pair" && !errors.Is(err, feedback.ErrTooManyAttempts) {
					t.Errorf("failure %d: %v", c.limit+1, err)
				}
				wantLogin(r, "from elsewhere", "acme@example.com", "198.51.100.2/32", 0, nil)
				r.Clock.Move(15 * time.Minute)
				wantLogin(r, "a quarter of an hour later", "acme@example.com", from, 0, nil)
			})
		})
	}
}

// TestNetworkDelay: a network, however many addresses it has, is delayed beyond 200
// failures and never refused.
func TestNetworkDelay(t *testing.T) {
	for name, address := range map[string]func(i int) string{
		"IPv6": func(i int) string { return fmt.Sprintf("2001:db8:1:%x::/64", i) },
		"IPv4": func(i int) string { return fmt.Sprintf("198.51.100.%d/32", i) },
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, at storetest.Place) {
				r := storetest.NewRig(t, at)
				n := 0
				failUntil := func(until int) {
					t.Helper()
					for ; n < until; n++ {
						if err := failLogin(r, "ada@example.com", address(n%100)); !errors.Is(err, feedback.ErrInvalidCredentials) {
							t.Fatalf("failure %d: %v", n+1, err)
						}
					}
				}
				for _, c := range []struct {
					failures int
					delay    time.Duration
				}{
					{199, 0},
					{200, 100 * time.Millisecond},
					{201, 200 * time.Millisecond},
					{208, 900 * time.Millisecond},
					{209, time.Second},
					{220, time.Second},
				} {
					failUntil(c.failures)
					wantLogin(r, fmt.Sprint(n, " failures"), "bob@example.com", address(100), c.delay, nil)
				}
				wantLogin(r, "another network", "bob@example.com", "2001:db8:2::/64", 0, nil)
				wantLogin(r, "another network", "bob@example.com", "198.51.101.1/32", 0, nil)
				owner := ownerOf(r, r.NewAccount("Acme"))
				subjects := attempts.Subjects("acme@example.com", netip.MustParsePrefix(address(100)))
				if _, _, err := r.Sessions.Open(ctx, owner, subjects, ""); err != nil {
					t.Errorf("a right password: %v", err)
				}
				r.Clock.Move(15 * time.Minute)
				wantLogin(r, "a quarter of an hour later", "bob@example.com", address(100), 0, nil)
			})
		})
	}
}

// TestPasswordChangesRace: of two changes that have verified the same password, one is
// refused.
func TestPasswordChangesRace(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		owner := ownerOf(r, r.NewAccount("Acme"))
		other := at.Open(t, r.Clock.Now)
		results := make(chan error, 2)
		for i, s := range []*store.Store{r.Store, other} {
			go func() {
				results <- s.Team.SetPassword(ctx, owner, fmt.Sprint("hash ", i), feedback.Command(), feedback.ID{})
			}()
		}
		first, second := <-results, <-results
		if first != nil {
			first, second = second, first
		}
		if first != nil || !errors.Is(second, feedback.ErrInvalidCredentials) {
			t.Errorf("%v and %v, want one success", first, second)
		}
		if _, _, err := r.Sessions.Open(ctx, owner, nil, ""); !errors.Is(err, feedback.ErrInvalidCredentials) {
			t.Errorf("a login with the old password: %v", err)
		}
	})
}

// TestSessionLife: a session ends 90 days after the login, however often it is
// refreshed.
func TestSessionLife(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		const day = 24 * time.Hour
		r := storetest.NewRig(t, at)
		_, tokens, err := r.Sessions.Open(ctx, ownerOf(r, r.NewAccount("Acme")), nil, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, after := range []time.Duration{29 * day, 29 * day, 29 * day, 3*day - time.Millisecond} {
			r.Clock.Move(after)
			if tokens, err = r.Sessions.Refresh(ctx, tokens.Refresh); err != nil {
				t.Fatal(err)
			}
		}
		r.Clock.Move(time.Millisecond)
		if _, err := r.Sessions.Refresh(ctx, tokens.Refresh); !errors.Is(err, feedback.ErrInvalidRefreshToken) {
			t.Errorf("after 90 days: %v", err)
		}
	})
}

// TestLoginWhileSuspended: a session that a login opens while its account is being suspended does not work, although
// Suspend has ended the others before.
func TestLoginWhileSuspended(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		_, tokens, err := r.Sessions.Open(ctx, ownerOf(r, account), nil, "")
		if err != nil {
			t.Fatal(err)
		}
		r.Exec("UPDATE accounts SET suspended_at = 1 WHERE account_id = $1", account.ID)
		if _, err := r.Sessions.Of(ctx, tokens.Access); !errors.Is(err, feedback.ErrInvalidToken) {
			t.Errorf("a session of a suspended account: %v", err)
		}
	})
}

// TestRefreshGrace: a spent refresh token yields its successor for 20 seconds, the
// last moment included.
func TestRefreshGrace(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		_, first, err := r.Sessions.Open(ctx, ownerOf(r, r.NewAccount("Acme")), nil, "")
		if err != nil {
			t.Fatal(err)
		}
		next, err := r.Sessions.Refresh(ctx, first.Refresh)
		if err != nil {
			t.Fatal(err)
		}
		r.Clock.Move(20 * time.Second)
		if again, err := r.Sessions.Refresh(ctx, first.Refresh); err != nil || again.Refresh != next.Refresh {
			t.Errorf("after 20 seconds: %v", err)
		}
		r.Clock.Move(time.Millisecond)
		if _, err := r.Sessions.Refresh(ctx, first.Refresh); !errors.Is(err, feedback.ErrInvalidRefreshToken) {
			t.Errorf("after more than 20 seconds: %v", err)
		}
		if _, err := r.Sessions.Refresh(ctx, next.Refresh); err != nil {
			t.Errorf("the successor, whose session goes on: %v", err)
		}
	})
}

// TestMostSessions: a user has 50 sessions; with one more, the one ends that was used
// longest ago. Other users notice nothing.
func TestMostSessions(t *testing.T) {
	storetest.Each(t, func(t *testing.T, at storetest.Place) {
		r := storetest.NewRig(t, at)
		account := r.NewAccount("Acme")
		owner := ownerOf(r, account)
		other := sessions.Credentials{
			AccountID: account.ID, UserID: joined(r, account, owner.UserID, "User", feedback.RoleMember), PasswordHash: "hash",
		}
		open := func(c sessions.Credentials) sessions.Tokens {
			t.Helper()
			r.Clock.Move(time.Second)
			_, tokens, err := r.Sessions.Open(ctx, c, nil, "")
			if err != nil {
				t.Fatal(err)
			}
			return tokens
		}
		open(other)
		var tokens []sessions.Tokens
		for range sessions.Max {
			tokens = append(tokens, open(owner))
		}
		used, err := r.Sessions.Refresh(ctx, tokens[0].Refresh)
		if err != nil {
			t.Fatal(err)
		}
		open(owner)
		open(owner)
		for i, want := range []error{nil, feedback.ErrInvalidToken, feedback.ErrInvalidToken, nil} {
			if _, err := r.Sessions.Of(ctx, tokens[i].Access); !errors.Is(err, want) {
				t.Errorf("session %d: %v, want %v", i, err, want)
			}
		}
		if _, err := r.Sessions.Refresh(ctx, tokens[1].Refresh); !errors.Is(err, feedback.ErrInvalidRefreshToken) {
			t.Errorf("a session that has ended is refreshed: %v", err)
		}
		if _, err := r.Sessions.Of(ctx, used.Access); err != nil {
			t.Errorf("the session that was used last: %v", err)
		}
		second := at.Open(t, r.Clock.Now)
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				if _, _, err := []*store.Store{r.Store, second}[i%2].Sessions.Open(ctx, owner, nil, ""); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		kept, others := r.Count("sessions WHERE user_id = $1", owner.UserID), r.Count("sessions WHERE user_id = $1", other.UserID)
		if kept != sessions.Max || others != 2 { // one of them from joining
			t.Errorf("the user has %d sessions, and another one %d", kept, others)
		}
		if n := r.Count("session_tokens WHERE session_id NOT IN (SELECT id FROM sessions)"); n != 0 {
			t.Errorf("%d tokens of sessions that have ended are left", n)
		}
	})
}

// TestUnknownRefreshTokens: a token that nobody was given waits for no writer.
func TestUnknownRefreshTokens(t *testing.T) {
	storetest.Each(t, func(t *testing.T, place storetest.Place) {
		r := storetest.NewRig(t, place)
		account := r.NewAccount("Acme")
		s := r.Watched(func(query string, _ []driver.NamedValue) {
			if query == storetest.Begin {
				t.Error("a transaction begins")
			}
		})
		for _, token := range []string{"x", feedback.NewToken(feedback.RefreshToken, account.ID, rand.Reader)} {
			if _, err := s.Sessions.Refresh(ctx, token); !errors.Is(err, feedback.ErrInvalidRefreshToken) {
				t.Error(fmt.Errorf("%s: %w", token, err))
			}
		}
	})
}
