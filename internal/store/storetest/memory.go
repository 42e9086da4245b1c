package storetest

import "runtime"

// Allocated returns how many bytes a call takes from the heap, whether it keeps them or not. Other goroutines can
// add to it.
func Allocated(call func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// LeastAllocated is the least of Allocated of some calls, after one that prepares what they need.
func LeastAllocated(call func()) uint64 {
	call()
	least := ^uint64(0)
	for range 5 {
		least = min(least, Allocated(call))
	}
	return least
}
