//go:build !race

package api

const raceFactor = 1
