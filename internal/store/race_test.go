//go:build race

package store_test

// raceDetector says that the tests run several times slower.
const raceDetector = true
