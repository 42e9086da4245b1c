//go:build race

package api

// raceFactor is how many times as long the race detector makes the tests run at most.
const raceFactor = 12
