package feedback

import (
	"math"
	"slices"
	"time"
)

// The heat of a request orders requests by their votes, where a vote counts half as much as one that was given
// a week later. It is log2 of the sum of 2^(t/week) over the votes, t being when each was given. So the order of two
// requests changes only when somebody votes, and heat need not be computed again as time passes.
//
// Heat is stored as an integer. Its unit is about the precision of a float64 at the present time, so that votes
// can be added to it and removed from it one by one.
const heatUnit = 1.0 / (1 << 40)

// weeks is a time in weeks since 1970, or a difference of times in weeks.
func weeks(t Time) float64 { return float64(t) / float64(7*24*time.Hour/time.Microsecond) }

func heatOf(log2 float64) int64 { return int64(math.Round(log2 / heatUnit)) }

// Heat returns the heat of a request for which people voted at the given times, or 0 if nobody did.
func Heat(votes []Time) int64 {
	if len(votes) == 0 {
		return 0
	}
	// Sums of the same numbers in another order could differ.
	votes = slices.Sorted(slices.Values(votes))
	latest, sum := votes[len(votes)-1], 0.0
	for _, at := range votes {
		sum += math.Exp2(weeks(at - latest))
	}
	return heatOf(weeks(latest) + math.Log2(sum))
}

// Warmer returns a heat with one more vote, if it is not 0.
func Warmer(heat int64, at Time) int64 {
	before, vote := float64(heat)*heatUnit, weeks(at)
	return heatOf(max(before, vote) + math.Log1p(math.Exp2(-math.Abs(before-vote)))/math.Ln2)
}

// Cooler returns a heat without one of its votes. It returns false if the others are so much older or fewer that
// their share is lost in the precision of the heat.
func Cooler(heat int64, at Time) (int64, bool) {
	before := float64(heat) * heatUnit
	left := 1 - math.Exp2(weeks(at)-before)
	if left < 1.0/(1<<16) {
		return 0, false
	}
	return heatOf(before + math.Log2(left)), true
}
