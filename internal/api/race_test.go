//go:build race

package api

// raceDetector is true if the race detector slows the tests down several times.
const raceDetector = true
