package password

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"gatherkit/internal/fair"
)

func TestHashAndVerify(t *testing.T) {
	ctx := context.Background()
	h := New(rand.Reader)
	hash, err := h.Hash(ctx, Asker{}, "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	again, err := h.Hash(ctx, Asker{}, "correct horse")
	if err != nil || again == hash {
		t.Errorf("two hashes of one password are alike: %v", err)
	}
	for _, c := range []struct {
		hash, password string
		want           bool
	}{
		{hash, "correct horse", true},
		{again, "correct horse", true},
		{hash, "wrong horse", false},
		{hash, "", false},
		{"", "", false},
		{"", "anything", false},
	} {
		got, err := h.Verify(ctx, Asker{}, c.hash, c.password, nil)
		if err != nil || got != c.want {
			t.Errorf("Verify(%q, %q) = %v, %v", c.hash, c.password, got, err)
		}
	}
}

// TestKnownParameters checks the format of hashes, which other programs can read.
func TestKnownParameters(t *testing.T) {
	h := New(bytes.NewReader(bytes.Repeat([]byte("salt"), 1<<10)))
	hash, err := h.Hash(context.Background(), Asker{}, "password")
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHRzYWx0c2FsdA$") {
		t.Errorf("%s, %v", hash, err)
	}
}

func TestDamagedHashes(t *testing.T) {
	h := New(rand.Reader)
	for _, hash := range []string{
		"plain", "$2b$10$abc", "$argon2id$v=16$m=1,t=1,p=1$YQ$YQ", "$argon2id$v=19$m=x$YQ$YQ", "$argon2id$v=19$m=8,t=1,p=1$?$YQ",
	} {
		if ok, err := h.Verify(context.Background(), Asker{}, hash, "password", nil); ok || err == nil {
			t.Errorf("%s: %v, %v", hash, ok, err)
		}
	}
}

// TestBusy checks that a call gets ErrBusy if its context ends while it waits in either pool.
func TestBusy(t *testing.T) {
	h := New(rand.Reader)
	who := Asker{Caller: netip.MustParsePrefix("198.51.100.1/32"), Email: "ada@example.com"}
	wantBusy := func() {
		t.Helper()
		ctx, cancel := context.WithCancel(context.Background())
		hashed := make(chan error, 1)
		go func() {
			_, err := h.Hash(ctx, who, "password")
			hashed <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-hashed; !errors.Is(err, ErrBusy) {
			t.Errorf("%v, want ErrBusy", err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		h.turns.TryAcquire(netip.Prefix{}, h.most)
		wantBusy()
		h.turns.Release(netip.Prefix{}, h.most)
		h.askers.TryAcquire(who, h.most)
		wantBusy()
		h.askers.Release(who, h.most)
		// They have released all places.
		if !h.askers.TryAcquire(who, h.most) || !h.turns.TryAcquire(who.Caller, h.most) {
			t.Error("a place was not released")
		}
	})
}

// TestNotAllowedAnyMore checks that nothing is hashed for a call that is refused at its turn.
func TestNotAllowedAnyMore(t *testing.T) {
	refusal := errors.New("refused")
	ok, err := New(rand.Reader).Verify(context.Background(), Asker{}, "", "password", func() error { return refusal })
	if ok || !errors.Is(err, refusal) {
		t.Errorf("%v, %v", ok, err)
	}
}

// TestHashingHoldsNoPlace checks that a call has no place of its own while it is hashed, and has it again after.
func TestHashingHoldsNoPlace(t *testing.T) {
	pool := fair.New[string](1, 1)
	on, leave, err := fair.Claims{pool.For("caller")}.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	free := false
	_, err = New(rand.Reader).Verify(on, Asker{}, "", "password", func() error {
		if free = pool.TryAcquire("other", 1); free {
			pool.Release("other", 1)
		}
		return nil
	})
	if err != nil || !free || pool.TryAcquire("other", 1) {
		t.Errorf("%v; while it was hashed, the place was free: %v", err, free)
	}
	leave()
}

// TestTurns checks that a caller gets one of the next turns although many other calls wait:
// for many e-mails from another address, the caller's own among them, or for another user at
// the same address.
func TestTurns(t *testing.T) {
	address := func(i int) netip.Prefix { return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}), 32) }
	for name, crowd := range map[string]func(i int) Asker{
		"other address": func(i int) Asker { return Asker{address(1), fmt.Sprint(i, "@example.com")} },
		"same e-mail": func(i int) Asker {
			return Asker{address(1), []string{"bob", "eve", fmt.Sprint(i)}[i%3] + "@example.com"}
		},
		"same address": func(int) Asker { return Asker{address(200), "ada@example.com"} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := New(rand.Reader)
				h.turns.TryAcquire(netip.Prefix{}, h.most)
				turn := errors.New("it is your turn")
				var mu sync.Mutex
				before, seen := 0, false
				var all sync.WaitGroup
				ask := func(who Asker, noticed func()) {
					all.Go(func() {
						_, err := h.Verify(t.Context(), who, "", "password", func() error {
							mu.Lock()
							defer mu.Unlock()
							noticed()
							return turn
						})
						if !errors.Is(err, turn) {
							t.Error(err)
						}
					})
					synctest.Wait()
				}
				const many = 100
				for i := range many {
					ask(crowd(i), func() {
						if !seen {
							before++
						}
					})
				}
				ask(Asker{address(200), "bob@example.com"}, func() { seen = true })
				h.turns.Release(netip.Prefix{}, 1) // so that there is one turn at a time
				all.Wait()
				if !seen || int64(before) > h.most {
					t.Errorf("%d of %d came before", before, many)
				}
				h.turns.Release(netip.Prefix{}, h.most-1)
			})
		})
	}
}
