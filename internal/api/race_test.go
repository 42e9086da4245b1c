//go:build race

package api

// raceDetector says that the tests run several times slower.
const raceDetector = true
