package index

import "gatherkit/internal/feedback"

// What the tests outside this package need from inside.

// Version is version.
const Version = version

// Pack is pack.
func Pack(terms []string) ([]byte, error) { return pack(terms) }

// HoldSearches takes all places for searches of similar requests, and returns what gives
// them back.
func (x *Index) HoldSearches(appID feedback.ID) (release func()) {
	n := int64(0)
	for x.searches.TryAcquire(appID, 1) {
		n++
	}
	return func() { x.searches.Release(appID, n) }
}

// HoldCounts takes all places for counts and searches of an account, and returns what gives them back.
func (x *Index) HoldCounts(accountID feedback.ID) (release func()) {
	n := int64(0)
	for x.counting.TryAcquire(accountID, 1) {
		n++
	}
	return func() { x.counting.Release(accountID, n) }
}

// Counting returns how many calls wait to count or search.
func (x *Index) Counting() int { return x.counting.Waiting() }
