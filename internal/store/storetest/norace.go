//go:build !race

package storetest

// RaceDetector says that the tests run several times slower.
const RaceDetector = false
