package feedback

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const week = Time(7 * 24 * time.Hour / time.Microsecond)

// TestHeatHalves: two votes weigh as much as one a week later, and the order in which votes are given does not matter.
func TestHeatHalves(t *testing.T) {
	now := At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	if Heat(nil) != 0 {
		t.Error("there is heat without votes")
	}
	if a, b := Heat([]Time{now}), Heat([]Time{now - week, now - week}); a != b {
		t.Errorf("one vote gives %d, two that are a week older %d", a, b)
	}
	if a, b := Heat([]Time{now}), Heat([]Time{now - 1000}); a <= b {
		t.Errorf("a vote gives %d, and one that is a millisecond older %d", a, b)
	}
	votes := []Time{now, now - week/3, now - 2*week, now - week/7, now - 20*week}
	want := Heat(votes)
	slices.Reverse(votes)
	if got := Heat(votes); got != want {
		t.Errorf("in another order, the heat is %d and not %d", got, want)
	}
}

// TestHeatByAndBy: votes that are added and removed one by one give the same heat as all at once. A removed vote beside
// which the others hardly count is refused.
func TestHeatByAndBy(t *testing.T) {
	const precision = 1 << 10 // of the units of heat
	rapid.Check(t, func(t *rapid.T) {
		weeks := rapid.Float64Range(2000, 4000)
		at := func(name string) Time { return Time(weeks.Draw(t, name) * float64(week)) }
		votes := []Time{at("first")}
		heat := Heat(votes)
		for range rapid.IntRange(1, 20).Draw(t, "votes") {
			near := votes[len(votes)-1] + Time(rapid.Float64Range(-12, 12).Draw(t, "later")*float64(week))
			votes = append(votes, rapid.SampledFrom([]Time{near, near, near, at("any time")}).Draw(t, "vote"))
			heat = Warmer(heat, votes[len(votes)-1])
		}
		if want := Heat(votes); math.Abs(float64(heat-want)) > precision {
			t.Fatalf("added one by one, the heat is %d, want %d", heat, want)
		}
		slices.Sort(votes)
		heat = Heat(votes)
		i := rapid.IntRange(0, len(votes)-1).Draw(t, "removed")
		gone := votes[i]
		want := Heat(slices.Delete(slices.Clone(votes), i, i+1))
		left, ok := Cooler(heat, gone)
		share := math.Exp2(float64(want-heat) / (1 << 40))
		if ok != (share >= 1.0/(1<<16)) && math.Abs(share*(1<<16)-1) > 0.01 {
			t.Fatalf("the others have a share of %v: %t", share, ok)
		}
		if ok && math.Abs(float64(left-want)) > precision/share {
			t.Fatalf("without a vote, the heat is %d, want %d, a share of %v", left, want, share)
		}
	})
}
