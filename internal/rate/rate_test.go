package rate

import (
	"encoding/binary"
	"errors"
	"maps"
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"

	"gatherkit/internal/feedback"
)

func TestRate(t *testing.T) {
	r := ByAddress(3, time.Minute)
	one, other := netip.MustParsePrefix("198.51.100.1/32"), netip.MustParsePrefix("198.51.100.2/32")
	now := time.Date(2026, 1, 1, 0, 0, 30, 0, time.UTC)
	for i := range 3 {
		if err := r.Allow(one, 1, now); err != nil {
			t.Fatalf("submission %d: %v", i, err)
		}
	}
	if err := r.Allow(one, 1, now); err == nil {
		t.Fatal("the fourth was let in")
	}
	if err := r.Allow(other, 1, now); err != nil {
		t.Fatalf("another address: %v", err)
	}
	if err := r.Allow(one, 1, now.Add(31*time.Second)); err == nil {
		t.Fatal("the minute before is forgotten at its end")
	}
	if err := r.Allow(one, 1, now.Add(2*time.Minute)); err != nil {
		t.Fatalf("two minutes later: %v", err)
	}
	if err := ByAddress(0, time.Minute).Allow(one, 1, now); err != nil {
		t.Fatalf("without a limit: %v", err)
	}
	loopback := netip.MustParsePrefix("127.0.0.1/32")
	for range 10 {
		if err := r.Allow(loopback, 1, now); err != nil {
			t.Fatalf("loopback: %v", err)
		}
	}
}

// TestRetryAfter: a call is accepted after the time in Retry-After, and not much earlier.
func TestRetryAfter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		window := rapid.SampledFrom([]time.Duration{time.Minute, 24 * time.Hour}).Draw(rt, "window")
		r := ByAddress(rapid.Int64Range(1, 50).Draw(rt, "rate"), window)
		from := netip.MustParsePrefix("198.51.100.1/32")
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for range rapid.IntRange(1, 200).Draw(rt, "calls") {
			now = now.Add(window / 12_000 * time.Duration(rapid.IntRange(0, 1000).Draw(rt, "pause")))
			n := rapid.Int64Range(1, r.Most).Draw(rt, "n")
			err := r.Allow(from, n, now)
			if err == nil {
				continue
			}
			var refusal *feedback.Error
			if !errors.As(err, &refusal) || refusal.RetryAfter > 2*window {
				rt.Fatalf("%v", err)
			}
			then := ByAddress(r.Most, r.Window)
			then.number, then.current, then.previous = r.number, maps.Clone(r.current), maps.Clone(r.previous)
			if err := then.Allow(from, n, now.Add(refusal.RetryAfter+time.Millisecond)); err != nil {
				rt.Fatalf("told to wait %s, and refused after that", refusal.RetryAfter)
			}
		}
	})
}

// TestRateMemory: if there are too many addresses, new ones share the counter of their network,
// and others are not affected.
func TestRateMemory(t *testing.T) {
	r, now := ByAddress(2, time.Minute), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	address := func(network string, i int) netip.Prefix {
		a := netip.MustParseAddr(network).As16()
		binary.BigEndian.PutUint32(a[4:], uint32(i))
		return netip.PrefixFrom(netip.AddrFrom16(a), 64)
	}
	v4 := func(a string) netip.Prefix { return netip.PrefixFrom(netip.MustParseAddr(a), 32) }
	refused := 0
	for i := range 3 * MaxCounted {
		if err := r.Allow(address("2001:db8::", i), 1, now); err != nil {
			refused++
		}
	}
	const alone, networks = MaxCounted / 2, 2 // numbers of separate counters
	if want := 3*MaxCounted - alone - 2*networks; len(r.current) != alone+networks || refused != want {
		t.Errorf("%d addresses are counted and %d calls refused, want %d and %d", len(r.current), refused, alone+networks, want)
	}
	for i, c := range []struct {
		from netip.Prefix
		want bool
	}{
		{address("2001:db8::", 0), true}, // its second call, with a counter of its own
		{address("2001:db8::", 0), false},
		{address("2001:db9::", 0), true},
		{v4("198.51.100.1"), true},
		{v4("198.51.100.2"), true}, // shares the counter of the previous one
		{v4("198.51.100.3"), false},
		{v4("198.52.100.1"), true},
		{netip.Prefix{}, true},
	} {
		if err := r.Allow(c.from, 1, now); (err == nil) != c.want {
			t.Errorf("call %d from %s: %v", i, c.from, err)
		}
	}
	if err := r.Allow(address("2001:db8::", MaxCounted), 1, now.Add(2*time.Minute)); err != nil || len(r.current) != 1 {
		t.Errorf("two minutes later: %v, %d addresses", err, len(r.current))
	}
	for i := range MaxCounted {
		_ = r.Allow(address("2001:dba::", i<<16), 1, now) // each in another network
	}
	if n := len(r.current); n != MaxCounted {
		t.Errorf("%d addresses and networks are counted, want %d", n, MaxCounted)
	}
}
